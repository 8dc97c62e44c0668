"""Kubernetes documents of operators for Spark, which hold confs in ``sparkConf`` and ``hadoopConf``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sparkconfig._base import advice
from sparkconfig.errors import ConfigurationError

__all__ = ["applications", "conf_nodes", "confs_of", "documents", "is_yaml", "named", "pairs", "specs"]

_KINDS = ("SparkApplication", "ScheduledSparkApplication", "SparkConnect", "SparkCluster")
# The maps of confs in a specification, each with what its keys begin with for Spark.
_MAPS = (("sparkConf", ""), ("hadoopConf", "spark.hadoop."))
# A properties file could hold such lines, but not both, each by itself at the start of a line.
_YAML = tuple(re.compile(rf"^{name}\s*:\s*\S", re.MULTILINE) for name in ("apiVersion", "kind"))


def is_yaml(text: str) -> bool:
    """Whether a text is a document of Kubernetes, in YAML or JSON, and no properties file."""
    return text.lstrip().startswith("{") or all(each.search(text) for each in _YAML)


def confs_of(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the applications in a file, each with its name and confs.

    Raises:
        ConfigurationError: there is none, none has confs, they are malformed, or PyYAML is not installed.
    """
    found = named(documents(text))
    if not any(confs for _, confs in found):
        raise ConfigurationError(
            "this YAML holds no SparkApplication with confs; name a properties file, or the document with sparkConf"
        )
    return found


def named(roots: Iterable[Any]) -> list[tuple[str, dict[str, str]]]:
    """Return the applications in documents, each with a name of its own and its confs."""
    found: dict[str, dict[str, str]] = {}
    for application in applications(roots):
        metadata = pairs(application.get("metadata"))
        names = (getattr(metadata.get(each), "value", None) for each in ("name", "generateName"))
        name = next(
            (each for each in names if isinstance(each, str) and each), f"application {len(found) + 1}"
        )
        again = sum(each.partition(" (")[0] == name for each in found)
        found[f"{name} ({again + 1})" if again else name] = {
            key: node.value.strip()
            for key, node in conf_nodes(application)
            if getattr(node, "id", "") == "scalar"
        }
    return list(found.items())


def conf_nodes(application: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the confs of an application, by the names that they have for Spark."""
    for spec in specs(application):
        for name, prefix in _MAPS:
            yield from ((prefix + key, node) for key, node in pairs(spec.get(name)).items())


def documents(text: str) -> list[Any]:
    """Return the documents of a text as nodes, which know their places.

    Raises:
        ConfigurationError: they are malformed, or PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise ConfigurationError(f"reading YAML needs PyYAML: {advice.install('yaml')}") from None
    try:
        return [root for root in yaml.compose_all(text, Loader=yaml.SafeLoader) if root is not None]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" in line {mark.line + 1}"
        problem = f"this file is not YAML{where}; a template has to be rendered first"
    except RecursionError:
        problem = "this YAML is nested too deeply"
    raise ConfigurationError(problem)


def pairs(node: Any) -> dict[str, Any]:  # noqa: ANN401 - a node of PyYAML
    """Return the entries of a mapping that have texts as keys, merged ones (``<<``) too; none of anything else."""
    if getattr(node, "id", "") != "mapping":
        return {}
    found: dict[str, Any] = {}
    own = [(key, value) for key, value in node.value if getattr(key, "id", "") == "scalar"]
    for key, value in own:
        if key.tag == "tag:yaml.org,2002:merge":
            for each in value.value if value.id == "sequence" else [value]:
                found = {**pairs(each), **found}
    return {**found, **{key.value: value for key, value in own if key.tag != "tag:yaml.org,2002:merge"}}


def applications(roots: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Return the applications in documents, and in lists of documents, by the names of their fields."""
    for root in roots:
        found = pairs(root)
        if getattr(found.get("kind"), "value", "") in _KINDS:
            yield found
        items: Any = found.get("items")
        yield from applications(items.value if getattr(items, "id", "") == "sequence" else ())


def specs(application: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the specification of an application, and the one of its template if it is a scheduled one."""
    spec = pairs(application.get("spec"))
    yield spec
    yield pairs(spec.get("template"))

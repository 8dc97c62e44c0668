"""Kubernetes documents of the kind SparkApplication, which hold confs in ``sparkConf`` and ``hadoopConf``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sparkconfig._base import advice
from sparkconfig.errors import ConfigurationError

__all__ = ["MAPS", "confs_of", "documents", "is_yaml", "pairs", "specs"]

_KINDS = ("SparkApplication", "ScheduledSparkApplication")
MAPS = (("sparkConf", ""), ("hadoopConf", "spark.hadoop."))
"""The maps of confs in a specification, each with what its keys begin with for Spark."""
# A properties file could hold such lines, but not both, each by itself at the start of a line.
_YAML = tuple(re.compile(rf"^{name}\s*:\s*\S", re.MULTILINE) for name in ("apiVersion", "kind"))


def is_yaml(text: str) -> bool:
    """Whether a text is a document of Kubernetes, in YAML or JSON, and no properties file."""
    return text.lstrip().startswith("{") or all(each.search(text) for each in _YAML)


def confs_of(text: str) -> dict[str, str]:
    """Return the confs of the applications in a file, the last one winning.

    Raises:
        ConfigurationError: there is none, it is malformed, or PyYAML is not installed.
    """
    found = {
        prefix + key: node.value.strip()
        for root in documents(text)
        for spec in specs(root)
        for name, prefix in MAPS
        for key, node in pairs(spec.get(name)).items()
        if getattr(node, "id", "") == "scalar"
    }
    if not found:
        raise ConfigurationError(
            "this YAML holds no SparkApplication with confs; name a properties file, or the document with sparkConf"
        )
    return found


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


def specs(root: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Return the specifications of an application in a document, or in a list of documents."""
    found = pairs(root)
    if getattr(found.get("kind"), "value", "") in _KINDS:
        spec = pairs(found.get("spec"))
        yield spec
        yield pairs(spec.get("template"))  # of a scheduled one
    for each in getattr(found.get("items"), "value", ()):
        yield from specs(each)

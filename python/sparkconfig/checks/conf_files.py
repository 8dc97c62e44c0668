"""The confs that files give to applications: properties, fragments of Databricks, documents of Kubernetes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig import databricks
from sparkconfig.checks.exit_codes import FileError
from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import properties, reading, spark_application
from sparkconfig.formats.errors import FormatError

__all__ = ["Application", "read_applications", "read_confs"]


@dataclass(frozen=True)
class Application:
    """One application.

    Attributes:
        name: ``metadata.name`` of its document; empty if no document of Kubernetes was read.
        confs: what it starts with.
    """

    name: str = ""
    confs: dict[str, str] = field(default_factory=dict, repr=False)


def read_applications(files: Sequence[Path], extra: Sequence[str] = ()) -> list[Application]:
    """Read files of confs, the last one winning, and ``KEY=VALUE`` texts over them; values trimmed as Spark does.

    Each SparkApplication of Kubernetes is an application of its own; what other files say counts for each of them.

    Raises:
        ConfigurationError: a file cannot be read or is malformed, or a text has no ``=``.
    """
    common: dict[str, str] = {}
    found: list[Application] = []
    for path in files:
        read = _read(path)
        if isinstance(read, dict):
            for confs in (common, *(each.confs for each in found)):
                confs.update(read)
        else:
            found += [Application(name, {**common, **confs}) for name, confs in read]
    found = found or [Application(confs=common)]
    for text in extra:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError("--conf needs KEY=VALUE")
        for each in found:
            each.confs[key.strip()] = value.strip()
    return found


def read_confs(files: Sequence[Path], extra: Sequence[str] = ()) -> dict[str, str]:
    """As :func:`read_applications`, where only one application can be meant.

    Raises:
        ConfigurationError: as there, or there are several.
    """
    found = read_applications(files, extra)
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise ConfigurationError(
            f"{', '.join(map(str, files))}: {len(found)} applications ({names}); name a file with the one that is meant"
        )
    return found[0].confs


def _read(path: Path) -> dict[str, str] | list[tuple[str, dict[str, str]]]:
    try:
        raw = reading.read(path)
        if b"[driver]" in raw and databricks.is_fragment(text := raw.decode("utf-8", "replace")):
            return databricks.confs_of(text)
        text = raw.decode("utf-8", "replace")
        if path.suffix.lower() in (".yaml", ".yml") or spark_application.is_yaml(text):
            return spark_application.confs_of(text)
        return {key: value.strip() for key, value in properties.load(raw).items()}
    except (FormatError, ConfigurationError) as error:
        problem = f"{path}: {error}"
    except OSError as error:
        raise FileError(path, error) from None
    raise ConfigurationError(problem)

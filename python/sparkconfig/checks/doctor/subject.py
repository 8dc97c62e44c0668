"""What the doctor looks at: the Spark, the confs and the operator's file that an application here would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig._spark.jars import SparkInstall
from sparkconfig.settings.schema import PREFIX

__all__ = ["Subject", "conf_is_true", "conf_list"]

PLUGIN = "io.sparkconfig.ConfigPlugin"


@dataclass(frozen=True)
class Subject:
    """What an application on this machine would start with.

    Attributes:
        environ: environment variables.
        spark: the Spark, or None if none was found.
        files: properties files with the application's confs.
        confs: what they set.
        operator: the operator's file, or None.
        operator_confs: what it sets; empty without one.
    """

    environ: Mapping[str, str] = field(repr=False)
    spark: SparkInstall | None = None
    files: Sequence[Path] = ()
    confs: Mapping[str, str] = field(default_factory=dict, repr=False)
    operator: Path | None = None
    operator_confs: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def effective(self) -> dict[str, str]:
        """Confs of the application over the operator's defaults; ``spark.config.*`` from the operator alone, if any."""
        jobs = {k: v for k, v in self.confs.items() if self.operator is None or not k.startswith(PREFIX)}
        return {**self.operator_confs, **jobs}

    @property
    def plugin_named(self) -> bool:
        """Whether the confs turn sparkconfig on."""
        confs = self.effective
        return any(PLUGIN in conf_list(confs, key) for key in ("spark.plugins", "spark.plugins.defaultList"))


def conf_is_true(confs: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """Read a boolean as Spark does; what Spark would refuse counts as the default."""
    return {"true": True, "false": False}.get(confs.get(key, "").strip().lower(), default)


def conf_list(confs: Mapping[str, str], key: str) -> list[str]:
    """Read a list, separated by commas."""
    return [part.strip() for part in confs.get(key, "").split(",") if part.strip()]

"""The three ways of running the same jobs: the columns of the audit's table."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leaks.audit.canaries import IN_PLACE, LITERAL, around
from support.shim import shim_jar

_NAMES = "(?i)secret|password|token|access[.]?key|pwd|apikey"
_TEXTS = r"(?i)(?:pwd|password|secret|token|apikey)\s*[=:]\s*\S+"


@dataclass(frozen=True)
class Profile:
    """One column.

    Attributes:
        key: names its files.
        confs: what it sets beside what every column sets.
        plugin: whether sparkconfig is on, and the jobs have references.
    """

    key: str
    title: str
    plugin: bool = False
    confs: Mapping[str, str] = field(default_factory=dict)

    def shop_confs(self, values: Mapping[str, str], secrets: Path) -> dict[str, str]:
        """The confs that hold the secrets: in clear, or as references into the file ``secrets``."""
        given = {name: value for name, value in values.items() if name != LITERAL}
        if not self.plugin:
            return {f"spark.shop.{name}.pwd": around(name, value) for name, value in given.items()}
        secrets.write_text(json.dumps(given))
        references = {
            f"spark.shop.{name}.pwd": around(name, f"${{files:{secrets}:{name}}}") for name in given
        }
        return {
            **references,
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.providers.files.param.allowed.paths": str(secrets),
            "spark.config.inplace.keys": f"spark.shop.{IN_PLACE}.pwd",
            "spark.config.agent.python": sys.executable,
        }

    @property
    def jars(self) -> list[Path]:
        return [shim_jar()] if self.plugin else []


STOCK = Profile("stock", "stock Spark")
#: Spark's own means, used well: keys and texts that look like secrets. Values cannot be named there, since these
#: confs are shown themselves.
BY_KEY = Profile(
    "by-key",
    "Spark with its redaction confs",
    confs={
        "spark.redaction.regex": _NAMES,
        "spark.redaction.string.regex": _TEXTS,
        "spark.sql.redaction.string.regex": _TEXTS,
        "spark.sql.redaction.options.regex": f"{_NAMES}|url",
    },
)
OURS = Profile("sparkconfig", "sparkconfig", plugin=True)
PROFILES = (STOCK, BY_KEY, OURS)

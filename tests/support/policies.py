"""An operator's file for tests, and a log that the driver writes to a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_operator(folder: Path, rules: Mapping[str, Any], **settings: str) -> Path:
    """Write an operator's file with these rules and settings; return its folder, for ``SPARK_CONF_DIR``.

    Args:
        folder: where ``operator/`` is made, and what the provider ``files`` may read.
        rules: the document for ``Rules``, about properties and tables.
        settings: further lines of the file, or other texts for those written here.
    """
    home = folder / "operator"
    home.mkdir(mode=0o755)
    (home / "rules.json").write_text(json.dumps(rules))
    lines = {
        "spark.config.override.policy": "Rules",
        "spark.config.override.policy.param.file": "rules.json",
        "spark.config.create.table.policy": "Rules",
        "spark.config.create.table.policy.param.file": "rules.json",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.providers.files.param.allowed.paths": str(folder),
        "spark.config.audit.file": f"{folder}/audit.jsonl",
        "spark.config.audit.logger": "shop.audit",
        "spark.config.agent.python": sys.executable,
        **settings,
    }
    (home / "sparkconfig.conf").write_text("".join(f"{key}={text}\n" for key, text in lines.items()))
    return home


def log_to(home: Path, file: Path) -> None:
    """Send the log of a driver whose ``SPARK_CONF_DIR`` is ``home`` to a file, the audit's included."""
    (home / "log4j2.properties").write_text(
        "rootLogger.level=warn\nrootLogger.appenderRef.file.ref=file\n"
        "appender.file.type=File\nappender.file.name=file\nappender.file.layout.type=PatternLayout\n"
        f"appender.file.layout.pattern=%c %m%n\nappender.file.fileName={file}\n"
        "logger.audit.name=shop.audit\nlogger.audit.level=info\n"
    )


def records(folder: Path, event: str = "policy") -> list[dict[str, Any]]:
    """The audit of an application with the operator's file of :func:`write_operator`: records of one kind.

    Args:
        folder: what :func:`write_operator` was given.
        event: ``policy``, ``rotation`` or ``provider``.
    """
    return of_event((folder / "audit.jsonl").read_text().splitlines(), event)


def of_event(lines: Iterable[str], event: str) -> list[dict[str, Any]]:
    """The audit's records of one kind in these lines."""
    return [record for line in lines if (record := json.loads(line))["event"] == f"sparkconfig.{event}"]

"""Logs at DEBUG: Py4J writes each command there, and with it the token of the driver's gateway."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sparkconfig._base.text import shorten
from sparkconfig.checks.doctor.finding import Finding, warning
from sparkconfig.checks.doctor.subject import Subject
from sparkconfig.formats import properties

__all__ = ["log_levels"]

_LOW = frozenset({"debug", "trace", "all"})
_FILE = re.compile(r"-Dlog4j2?\.configurationFile=(?:\"([^\"]+)\"|'([^']+)'|(\S+))")
_LEVEL = r"[\"']?level[\"']?\s*[=:]\s*[\"']?(\w+)"
# XML, YAML and JSON.
_ROOT = re.compile(
    rf"<(?:Async)?Root\b[^>]*\b{_LEVEL}|\b(?:Async)?Root\"?\s*:\s*\{{?\s*(?:#.*)?\s*{_LEVEL}", re.IGNORECASE
)
_OF_PY4J = r"[\"']?\bname[\"']?\s*[=:]\s*[\"']?py4j\b"
_PY4J = re.compile(
    rf"<(?:Async)?Logger\b(?=[^>]*{_OF_PY4J})[^>]*\b{_LEVEL}"
    rf"|{_OF_PY4J}[\w.]*[\"']?,?\s+{_LEVEL}|{_LEVEL}[\"']?,?\s+{_OF_PY4J}",
    re.IGNORECASE,
)
_SEEN = "this log may hold the token of the driver's gateway, and with it everything that the driver can read"
_TODO = "keep Py4J above DEBUG, as with logger.py4j.name=py4j and logger.py4j.level=info; docs/redaction.md"


def log_levels(subject: Subject) -> Iterator[Finding]:
    """Name what sets a level at which Py4J tells all."""
    confs = subject.effective
    level = confs.get("spark.log.level", "").strip()
    if level.lower() in _LOW:
        yield warning("log level", f"spark.log.level={shorten(level)}: {_SEEN}", _TODO)
    for path in _files(subject):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # log4j2 says what is wrong with it
        if level_of_py4j(text).lower() in _LOW:
            yield warning("log level", f"{path}: Py4J logs at {level_of_py4j(text)}; {_SEEN}", _TODO)


def level_of_py4j(text: str) -> str:
    """The level that a configuration of log4j2 gives to Py4J's loggers; empty: it gives none."""
    if text.lstrip().startswith(("<", "{")) or _ROOT.search(text):
        found = _PY4J.search(text) or _ROOT.search(text)
        return "" if found is None else next(filter(None, found.groups()), "")
    try:
        set_ = {key.strip().lower(): value.strip() for key, value in properties.load(text.encode()).items()}
    except ValueError:
        return ""
    named = {
        key.removesuffix(".name"): value for key, value in set_.items() if re.fullmatch(r"py4j(\..*)?", value)
    }
    own = [set_.get(f"{key}.level") or set_.get(key, "") for key in named]
    root = set_.get("rootlogger.level") or set_.get("rootlogger", "")
    levels = [each.partition(",")[0].strip() for each in own if each] or [root.partition(",")[0].strip()]
    return next((each for each in levels if each.lower() in _LOW), levels[0])


def _files(subject: Subject) -> Iterator[Path]:
    environ = subject.environ
    options = [subject.effective.get(f"spark.driver.{each}JavaOptions", "") for each in ("default", "extra")]
    options += [environ.get(each, "") for each in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS")]
    named = ["".join(groups) for text in options for groups in _FILE.findall(text)]
    if named:
        yield from (Path(each.removeprefix("file:").replace("///", "/")) for each in named)
        return
    folder = environ.get("SPARK_CONF_DIR") or (subject.spark and str(subject.spark.home / "conf"))
    if folder:
        yield from (
            path for path in sorted(Path(folder).glob("log4j2*")) if not path.name.endswith(".template")
        )

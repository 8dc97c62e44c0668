"""Records of decisions, without values: JSON lines to a file, a logger, or back to the caller."""

from __future__ import annotations

import datetime as dt
import errno
import json
import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError, PolicyViolationError
from sparkconfig.policy.destinations.formats import shown_place
from sparkconfig.settings.schema import PREFIX

if TYPE_CHECKING:
    from sparkconfig.policy.evaluation import Decision
    from sparkconfig.policy.request import OverrideRequest

__all__ = ["Audit", "Record", "now", "records"]

Record = dict[str, Any]
_ROOT = f"{PREFIX}audit."
_NAMES = ("file", "logger", "required")
_log = logging.getLogger(__name__)


class Audit:
    """Where decisions are recorded.

    Each record is one JSON object on one line, written with one ``write`` in append mode, so that several
    applications can share a file. A file that was renamed or removed (log rotation) is opened again. If a disk is full
    in the middle of a line, that line stays broken, and the next record begins a new one.

    Args:
        file: the file, or None; made with mode 0600.
        logger: name of the log4j logger that the driver writes records to, or None. In Python alone the
            logger of that name gets them.
        required: whether what cannot be recorded is refused. It takes a file: nobody tells whether a logger wrote.

    Attributes:
        failures: how many times the file could not be written.

    Raises:
        ConfigurationError: the file cannot be written, or is missing.
    """

    def __init__(
        self, file: Path | None = None, logger: str | None = None, *, required: bool = False
    ) -> None:
        if required and file is None:
            raise ConfigurationError(f"{_ROOT}required: takes a file; set {_ROOT}file")
        self.logger = logger
        self.failures = 0
        self._required = required
        self._path = file
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._failed = False
        self._cut = False
        if file is not None:
            try:
                self._descriptor = _open(file)
            except OSError as error:
                problem = f"{_ROOT}file: {file} cannot be written: {error.strerror or type(error).__name__}"
            else:
                return
            raise ConfigurationError(problem)

    @classmethod
    def from_confs(cls, confs: Mapping[str, str]) -> Audit:
        """Read ``spark.config.audit.file``, ``.logger`` and ``.required``.

        Raises:
            ConfigurationError: another name or value, or the file cannot be written.
        """
        given = {key[len(_ROOT) :]: text.strip() for key, text in confs.items() if key.startswith(_ROOT)}
        unknown = sorted(set(given) - set(_NAMES))
        if unknown:
            raise ConfigurationError(
                f"{_ROOT}{shorten(unknown[0])}: no such setting; use {_ROOT}file, {_ROOT}logger or"
                f" {_ROOT}required"
            )
        required = given.get("required", "false").lower()
        if required not in ("true", "false"):
            raise ConfigurationError(f"{_ROOT}required: must be true or false")
        file = given.get("file")
        return cls(Path(file) if file else None, given.get("logger") or None, required=required == "true")

    @property
    def enabled(self) -> bool:
        """Whether anybody wants records."""
        return self._path is not None or self.logger is not None

    def write(self, records: Sequence[Record]) -> None:
        """Record decisions; a failing disk is reported once.

        Raises:
            PolicyViolationError: the records are required, and the file cannot be written.
        """
        if not records:
            return
        lines = [json.dumps(record, ensure_ascii=True) for record in records]
        if self.logger is not None:
            target = logging.getLogger(self.logger)
            for line in lines:
                target.info("%s", line)
        if self._path is not None:
            self._append(self._path, "".join(f"{line}\n" for line in lines).encode())

    def _append(self, path: Path, content: bytes) -> None:
        problem = None
        with self._lock:
            try:
                if self._descriptor is None or _moved(path, self._descriptor):
                    self._shut()
                    self._descriptor = _open(path)
                    self._cut = False
                # After half a line an end of its own: nothing is joined to it.
                whole = b"\n" + content if self._cut else content
                self._cut = os.write(self._descriptor, whole) < len(whole)
                if self._cut:
                    problem = os.strerror(errno.ENOSPC)
            except OSError as error:
                problem = error.strerror
            is_new = problem is not None and not self._failed
            self._failed = problem is not None
            self.failures += self._failed
        if is_new:
            _log.error("the audit file %s cannot be written: %s", path, problem)
        if problem is not None and self._required:
            raise PolicyViolationError(
                f"this cannot be recorded, and {_ROOT}required refuses what is not recorded; the operator must see"
                f" that {path} can be written: {problem}"
            )

    def _shut(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._shut()


def now() -> str:
    """The time of a record: UTC, milliseconds."""
    return dt.datetime.now(dt.timezone.utc).isoformat(timespec="milliseconds")


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _moved(path: Path, descriptor: int) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return True
    here = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)


def records(
    decision: Decision, request: OverrideRequest, job_type: str, *, enforced: bool
) -> Iterable[Record]:
    """The audit records of a decision: overrides, references and tables; nothing about free properties."""
    common = {
        "time": now(),
        "event": "sparkconfig.policy",
        "job_name": shorten(request.job_name),
        "job_type": job_type,
        "application": shorten(request.application),
        "scope": request.scope,
        **{name: shorten(text) for name in ("user", "session") if (text := getattr(request, name))},
    }
    for item in decision.explanation:
        if item.verdict in ("allowed", "denied"):
            verdict = "warned" if item.verdict == "denied" and not enforced else item.verdict
            record = {**common, "subject": shorten(item.subject), "decision": verdict}
            if item.canonical and item.canonical != item.subject:
                record["canonical"] = shorten(item.canonical)
            if item.kind:
                record["statement"] = item.kind
            elif request.formats:
                record["source"] = shorten(request.formats[-1])
                if place := shown_place(request.formats, request.texts, item.canonical):
                    record["destination"] = shorten(place)
            yield {**record, "reason": item.reason, "rule": item.decided_by}

"""What the audit is told of rotations: generations, the references that changed, providers that come and go."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from sparkconfig._base.text import shorten
from sparkconfig.agent.generations import Changes
from sparkconfig.errors import PolicyViolationError
from sparkconfig.policy.audit import Audit, Record, now
from sparkconfig.resolution.cache_entry import PathState

__all__ = ["RotationRecords"]

_MOST = 200
_PENDING = 1000


class RotationRecords:
    """Writes a record for each new generation, and for each path of a provider that fails or answers again.

    Args:
        audit: where records go.
        application: what every record says of the application.
        states: the providers' paths, by provider name.
    """

    def __init__(
        self,
        audit: Audit,
        application: Mapping[str, str],
        states: Callable[[], Mapping[str, Iterable[PathState]]],
    ) -> None:
        self._audit = audit
        self._application = dict(application)
        self._states = states
        self._down: dict[tuple[str, str], str] = {}
        self._pending: deque[str] = deque(maxlen=_PENDING)

    def set_application_id(self, application_id: str) -> None:
        """The application has its id."""
        self._application["application_id"] = application_id

    def on_round(self, before: int, after: int, found: Changes | None) -> None:
        """Record what one round brought, one at a time.

        Args:
            before: the generation before it.
            after: the newest one.
            found: what that one changed; None: it is the same.
        """
        records = list(self._providers())
        if found is not None:
            head = {"generation": after, "previous": before}
            records.append({**self._head("sparkconfig.rotation"), **head, **found.names(_MOST)})
        # What has happened is not refused; the audit counts and logs that it is missing.
        with contextlib.suppress(PolicyViolationError):
            self._audit.write(records)
        if self._audit.logger is not None:
            self._pending.extend(json.dumps(record) for record in records)

    def drain(self) -> list[str]:
        """The records that the driver has to write to its log4j logger; each is given once."""
        taken: list[str] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._pending.popleft())
        return taken

    def _providers(self) -> Iterable[Record]:
        """One record for each change of a path's state."""
        down = {
            (name, state.path): state.error or ""
            for name, states in self._states().items()
            for state in states
            if state.failures
        }
        for (name, path), error in down.items():
            if (name, path) not in self._down:
                yield {**self._path(name, path), "state": "down", "error": shorten(error, 300)}
        for name, path in self._down.keys() - down.keys():
            yield {**self._path(name, path), "state": "up"}
        self._down = down

    def _path(self, name: str, path: str) -> Record:
        return {**self._head("sparkconfig.provider"), "provider": name, "path": shorten(path)}

    def _head(self, event: str) -> Record:
        return {"time": now(), "event": event, **self._application}

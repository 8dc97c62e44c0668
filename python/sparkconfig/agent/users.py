"""Who uses which expression: the places in an application that asked for its value."""

from __future__ import annotations

import threading
from collections.abc import Iterable

__all__ = ["Users"]

_MOST_EXPRESSIONS = 2000
_MOST_USERS = 8
_PLACES = {"application": "the driver's code", "worker": "a Python worker"}
_OTHER = "a data source, catalog or connection"


class Users:
    """The last askers of each expression. Thread-safe; names only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_id: dict[str, dict[str, None]] = {}

    def asked(self, ids: Iterable[str], scope: str | None) -> None:
        """Remember who asked.

        Args:
            ids: the expressions' ids.
            scope: ``application``, ``worker``, or None for a point of use such as a connection.
        """
        place = _PLACES.get(scope or "", _OTHER)
        with self._lock:
            for id_ in ids:
                places = self._by_id.pop(id_, {})
                if len(places) < _MOST_USERS:
                    places[place] = None
                self._by_id[id_] = places
            while len(self._by_id) > _MOST_EXPRESSIONS:
                del self._by_id[next(iter(self._by_id))]

    def of(self, id_: str) -> list[str]:
        """Return the places that asked for an expression, the first one first."""
        with self._lock:
            return list(self._by_id.get(id_, ()))

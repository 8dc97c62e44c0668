"""A warning for values that redaction leaves alone: masking them everywhere would destroy pages and logs."""

from __future__ import annotations

import logging

from sparkconfig.references import shorten
from sparkconfig.snapshot import Snapshot

__all__ = ["UnmaskedValues"]

_log = logging.getLogger(__name__)


class UnmaskedValues:
    """Warns once for each reference whose value is too short, or too common a word, to be masked."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def look(self, snapshot: Snapshot) -> None:
        """Warn of the references in a snapshot that were not seen before; names, never values."""
        from sparkconfig.redaction import worth_registering

        for id_, entry in snapshot.entries.items():
            if id_ not in self._warned and not all(map(worth_registering, entry.secrets)):
                self._warned.add(id_)
                # What follows the zero byte are the raw texts of sibling keys.
                _log.warning(
                    "a value in %s is short or a common word: it is not masked in pages and logs;"
                    " use a longer secret",
                    shorten(id_.split("\0", 1)[0]),
                )

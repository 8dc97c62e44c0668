"""Warnings for values that redaction leaves alone, and for those that look as if it should."""

from __future__ import annotations

import logging
import re

from sparkconfig.references import shorten
from sparkconfig.snapshot import Snapshot

__all__ = ["UnmaskedValues"]

_log = logging.getLogger(__name__)
#: `inventory`, `us-east-1`, `etl_service`: passwords have more than letters of one case.
_ORDINARY = re.compile(r"[A-Z]?[a-z]{3,}(?:[-_. ][a-z]+)*(?:-\d)?|[a-z]{2}(?:-[a-z]+)+-\d")


class UnmaskedValues:
    """Warns once for each reference whose value is too short to be masked, or an ordinary word that is masked."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def look(self, snapshot: Snapshot) -> None:
        """Warn of the references in a snapshot that were not seen before; names, never values."""
        from sparkconfig.redaction import worth_registering

        for id_, entry in snapshot.entries.items():
            if id_ not in self._warned and any(map(_ORDINARY.fullmatch, entry.secrets)):
                self._warned.add(id_)
                _log.warning(
                    "a value in %s looks like an ordinary word, and is masked in free text wherever that word stands;"
                    " if it is no secret, name the reference in spark.config.redaction.plain",
                    shorten(id_.split("\0", 1)[0]),
                )
            if id_ not in self._warned and not all(map(worth_registering, entry.secrets)):
                self._warned.add(id_)
                # What follows the zero byte are the raw texts of sibling keys.
                _log.warning(
                    "a value in %s is short or a common word: it is not masked in pages and logs;"
                    " use a longer secret",
                    shorten(id_.split("\0", 1)[0]),
                )

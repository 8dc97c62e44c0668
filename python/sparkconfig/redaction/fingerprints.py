"""Which texts may hold a value of the driver's JVM: known here are fingerprints of the values, never the values.

A fingerprint is a few bits of a salted hash of one piece of a value's writing. A text in which none is found is shown
without a question; of any other the JVM says where its values stand. The same rules as ``Fingerprints.scala``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable

from sparkconfig.redaction.views import views

__all__ = ["Elsewhere", "Places"]

#: Asks where values stand in a text, fragments too unless it is a record without an error; if it goes on, also how many
#: of the last characters could begin one. None: nobody can be asked.
Places = Callable[[str, bool, bool], tuple[list[tuple[int, int]], int] | None]

_BITS = {8: 24, 4: 12, 2: 6}
_RUNS = re.compile(r"[A-Za-z0-9]{2,}")
# A longer run is asked about: to look at each of its windows takes as long.
_LONGEST_RUN = 512
# Of longer texts the JVM is asked at once: to search them there takes less time than to look at each window here.
_LOOKED_AT = 1 << 16
_CLEAN_LIMIT = 16384
_TOKEN = re.compile(r"\S*\Z")
_LINES = re.compile(r"[^\r\n]+")


class Elsewhere:
    """The values of one JVM, by their fingerprints.

    Args:
        places: asks that JVM.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._salt = b""
        self._prints: dict[int, set[int]] = {}
        self._any = False
        self._count = 0
        # Runs of letters and digits without a fingerprint: most texts repeat the same words.
        self._clean: set[str] = set()

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"Elsewhere({self._count} fingerprints)"

    def add(self, salt: str, prints: Iterable[int]) -> None:
        """Learn fingerprints of this JVM."""
        fresh = list(prints)
        if not fresh:
            return
        # Other threads may be looking at the old ones.
        known = {window: set(numbers) for window, numbers in self._prints.items()}
        for each in fresh:
            known.setdefault(each >> 32, set()).add(each & 0xFFFFFFFF)
        self._salt = salt.encode()
        self._any = known.pop(0, None) is not None or self._any
        self._prints = known
        self._count += len(fresh)
        self._clean = set()

    def find(self, text: str, *, record: bool = False) -> list[tuple[int, int]]:
        """Return where the JVM's values stand, from start to end, in order.

        If the JVM cannot be asked, each line that may hold a value counts as one as a whole.

        Args:
            text: what is about to be shown.
            record: fragments of values are needed only if the text may be an error.
        """
        if not self._count or (len(text) <= _LOOKED_AT and not self._may_hold(text)):
            return []
        answer = self._places(text, record, False)
        return self._lines(text) if answer is None else answer[0]

    def search(self, text: str) -> tuple[list[tuple[int, int]], int]:
        """Search a text that goes on.

        Returns:
            What :meth:`find` does, and how many of the last characters could be the beginning of a value.
        """
        if not self._count:
            return [], 0
        answer = self._places(text, False, True)
        if answer is not None:
            return answer
        # Nobody knows which beginnings there are: what is not finished waits.
        token = _TOKEN.search(text)
        return self._lines(text), len(text) - token.start() if token else 0

    def _lines(self, text: str) -> list[tuple[int, int]]:
        return [line.span() for line in _LINES.finditer(text) if self._may_hold(line[0])]

    def _may_hold(self, text: str) -> bool:
        if not self._count:
            return False
        # Values without two letters or digits in a row; beginnings of values, as tables show them.
        if self._any or "..." in text or "\u2026" in text:
            return True
        return self._in_runs(text) or any(self._in_runs(view) for view, _ in views(text))

    def _in_runs(self, text: str) -> bool:
        clean = self._clean
        for run in _RUNS.findall(text):
            if run not in clean:
                if len(run) > _LONGEST_RUN or self._in_run(run):
                    return True
                if len(clean) >= _CLEAN_LIMIT:
                    clean.clear()
                clean.add(run)
        return False

    def _in_run(self, run: str) -> bool:
        for window, prints in self._prints.items():
            shift = 32 - _BITS[window]
            for at in range(len(run) - window + 1):
                digest = hashlib.sha256(self._salt + run[at : at + window].encode()).digest()
                if int.from_bytes(digest[:4], "big") >> shift in prints:
                    return True
        return False

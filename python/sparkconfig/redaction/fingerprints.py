"""Which texts may hold a value of the driver's JVM: known here are fingerprints of the values, never the values.

A fingerprint is a few bits of a salted hash of one piece of a value's writing. A text in which none is found is shown
without a question; of any other the JVM says where its values stand. The same rules as ``Fingerprints.scala``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable

from sparkconfig.redaction.masking import MASK
from sparkconfig.redaction.views import views

__all__ = ["Elsewhere", "Places"]

#: Asks where values stand in a text, fragments too unless it is a record without an error; if it goes on, also how many
#: of the last characters could begin one. None: nobody can be asked.
Places = Callable[[str, bool, bool], tuple[list[tuple[int, int]], int] | None]

_BITS = {8: 24, 4: 12, 2: 6}
_RUNS = re.compile(r"[A-Za-z0-9]{2,}")
# A longer run is asked about: to look at each of its windows takes as long.
_LONGEST_RUN = 512
_CLEAN_LIMIT = 16384
_TOKEN = re.compile(r"\S*\Z")


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
        self._salt = salt.encode()
        for each in prints:
            window, number = each >> 32, each & 0xFFFFFFFF
            self._any |= window == 0
            self._prints.setdefault(window, set()).add(number)
            self._count += 1
        self._clean = set()

    def redact(self, text: str, *, record: bool = False) -> str:
        """Mask the JVM's values; the same object if there are none.

        If the JVM cannot be asked, each line that may hold a value is masked as a whole.

        Args:
            text: what is about to be shown.
            record: fragments of values need not be looked for.
        """
        if not self._may_hold(text):
            return text
        answer = self._places(text, record, False)
        if answer is None:
            lines = text.split("\n")
            return "\n".join(MASK if self._may_hold(line) else line for line in lines)
        found, _ = answer
        return _masked(text, found) if found else text

    def cut(self, text: str) -> int:
        """Return how many characters of a text that goes on can be shown: a value may begin in the others, or go on."""
        if not self._count:
            return len(text)
        answer = self._places(text, False, True)
        if answer is None:
            # A value may be cut in two only within what is not finished.
            token = _TOKEN.search(text)
            return token.start() if token else len(text)
        found, beginning = answer
        cut = len(text) - beginning
        return min([cut, *(start for start, end in found if start < cut < end)])

    def _may_hold(self, text: str) -> bool:
        if not self._count or not text:
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


def _masked(text: str, found: list[tuple[int, int]]) -> str:
    out = []
    at = 0
    for start, end in found:
        out += [text[at:start], MASK]
        at = end
    return "".join([*out, text[at:]])

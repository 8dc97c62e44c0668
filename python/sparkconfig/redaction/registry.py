"""The values that nothing may show, and the masking of texts by them.

One :class:`Registry` holds the value of every reference that was resolved, with its generation. Texts that a job
composes around references are not registered: their secret parts are. A value is found in any form of a text
(:mod:`.canonical`), by its needles (:mod:`.forms`). The JVM's mirror is ``io.sparkconfig.redaction.engine.Redactor``;
the same rules, the same mask.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sparkconfig.redaction.data import FORGET, LONGEST_TAIL
from sparkconfig.redaction.forms import needles, texts, worth_registering
from sparkconfig.redaction.masking import MASK, WITHHELD, replace
from sparkconfig.redaction.search import Search
from sparkconfig.redaction.tail import tail

__all__ = ["MASK", "REGISTRY", "WITHHELD", "Registry", "Unfinished", "redact", "register"]

# What waits is searched with each piece while it is shorter, and later when it has grown by this share.
_LONG_WAITING, _GROWTH = 1024, 8


class Registry:
    """A set of values; thread-safe. Needles are made when a text is searched: adding a value waits for none.

    Args:
        clock: seconds that only grow.

    Attributes:
        faults: how many texts were withheld because the search itself failed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.unlock()
        self._clock = clock
        self._values: set[str] = set()
        # Values with a generation, the longest unseen first: when and in which generation each was answered last.
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()
        # How many are searched for and no longer known.
        self._forgotten = 0
        self._search = Search()
        self.faults = 0

    def unlock(self) -> None:
        """Begin, or go on in a forked process: the threads that held a lock are not in it."""
        # Whoever holds it calls nothing outside of this package; a finalizer may take it again in the same thread.
        self._lock = threading.RLock()
        self._making = threading.RLock()
        self._maker = 0

    def register(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add the values that are worth registering; a known one keeps its first generation."""
        self.declare([value for value in values if worth_registering(value)], generation=generation)

    def declare(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add values whatever they look like, as the operator asked; an empty one cannot be masked.

        Args:
            values: what is masked from now on.
            generation: of the answer that holds them all. A value that was in none of the last 1,000 generations, nor
                of the last 24 hours, is forgotten. 0: they are kept for ever.
        """
        with self._lock:
            now = self._clock()
            for value in dict.fromkeys(values):
                if not value:
                    continue
                if value not in self._values:
                    self._search.pending[value] = None
                    # Whoever sees that a value is known counts on its being searched for.
                    self._values.add(value)
                    if generation:
                        self._seen[value] = now, generation
                elif value in self._seen:
                    del self._seen[value]
                    if generation:
                        self._seen[value] = now, generation
            if generation:
                self._forget(now - FORGET["seconds"], generation - FORGET["generations"])

    def forget(self, values: Iterable[str]) -> None:
        """Mask these no longer, unless they were added without a generation."""
        with self._lock:
            for value in values:
                if self._seen.pop(value, None):
                    self._values.remove(value)
                    self._search.pending.pop(value, None)
                    self._forgotten += 1
            # So each that is forgotten pays for one that stays.
            if self._forgotten > len(self._values):
                self._search = Search(self._values)
                self._forgotten = 0

    def _forget(self, moment: float, generation: int) -> None:
        while self._seen:
            value, (seen, last) = next(iter(self._seen.items()))
            if seen >= moment or last >= generation:
                break
            self.forget([value])

    def __len__(self) -> int:
        return len(self._values)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where values occur, from start to end, in order."""
        return self._whole().find(text) if text and self._values else []

    def _whole(self) -> Search:
        """The search, with all values. A finalizer that shows a text while its own thread makes needles has none."""
        if self._maker == threading.get_ident():
            raise RuntimeError("needles are being made")
        search = self._search
        if search.pending or self._maker:
            with self._making:
                self._maker = threading.get_ident()
                try:
                    # What another thread adds meanwhile is the next search's: this one has an end.
                    for _ in range(len(search.pending)):
                        self._make(search)
                finally:
                    self._maker = 0
        return search

    def _make(self, search: Search) -> None:
        with self._lock:
            value = next(iter(search.pending), None)
        if value is not None:
            # A full memory, an interrupt: it stays pending, and nothing is shown before the next search has made it.
            for text in texts(value):
                for needle in needles(text):
                    search.add(needle)
            with self._lock:
                search.pending.pop(value, None)

    def redact(self, text: str) -> str:
        """Mask every occurrence of every value.

        Returns:
            The same object if none occurs; WITHHELD if the search failed, never the unsearched text.
        """
        try:
            found = self.spans(text)
            return replace(text, found) if found else text
        except Exception:  # noqa: BLE001 - whatever went wrong, the original must not pass
            self.faults += 1
            return WITHHELD

    def split(self, text: str) -> tuple[str, str]:
        """Mask a text that goes on: return what can be shown, and its end that could be the beginning of a value.

        The end is to be put before what comes next.
        """
        if not self._values or not text:
            return text, ""
        try:
            search = self._whole()
            cut = len(text) - tail(search, text)
            found = search.find(text)
            # What is found may be the beginning of a longer value.
            cut = min([cut, *(start for start, end in found if start < cut < end)])
            if not cut and len(text) > LONGEST_TAIL:  # one value after the other, without a gap
                cut = len(text)
            return replace(text[:cut], [span for span in found if span[1] <= cut]), text[cut:]
        except Exception:  # noqa: BLE001 - as in redact()
            self.faults += 1
            return WITHHELD, ""


class Unfinished(NamedTuple):
    """The end of a text that comes in pieces: it could be the beginning of a value, and waits for the next piece.

    Attributes:
        held: what waits.
        enough: a long beginning that comes letter by letter is searched again once it has this length.
    """

    held: str = ""
    enough: int = 0

    def then(self, registry: Registry, text: str, *, last: bool) -> tuple[str, Unfinished]:
        """Return what can be shown of ``text``, which begins with what waits, and what waits from then on."""
        if last:
            return registry.redact(text), Unfinished()
        if len(text) < self.enough and "\n" not in text[len(self.held) :]:
            return "", Unfinished(text, self.enough)
        shown, held = registry.split(text)
        length = len(held)
        return shown, Unfinished(held, length + length // _GROWTH if length > _LONG_WAITING else 0)


#: The registry of this process.
REGISTRY = Registry()
register, redact = REGISTRY.register, REGISTRY.redact

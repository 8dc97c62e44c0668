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

from sparkconfig.redaction.data import FORGET
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
        # Whoever holds it calls nothing outside of this package; a finalizer may take it again in the same thread.
        self._lock = threading.RLock()
        self._clock = clock
        self._values: set[str] = set()
        # Values with a generation, the longest unseen first: when and in which generation each was answered last.
        self._seen: OrderedDict[str, tuple[float, int]] = OrderedDict()
        # To be added to the search (True) or removed: who shows a text makes the needles, and no use waits for them.
        self._pending: dict[str, bool] = {}
        self._making = threading.RLock()
        self._maker = 0
        self._search = Search()
        self.faults = 0

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
                    self._put(value, add=True)
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
                    self._put(value, add=False)

    def _put(self, value: str, *, add: bool) -> None:
        if self._pending.pop(value, add) is add:  # else the one undoes the other
            self._pending[value] = add

    def _forget(self, moment: float, generation: int) -> None:
        while self._seen:
            value, (seen, last) = next(iter(self._seen.items()))
            if seen >= moment or last >= generation:
                break
            self.forget([value])

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Registry({len(self._values)} values)"

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where values occur, from start to end, in order."""
        return self._whole().find(text) if text and self._values else []

    def _whole(self) -> Search:
        """The search, with all values. A finalizer that shows a text while its own thread makes needles has none."""
        if self._maker == threading.get_ident():
            raise RuntimeError("needles are being made")
        if self._pending or self._maker:
            with self._making:
                self._maker = threading.get_ident()
                try:
                    # What another thread adds meanwhile is the next search's: this one has an end.
                    for _ in range(len(self._pending)):
                        if next_ := self._next():
                            self._make(*next_)
                finally:
                    self._maker = 0
        return self._search

    def _next(self) -> tuple[str, bool] | None:
        with self._lock:
            value = next(iter(self._pending), None)
            return None if value is None else (value, self._pending.pop(value))

    def _make(self, value: str, add: bool) -> None:  # noqa: FBT001 - as it is pending
        take = self._search.add if add else self._search.remove
        try:
            for text in texts(value):
                for needle in needles(text):
                    take(needle)
        except BaseException:
            # A full memory, an interrupt: the next search tries again, and shows nothing before that.
            with self._lock:
                self._pending.setdefault(value, add)
            raise

    def redact(self, text: str) -> str:
        """Mask every occurrence of every value.

        Returns:
            The same object if none occurs; WITHHELD if the search failed, never the unsearched text.
        """
        if not text:
            return text
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
            return replace(text[:cut], [span for span in found if span[1] <= cut]), text[cut:]
        except Exception:  # noqa: BLE001 - as in redact()
            self.faults += 1
            return WITHHELD, ""


class Unfinished:
    """A text that comes in pieces: the end that could be the beginning of a value waits for the next one.

    Args:
        registry: what is masked.

    Attributes:
        held: what waits.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._enough = 0
        self.held = ""

    def add(self, piece: str) -> str:
        """Return what can be shown of all that has come."""
        self.held += piece
        # A long beginning that comes letter by letter is not searched with each of them.
        if len(self.held) < self._enough and "\n" not in piece:
            return ""
        shown, self.held = self._registry.split(self.held)
        length = len(self.held)
        self._enough = length + length // _GROWTH if length > _LONG_WAITING else 0
        return shown

    def end(self, piece: str = "") -> str:
        """Return the rest: ``piece`` is the last one, or the end of a line."""
        text, self.held, self._enough = self.held + piece, "", 0
        return self._registry.redact(text)


#: The registry of this process.
REGISTRY = Registry()


def register(values: Iterable[str], *, generation: int = 0) -> None:
    """:meth:`Registry.register` on this process's registry."""
    REGISTRY.register(values, generation=generation)


def redact(text: str) -> str:
    """:meth:`Registry.redact` on this process's registry."""
    return REGISTRY.redact(text)

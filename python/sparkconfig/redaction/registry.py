"""The values that nothing may show, and the masking of texts by them.

One :class:`Registry` holds the value of every reference that was resolved, with its generation; values of old
generations stay masked. Texts that a job composes around references are not registered: their secret parts are.
A value is found raw, each of its lines, under stacks of escapes (JSON, JavaScript, SQL, XML, HTML, Java properties,
URL), in base64 at every offset, base64url and hex. The JVM's mirror is
``io.sparkconfig.redaction.engine.Redactor``; the same rules, the same mask.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable

from sparkconfig.redaction.data import ERROR_SIGNS
from sparkconfig.redaction.fingerprints import Elsewhere
from sparkconfig.redaction.index import Index
from sparkconfig.redaction.masking import MASK, WITHHELD, joined, replace
from sparkconfig.redaction.patterns import patterns, texts, worth_registering

__all__ = ["MASK", "REGISTRY", "WITHHELD", "Registry", "Unfinished", "redact", "register"]

# Letters, digits and signs of encodings, and those of escapes of the signs.
_OF_ENCODING = re.compile(r"[A-Za-z0-9+/=_\\%&#;-]*")


class Registry:
    """A set of values; thread-safe; values are added, never removed.

    Attributes:
        faults: how many texts were withheld because the search itself failed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generations: dict[str, int] = {}
        self._texts: set[str] = set()
        self._index = Index({}, {}, [])
        self._fragments = Index({}, {}, [])
        self._pending: list[str] = []
        self._elsewhere: tuple[Elsewhere, ...] = ()
        self.faults = 0

    def register(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add the values that are worth registering; a known one keeps its first generation."""
        self.declare([value for value in values if worth_registering(value)], generation=generation)

    def register_new(self, values: Iterable[str]) -> None:
        """:meth:`register`, cheap for values that are known."""
        fresh = [value for value in values if value not in self._generations]
        if fresh:
            self.register(fresh)

    def declare(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add values whatever they look like, as the operator asked; an empty one cannot be masked."""
        with self._lock:
            fresh = [value for value in dict.fromkeys(values) if value and value not in self._generations]
            if fresh:
                # In this order: whoever sees that a value is known counts on its being searched for.
                self._pending += fresh
                self._generations.update(dict.fromkeys(fresh, generation))

    def mask_too(self, elsewhere: Elsewhere) -> None:
        """Mask the values of a JVM too, of which this process holds fingerprints alone."""
        with self._lock:
            self._elsewhere += (elsewhere,)

    def __len__(self) -> int:
        return len(self._generations) + sum(map(len, self._elsewhere))

    def __repr__(self) -> str:
        return f"Registry({len(self._generations)} values)"

    def generation(self, value: str) -> int | None:
        """The generation in which ``value`` was first registered, or None."""
        return self._generations.get(value)

    def contains(self, text: str) -> bool:
        """Whether a value occurs; a text that cannot be searched counts as one that holds a value."""
        return self.redact(text) is not text

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where values occur, from start to end, in order.

        Raises:
            ScanOverloadError: the text would cost more than linear time.
        """
        return self._find(text) if text else []

    def redact(self, text: str, *, record: bool = False) -> str:
        """Mask every occurrence of every value.

        Args:
            text: what is about to be shown.
            record: there are many such texts, as the lines of a log: fragments of values are looked for only where
                an error may be.

        Returns:
            The same object if none occurs; WITHHELD if the search failed, never the unsearched text.
        """
        if not text:
            return text
        try:
            found = self._find(text, record=record)
            return replace(text, found) if found else text
        except Exception:  # noqa: BLE001 - whatever went wrong, the original must not pass
            self.faults += 1
            return WITHHELD

    def split(self, text: str) -> tuple[str, str]:
        """Mask a text that goes on: return what can be shown, and its end that could be the beginning of a value.

        The end is to be put before what comes next. A value is not recognised there if its letters are escaped.
        """
        return self._split(text)[:2]

    def _split(self, text: str) -> tuple[str, str, int]:
        """:meth:`split`; and how many letters, digits and signs of encodings may follow and wait unsearched."""
        if not len(self) or not text:
            return text, "", 0
        try:
            found = self._find_here(text)
            waits, more = self._index.beginning(text)
            waits = max(waits, self._fragments.beginning(text)[0])
            for each in self._elsewhere:
                others, beginning = each.search(text)
                found, waits = found + others, max(waits, beginning)
            found = joined(found)
            cut = len(text) - waits
            # What is found may be the beginning of a longer value.
            cut = min([cut, *(start for start, end in found if start < cut < end)])
            shown = replace(text[:cut], [span for span in found if span[1] <= cut])
            return shown, text[cut:], more
        except Exception:  # noqa: BLE001 - as in redact()
            self.faults += 1
            return WITHHELD, "", 0

    def _find(self, text: str, *, record: bool = False) -> list[tuple[int, int]]:
        found = self._find_here(text, record=record)
        more = [span for each in self._elsewhere for span in each.find(text, record=record)]
        # Before one is masked: a value here may be the beginning of a longer one there.
        return joined(found + more) if more else found

    def _find_here(self, text: str, *, record: bool = False) -> list[tuple[int, int]]:
        if not self._generations:
            return []
        found = self._current().find(text)
        if self._fragments and (not record or any(sign in text for sign in ERROR_SIGNS)):
            found = joined(found + self._fragments.find(text))
        return found

    def _current(self) -> Index:
        if self._pending:
            with self._lock:
                if self._pending:
                    # The documents of several generations share most of their fields.
                    found = dict.fromkeys(text for value in self._pending for text in texts(value))
                    fresh = [text for text in found if text not in self._texts]
                    written = [pattern for text in fresh for pattern in patterns(text)]
                    self._fragments = self._fragments.extended(p for p in written if p.fragment)
                    self._index = self._index.extended(p for p in written if not p.fragment)
                    self._texts.update(fresh)
                    self._pending = []
        return self._index


class Unfinished:
    """A text that comes in pieces: the end that could be the beginning of a value waits for the next one.

    Args:
        registry: what is masked.

    Attributes:
        held: what waits.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._more = 0
        self.held = ""

    def add(self, piece: str) -> str:
        """Return what can be shown of all that has come."""
        self.held += piece
        # An encoding of a long value is searched when it has ended, and not again with each piece.
        self._more -= len(piece)
        if self._more < 0 or not _OF_ENCODING.fullmatch(piece):
            shown, self.held, self._more = self._registry._split(self.held)  # noqa: SLF001
            return shown
        return ""

    def end(self, piece: str = "") -> str:
        """Return the rest: ``piece`` is the last one, or the end of a line."""
        text, self.held, self._more = self.held + piece, "", 0
        return self._registry.redact(text)


#: The registry of this process.
REGISTRY = Registry()


def register(values: Iterable[str], *, generation: int = 0) -> None:
    """:meth:`Registry.register` on this process's registry."""
    REGISTRY.register(values, generation=generation)


def redact(text: str) -> str:
    """:meth:`Registry.redact` on this process's registry."""
    return REGISTRY.redact(text)

r"""The KIP-269 scanner: finds ``$[...]`` in a text, in time linear in the text, without regular expressions.

The first ``$[`` of a text fixes its delimiters: n brackets (1 to 5) directly after that ``$`` mean that ``$``
with n ``[`` opens and n ``]`` close, in the whole text; more than 5 mean that the text holds no
substitution. There is no escaping and no nesting; a command runs to the first closing; an opening without one
is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sparkconfig.substitution.command import Modifiers, parse_command, read_modifiers

__all__ = [
    "LONG_TEXT",
    "OPENING",
    "Command",
    "Malformed",
    "Plan",
    "Segment",
    "iter_segments",
    "parse",
    "segments_of",
]

OPENING = "$["
"""Without it in a text there is nothing to scan."""

MAX_BRACKETS = 5
_CACHED_TEXT = 1024
LONG_TEXT = 65536
"""A text with more characters is not kept as segments: a hostile one would have millions."""


class Command:
    """One ``$[type/modifiers/=identifier]``. Whether the type exists is not known here.

    Attributes:
        raw: the text with its delimiters, which stays in place when the type is unknown.
        type: trimmed.
        modifiers: raw and in order.
        identifier: untrimmed.
    """

    __slots__ = ("_read", "identifier", "modifiers", "raw", "type")

    def __init__(self, raw: str, kind: str, modifiers: tuple[str, ...], identifier: str) -> None:
        self.raw = raw
        self.type = kind
        self.modifiers = modifiers
        self.identifier = identifier
        self._read: Modifiers | None = None

    def read(self) -> Modifiers:
        """Return what the modifiers mean to the built-in types; SubstitutionError: they contradict."""
        if self._read is None:
            self._read = read_modifiers(self.modifiers)
        return self._read

    def __repr__(self) -> str:
        return "Command(...)"  # the text may be part of a password


class Malformed:
    """Delimited text that is not a command; it stays as it is.

    Attributes:
        raw: the text with its delimiters.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: str) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return "Malformed(...)"


Segment = str | Command | Malformed
"""A literal text, a command, or delimited text that is not a command. An empty substitution is the literal ``""``."""


def iter_segments(text: str) -> Iterator[Segment]:
    """Yield the segments of ``text`` left to right; a text without substitutions yields itself, ``""`` included."""
    start = text.find(OPENING)
    brackets = 0
    if start >= 0:
        after = text[start + 1 : start + 2 + MAX_BRACKETS]
        brackets = len(after) - len(after.lstrip("["))
    if not 1 <= brackets <= MAX_BRACKETS:
        yield text
        return
    opening, closing = "$" + "[" * brackets, "]" * brackets
    done = 0
    while start >= 0:
        inside = start + 1 + brackets
        end = text.find(closing, inside)
        if end < 0:
            break
        if start > done:
            yield text[done:start]
        done = end + brackets
        if end == inside:
            yield ""
        else:
            yield _command(text[start:done], text[inside:end])
        start = text.find(opening, done)
    if done < len(text):
        yield text[done:]


def _command(raw: str, inner: str) -> Segment:
    parts = parse_command(inner)
    return Malformed(raw) if parts is None else Command(raw, *parts)


class Plan:
    """The segments of one text.

    Attributes:
        segments: left to right; joined with each command's ``raw`` they give the text without its empty
            substitutions.
    """

    __slots__ = ("segments",)

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments

    @property
    def literals(self) -> tuple[str, ...]:
        """The texts outside all delimiters: the only place where ``${...}`` is looked for (no empty ones)."""
        return tuple(s for s in self.segments if isinstance(s, str) and s)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands, left to right."""
        return tuple(s for s in self.segments if isinstance(s, Command))

    def __repr__(self) -> str:
        return f"Plan({len(self.segments)} segments)"


def parse(text: str) -> Plan:
    """Return the plan of ``text``; cached for short texts, so that each is parsed once in a process."""
    return Plan(segments_of(text))


def segments_of(text: str) -> tuple[Segment, ...]:
    """Return the segments of :func:`parse`, from the same cache."""
    return _parse_cached(text) if len(text) <= _CACHED_TEXT else tuple(iter_segments(text))


@lru_cache(maxsize=16384)
def _parse_cached(text: str) -> tuple[Segment, ...]:
    return tuple(iter_segments(text))

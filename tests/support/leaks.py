"""Finding a secret value in a text, however the layers between have escaped it."""

from __future__ import annotations

import base64
import functools
import html.entities
import itertools
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

# Bytes of a value below which its base64 and hex forms would match by chance.
_MIN_ENCODED = 8
_NAMED_ESCAPES = {"\n": "n", "\t": "t", "\r": "r"}
# Layers of escapes that are undone, at so many places of one text.
_DEPTH = 2
_MOST_PLACES = 50
# From so many bytes times values on it pays to look at the words alone.
_LONG = 20_000_000
_WORD = re.compile(rb"[A-Za-z0-9+/=_-]+")


class LeakFinder:
    """Counts the occurrences of some values in texts.

    A value is found raw, and in the forms that Spark's pages, JSON and logs give it, also stacked: HTML and XML
    entities, backslash and ``\\u`` escapes of JSON and JavaScript, URL percent encoding, base64 at each of the three
    alignments, and hex.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._values = list(values)
        # The longest stretch that no layer escapes: looking for it first makes the common case (nothing there) fast.
        self._runs = [(_longest_run(value), value, 16 * len(value) + 64) for value in self._values]
        self._encoded = [form for value in self._values for form in _encoded(value)]

    def count(self, text: bytes) -> int:
        """The number of occurrences of all values in all forms."""
        words = _words(text) if len(text) * len(self._values) > _LONG else text
        found = sum(text.count(form) for form in self._encoded if form in words)
        for run, value, reach in self._runs:
            if run in words:
                pattern = _pattern(value)
                found += (
                    _near(text, run, pattern, 2 * reach)
                    or sum(1 for _ in pattern.finditer(text))
                    or _deeper(text, run, pattern, reach)
                )
        return found


def _words(text: bytes) -> bytes:
    """Each word of a text once: a run or an encoding lies in one of them, and a log repeats most of its words."""
    return b"\n".join(set(_WORD.findall(text)))


def _near(text: bytes, run: bytes, pattern: re.Pattern[bytes], reach: int) -> int:
    """Occurrences around the places of ``run``: a value begins in few places, and the pattern is slow at all others."""
    if not run:
        return 0
    found = begin = end = 0
    for place in re.finditer(re.escape(run), text):
        if place.start() - reach > end:
            found += sum(1 for _ in pattern.finditer(text, begin, end))
            begin = place.start() - reach
        end = place.end() + reach
    return found + sum(1 for _ in pattern.finditer(text, begin, end))


def _deeper(text: bytes, run: bytes, pattern: re.Pattern[bytes], reach: int) -> int:
    """Occurrences under stacks of escapes that no one pattern names, found by undoing them layer by layer."""
    if not run:
        return 0
    found = searched = 0
    for place in itertools.islice(re.finditer(re.escape(run), text), _MOST_PLACES):
        if place.start() >= searched:
            searched = place.end() + reach
            part = text[max(0, place.start() - reach) : searched]
            found += max(
                (sum(1 for _ in pattern.finditer(reading)) for reading in _readings(part)), default=0
            )
    return found


def _readings(text: bytes) -> Iterator[bytes]:
    known = {text}
    layer = [text]
    for _ in range(_DEPTH):
        layer = [undone for reading in layer for undo in _UNDO if (undone := undo(reading)) not in known]
        known.update(layer)
        yield from layer


def _without_entities(text: bytes) -> bytes:
    return html.unescape(text.decode(errors="surrogateescape")).encode(errors="replace")


def _without_backslashes(text: bytes) -> bytes:
    return _BACKSLASH.sub(_unescaped, text)


def _unescaped(match: re.Match[bytes]) -> bytes:
    what = match[1]
    if len(what) > 1:
        return chr(int(what[1:], 16)).encode(errors="replace")
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(what, what)


_BACKSLASH = re.compile(rb"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_UNDO = (_without_entities, unquote_to_bytes, _without_backslashes)


def _longest_run(value: str) -> bytes:
    return max(re.split(r"[^A-Za-z0-9]", value), key=len).encode()


# Slow to compile, and needed only where a run was found; tests search for the same passwords hundreds of times.
@functools.cache
def _pattern(value: str) -> re.Pattern[bytes]:
    letters = (char if char.isascii() and char.isalnum() else _lenient(char) for char in value)
    return re.compile("".join(letters).encode())


@functools.cache
def _encoded(value: str) -> tuple[bytes, ...]:
    return (*_base64_forms(value), *_hex_forms(value))


@functools.cache
def _lenient(char: str) -> str:
    """A regular expression for one character in any stack of escapes."""
    code = ord(char)
    names = [name.rstrip(";") for name, text in html.entities.html5.items() if text == char]
    entity = "|".join([rf"#0*{code}", rf"#[xX]0*(?i:{code:x})", *map(re.escape, names)])
    raw = "".join(rf"\x{byte:02x}" for byte in char.encode())
    percent = "".join(rf"%(?:25)*(?i:{byte:02x})" for byte in char.encode())
    units = [char.encode("utf-16-be")[at : at + 2].hex() for at in range(0, len(char.encode("utf-16-be")), 2)]
    unicode = r"\\+".join(f"u(?i:{unit})" for unit in units)
    forms = [
        rf"\\*(?:{raw}|{unicode}|x(?i:{code:02x}))",
        rf"&(?:amp;)*(?:{entity});",
        percent,
    ]
    if char == " ":
        forms.append(r"\+")
    if char == "&":
        # An ampersand is itself what opens an entity.
        forms.insert(0, r"&(?:amp;)+")
    if char in _NAMED_ESCAPES:
        forms.append(rf"\\+{_NAMED_ESCAPES[char]}")
    # Each layer of SQL doubles quotes; other characters stand once.
    often = "{1,8}" if char in "'\"`" else ""
    return f"(?:{'|'.join(forms)}){often}"


def _base64_forms(value: str) -> list[bytes]:
    raw = value.encode()
    if len(raw) < _MIN_ENCODED:
        return []
    forms = set()
    for offset in range(3):
        # Drop the characters that also depend on what is before and after the value.
        padded = base64.b64encode(b"\0" * offset + raw)
        start = -(-offset * 8 // 6)
        whole = (offset + len(raw)) * 8 // 6
        for form in (padded, padded.translate(bytes.maketrans(b"+/", b"-_"))):
            forms.add(form[start:whole])
    return sorted(forms)


def _hex_forms(value: str) -> list[bytes]:
    raw = value.encode()
    if len(raw) < _MIN_ENCODED:
        return []
    return sorted({raw.hex().encode(), raw.hex().upper().encode()})

"""Finding a secret value in a text, however the layers between have escaped it."""

from __future__ import annotations

import base64
import html.entities
import re
from collections.abc import Iterable

# Characters of a value that end up at fixed places of its base64 forms; shorter values would match by chance.
_MIN_BASE64 = 8


class LeakFinder:
    """Counts the occurrences of some values in texts.

    A value is found raw, and in the forms that Spark's pages, JSON and logs give it, also stacked: HTML and XML
    entities, backslash and ``\\u`` escapes of JSON and JavaScript, URL percent encoding, and base64 at each of the
    three alignments.
    """

    def __init__(self, values: Iterable[str]) -> None:
        self._values = list(values)
        # The longest stretch that no layer escapes: looking for it first makes the common case (nothing there) fast.
        self._patterns = [
            (_longest_run(value), re.compile(_pattern(value).encode())) for value in self._values
        ]
        self._encoded = [form for value in self._values for form in _base64_forms(value)]

    def count(self, text: bytes) -> int:
        """The number of occurrences of all values in all forms."""
        found = sum(text.count(form) for form in self._encoded)
        for run, pattern in self._patterns:
            if run in text:
                found += sum(1 for _ in pattern.finditer(text))
        return found


def _longest_run(value: str) -> bytes:
    return max(re.split(r"[^A-Za-z0-9]", value), key=len).encode()


def _pattern(value: str) -> str:
    return "".join(char if char.isascii() and char.isalnum() else _lenient(char) for char in value)


def _lenient(char: str) -> str:
    """A regular expression for one character in any stack of escapes."""
    code = ord(char)
    names = [name.rstrip(";") for name, text in html.entities.html5.items() if text == char]
    entity = "|".join([rf"#0*{code}", rf"#[xX]0*{code:x}", rf"#[xX]0*{code:X}", *map(re.escape, names)])
    raw = "".join(rf"\x{byte:02x}" for byte in char.encode())
    percent = "".join(rf"%(?:25)*(?:{byte:02x}|{byte:02X})" for byte in char.encode())
    forms = [
        rf"\\*(?:{raw}|u(?:{code:04x}|{code:04X})|x(?:{code:02x}|{code:02X}))",
        rf"&(?:amp;)*(?:{entity});",
        percent,
    ]
    if char == " ":
        forms.append(r"\+")
    if char == "&":
        # An ampersand is itself what opens an entity.
        forms.insert(0, r"&(?:amp;)+")
    return f"(?:{'|'.join(forms)})"


def _base64_forms(value: str) -> list[bytes]:
    raw = value.encode()
    if len(raw) < _MIN_BASE64:
        return []
    forms = set()
    for offset in range(3):
        # Drop the characters that also depend on what stands before and after the value.
        padded = base64.b64encode(b"\0" * offset + raw)
        start = -(-offset * 8 // 6)
        whole = (offset + len(raw)) * 8 // 6
        for form in (padded, padded.translate(bytes.maketrans(b"+/", b"-_"))):
            forms.add(form[start:whole])
    return sorted(forms)

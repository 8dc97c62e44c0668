"""The secrets inside one line of text: URLs, DSNs, connection strings, JAAS configurations, headers, netrc.

The same rules as ``Credentials.scala``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from sparkconfig._base.late import late
from sparkconfig.redaction.data import BLANKS, CREDENTIALS, HARMLESS_NAMES, SECRET_NAMES

__all__ = ["credentials", "is_secret"]

# All are bounded: a long value takes no quadratic time. Python before 3.11 has no possessive repetitions.
_OF = {name: late(text.replace("*+", "*"), re.ASCII | re.DOTALL) for name, text in CREDENTIALS.items()}
_GAPS = late(r"\s+", re.ASCII)
_SECRET_NAME = late(SECRET_NAMES, re.IGNORECASE)
_HARMLESS_NAME = late(HARMLESS_NAMES, re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether the text behind this name is a secret."""
    return _SECRET_NAME.search(name) is not None and _HARMLESS_NAME.search(name) is None


def credentials(text: str) -> Iterator[str]:
    """The secrets in a line without blanks around it."""
    for found in _OF["user_info"].finditer(text):
        yield from found[1].split(":", 1)
    for name in ("slashed", "oracle"):
        for found in _OF[name].finditer(text):
            yield found[1].strip('"')
    if ":" in text and (after := _OF["colon"].fullmatch(text)) and is_secret(after[1]):
        yield after[2].strip(BLANKS).strip("\"'")
    if header := _OF["header"].fullmatch(text):
        yield from _of_header(header[1].lower(), header[2])
    if entry := _OF["netrc"].fullmatch(text):
        yield entry[1]
    if "=" in text:
        yield from _of_pairs(text)


def _of_header(scheme: str, written: str) -> Iterator[str]:
    yield written
    if scheme == "basic":
        try:
            padded = written + "=" * (-len(written) % 4)
            yield from base64.b64decode(padded, validate=True).decode("utf-8").split(":", 1)
        except (binascii.Error, UnicodeDecodeError):
            return


def _of_pairs(text: str) -> Iterator[str]:
    for name, quoted in _OF["quoted"].findall(text):
        if is_secret(name):
            yield re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
    for name, braced in _OF["braced"].findall(text):
        if is_secret(name):
            yield braced.replace("}}", "}")
    pairs = text.split(";") if ";" in text else []
    pairs += text.split("?", 1)[-1].split("&")
    pairs += _GAPS.split(text)
    for pair in pairs:
        found = _OF["pair"].fullmatch(pair.strip(BLANKS))
        if found and is_secret(found[1]):
            yield found[2].strip(BLANKS).strip("\"'{}")
            yield found[2]
    for name, listed in _OF["listed"].findall(text):
        if is_secret(name):
            yield listed

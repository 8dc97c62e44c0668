"""The texts by which a value is recognised: the secrets inside it, and how encoders write it.

The same rules as ``Forms.scala`` and ``Variants.scala``.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sparkconfig.redaction.credentials import BLANKS, credentials, is_secret
from sparkconfig.redaction.data import (
    COMMON_WORDS,
    FLOOR,
    FRAGMENT_CUTS,
    FRAGMENT_FLOOR,
    FRAGMENT_PATHS,
    FRAGMENT_WORDS,
    PLAIN_FIELDS,
)

__all__ = ["Pattern", "looks_secret", "patterns", "texts", "worth_registering"]

# Encodings are cut after this many characters; a match then runs on for as many as the whole has.
_ENCODED_LIMIT = 192
# Errors cut long texts: of a value that is twice as long, each part of this length counts too, unless it has so few
# different characters that it could be a rule or an indentation.
_PART = 64
_PARTS_LIMIT = 8192
_PART_VARIETY = 12
# Fragments are made of values that are no longer, and of so many cuts each with each.
_FRAGMENTED = 256
_CUTS_LIMIT = 8
# A document may hold texts that hold documents.
_DEPTH = 4
_MOST_TEXTS = 2000
_LONGEST_DOCUMENT = 1 << 20

_LINES = re.compile(r"[\r\n]+")
_PATH = re.compile(FRAGMENT_PATHS)
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_CUT = re.compile(f"[{re.escape(FRAGMENT_CUTS)}]")
_WORDS = re.compile(FRAGMENT_WORDS)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_PLAIN = re.compile(r"[A-Za-z0-9]")
# Fewer letters and digits than this beside question marks do not count as a sign of a value.
_LEFT = 4

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")
_BASE32 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567=")
_HEX = frozenset("0123456789abcdefABCDEF")


def worth_registering(value: str) -> bool:
    """Whether masking ``value`` wherever it occurs would not destroy pages and logs.

    The caller warns, naming the reference, when it is not; :meth:`Registry.declare` registers it all the same.
    """
    bare = value.strip(BLANKS)
    return len(bare) >= FLOOR and bare.lower() not in COMMON_WORDS and not value.startswith("spark.")


@dataclass(frozen=True, repr=False)
class Pattern:
    """One text to look for.

    Attributes:
        alphabet: of an encoding; characters of it beside a match hold some bits of the value too.
        rest: how many more the whole encoding has: what follows in the alphabet belongs to the match, up to these.
        fragment: a part of a value, which only errors quote.
    """

    text: str
    alphabet: frozenset[str] = frozenset()
    rest: int = 0
    fragment: bool = False


def texts(value: str) -> list[str]:
    """The value itself, and the secrets inside it that may be shown alone.

    Those are its lines, itself without blanks or quotes around it, the string fields of a JSON document, the
    credentials of URLs, connection strings and headers, all of them decoded from percent-encoding and in both Unicode
    forms.
    """
    found = {value: None}
    waiting = [(value, 0)]
    while waiting and len(found) < _MOST_TEXTS:
        text, depth = waiting.pop(0)
        for inner in _inside(text):
            if inner not in found and worth_registering(inner):
                found[inner] = None
                if depth < _DEPTH:
                    waiting.append((inner, depth + 1))
    return list(found)


def _inside(text: str) -> Iterator[str]:
    bare = text.strip(BLANKS)
    yield bare
    if bare[:1] in ("'", '"') and bare[-1:] == bare[:1]:
        yield bare[1:-1]
    lines = _LINES.split(text)
    if len(lines) > 1:
        # "-----BEGIN PRIVATE KEY-----" is not a secret.
        yield from (line for line in (line.strip(BLANKS) for line in lines) if not line.startswith("-----"))
    if bare[:1] in ("{", "[") and len(bare) <= _LONGEST_DOCUMENT:
        yield from _fields(bare)
    elif len(lines) == 1:
        yield from credentials(bare)
    if not text.isascii():
        yield unicodedata.normalize("NFC", text)
        yield unicodedata.normalize("NFD", text)
        yield from _in_another_charset(text)
    if _PERCENT.search(text):
        with contextlib.suppress(UnicodeDecodeError):
            yield unquote_to_bytes(text).decode("utf-8")


def _in_another_charset(text: str) -> Iterator[str]:
    """What is left of a text that a charset without some of its characters printed or read: ``p?ssw?rd``.

    A sign stands for each of them, or for each of their bytes in UTF-8. JVMs do that where the locale is ``C``.
    """
    if len(text) > _PARTS_LIMIT or len(_PLAIN.findall(text)) < _LEFT or "\ufffd" in text:
        return
    for sign in ("?", "\ufffd"):
        yield _FOREIGN.sub(sign, text)
        yield "".join(c if c.isascii() else sign * len(c.encode("utf-8", "surrogatepass")) for c in text)


def _fields(document: str) -> Iterator[str]:
    try:
        waiting = [json.loads(document)]
    except (ValueError, RecursionError):
        return
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            waiting += [item for name, item in node.items() if name.lower() not in PLAIN_FIELDS]
        elif isinstance(node, list):
            waiting += node


def looks_secret(name: str, value: str) -> bool:
    """Whether a value is a secret, or holds one, by its name and by what it looks like."""
    if is_secret(name) or "PRIVATE KEY-----" in value:
        return True
    bare = value.strip(BLANKS)
    if bare[:1] in ("{", "["):
        return any(is_secret(field) for field in re.findall(r'"([^"\\]*)"\s*:', bare))
    return any(True for line in _LINES.split(value) for _ in credentials(line.strip(BLANKS)))


def patterns(text: str) -> Iterable[Pattern]:
    """All writings of one text that escapes alone do not explain."""
    yield Pattern(text)
    yield from _parts(text)
    for part in _fragments(text):
        yield Pattern(part, fragment=True)
    if len(text) < FLOOR:
        return  # an encoding of a few characters looks like any other text
    raw = text.encode("utf-8", "surrogatepass")
    digits = raw[: _ENCODED_LIMIT // 2].hex()
    for written in {digits, digits.upper()}:
        yield Pattern(written, _HEX, rest=2 * len(raw) - len(digits))
    for core, rest in _cores64(raw):
        yield from _both(core, rest)
        # Base64 in base64, whichever of the two alphabets the inner one has.
        for inner in dict.fromkeys((core, _url(core))):
            for outer, more in _cores64(inner.encode("ascii"), rest):
                yield Pattern(outer, _BASE64, rest=more)
    for octets in _utf16(text):
        for core, rest in _cores64(octets):
            yield from _both(core, rest)
    yield from _cores32(raw)


def _both(core: str, rest: int) -> Iterator[Pattern]:
    for written in dict.fromkeys((core, _url(core))):
        yield Pattern(written, _BASE64, rest=rest)


def _url(core: str) -> str:
    return core.replace("+", "-").replace("/", "_")


def _cores64(raw: bytes, more: int = 0) -> Iterator[tuple[str, int]]:
    """What stays the same in base64 whatever stands before and after, and how many characters the rest has.

    Args:
        raw: what is encoded.
        more: how many bytes follow.
    """
    octets = raw[: _ENCODED_LIMIT * 3 // 4]
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + octets).decode("ascii")
        start, end = (offset * 8 + 5) // 6, (offset + len(octets)) * 8 // 6
        yield encoded[start:end], (offset + len(raw) + more) * 8 // 6 - end


def _cores32(raw: bytes) -> Iterator[Pattern]:
    octets = raw[: _ENCODED_LIMIT * 5 // 8]
    for offset in range(5):
        encoded = base64.b32encode(bytes(offset) + octets).decode("ascii")
        start, end = (offset * 8 + 4) // 5, (offset + len(octets)) * 8 // 5
        yield Pattern(encoded[start:end], _BASE32, rest=(offset + len(raw)) * 8 // 5 - end)


def _utf16(text: str) -> list[bytes]:
    """UTF-16 in both orders; of Latin texts only what both have in common."""
    little = text.encode("utf-16-le", "surrogatepass")
    if all(high == 0 for high in little[1::2]):
        return [little[:-1]]
    return [little, text.encode("utf-16-be", "surrogatepass")]


def _parts(text: str) -> Iterable[Pattern]:
    if len(text) >= 2 * _PART:
        for at in range(0, min(len(text), _PARTS_LIMIT) - _PART + 1, _PART):
            part = text[at : at + _PART]
            if len(set(part)) >= _PART_VARIETY:
                yield Pattern(part)


def _fragments(text: str) -> list[str]:
    """What parsers of URLs quote of a value in their errors: it, cut at signs that mean something to them.

    Of a text with secrets of its own inside, such as a URL, they come from these secrets.
    """
    if len(text) > _FRAGMENTED or "://" in text or _LINES.search(text) or text[:1] in ("{", "["):
        return []
    # The parts of a folder's name appear in half of all errors, and everybody knows them.
    if _PATH.fullmatch(text):
        return []
    cuts = [found.start() for found in _CUT.finditer(text)]
    if not cuts or any(True for _ in credentials(text)):
        return []
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(text)]
    furthest = len(cuts) if len(cuts) <= _CUTS_LIMIT else 0
    found = dict.fromkeys(
        text[start:end].strip(BLANKS)
        for index, start in enumerate(starts)
        for end in ends[index : index + furthest + 1]
        if end - start < len(text)
    )
    return [part for part in found if _is_fragment(part)]


def _is_fragment(part: str) -> bool:
    return (
        len(part) >= FRAGMENT_FLOOR
        and part.lower() not in COMMON_WORDS
        and not part.startswith("spark.")
        and _WORDS.fullmatch(part) is None
    )

"""The needles by which a value is found: the secrets inside it, and how they are written.

The JVM's mirror is ``Forms.scala``. All of it takes time in proportion to the value's length.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from sparkconfig._base.late import late
from sparkconfig.redaction.canonical import forms
from sparkconfig.redaction.credentials import credentials, is_secret
from sparkconfig.redaction.data import (
    BLANKS,
    BLOCK,
    COMMON_WORDS,
    CONTROL_LETTERS,
    DOUBLED_SIGNS,
    FLOOR,
    FORM_BLANK,
    HEADS,
    LAYERS_OF_ALTERNATIVES,
    LIST_SEPARATORS,
    LONGEST_WITH_TWO_LAYERS,
    PLAIN_FIELDS,
    QUOTES_OF_SHELLS,
    TAIL,
)
from sparkconfig.redaction.masking import MASK

__all__ = ["Needle", "looks_secret", "needles", "texts", "worth_registering"]

# A document may hold texts that hold documents.
_DEPTH = 4
_MOST_TEXTS = 2000
_LONGEST_DOCUMENT = 1 << 20

_LINES = late(r"[\r\n]+")
_PERCENT = late(r"%[0-9A-Fa-f]{2}")
_HEADS = [re.compile(each) for each in HEADS]
_TAIL = late(TAIL)
#: What every encoder leaves as it is (some escape full stops): a text of these is found raw, whatever precedes it.
_PLAIN = late("[A-Za-z0-9]*")


class Needle(NamedTuple):
    """One text to look for.

    Attributes:
        text: what to look for in one form of the searched text.
        head: what stood before it and may have been taken for the end of an escape: it is looked for one form earlier.
        tail: what stood behind it and may have been taken for the beginning of one: looked for likewise.
        encoded: the characters beside a match may hold some bits of the value too.
        whole: an ellipsis may cut it, and its beginning is masked too.
    """

    text: str
    head: str = ""
    tail: str = ""
    encoded: bool = False
    whole: bool = False


def worth_registering(value: str) -> bool:
    """Whether masking ``value`` wherever it occurs would not destroy pages and logs.

    The caller warns, naming the reference, when it is not; :meth:`Registry.declare` registers it all the same.
    """
    bare = value.strip(BLANKS)
    # What is a part of the mask itself must not mask masks.
    known = bare in MASK or bare.lower() in COMMON_WORDS or value.startswith("spark.")
    return len(bare) >= FLOOR and not known


def looks_secret(name: str, value: str) -> bool:
    """Whether a value is a secret, or holds one, by its name and by what it looks like."""
    if is_secret(name) or "PRIVATE KEY-----" in value:
        return True
    bare = value.strip(BLANKS)
    if bare[:1] in ("{", "["):
        return any(is_secret(field) for field in re.findall(r'"([^"\\]*)"\s*:', bare))
    return any(True for line in _LINES.split(value) for _ in credentials(line.strip(BLANKS)))


def texts(value: str) -> list[str]:
    """The value itself, and the secrets inside it that may be shown alone.

    Those are its lines, itself without blanks or quotes around it, the string fields of a JSON document, the
    credentials of URLs, connection strings and headers, all of them decoded from percent-encoding and in both Unicode
    forms.
    """
    found = {value: None}
    waiting = [(value, 0)]
    for text, depth in waiting:
        for inner in _inside(text):
            if inner not in found and worth_registering(inner) and len(found) < _MOST_TEXTS:
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
    if _PERCENT.search(text):
        yield from (form.text for form in forms(text))


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


def needles(text: str) -> Iterator[Needle]:
    """All needles of one text; some may come twice."""
    for written in _alternatives(text):
        for form in forms(written):
            # What is left of a text may be a word that stands everywhere.
            if form.before is None or worth_registering(form.text):
                yield Needle(form.text, whole=True)
                yield from _within_escapes(form.text)
    yield from map(Needle, _blocks(text))
    if len(text) >= FLOOR:  # an encoding of a few characters looks like any other text
        yield from _encoded(text)


def _alternatives(text: str) -> list[str]:
    """The text, and how languages write it whose layers no round undoes: they stack, too."""
    found = {text: None}
    last = [text]
    for _ in range(LAYERS_OF_ALTERNATIVES if len(text) <= LONGEST_WITH_TWO_LAYERS else 1):
        last = [written for each in last for written in _rewritten(each) if written not in found]
        found.update(dict.fromkeys(last))
    return list(found)


def _rewritten(text: str) -> Iterator[str]:
    # At a value's own ends the second sign may close the text around it.
    for sign in DOUBLED_SIGNS:
        inner = text.strip(sign)
        if sign in inner:
            yield text.replace(inner, inner.replace(sign, sign * 2))
    if "'" in text:
        for quote in QUOTES_OF_SHELLS:
            yield text.replace("'", quote)
    if " " in text:
        yield text.replace(" ", FORM_BLANK)
    letters = text
    for letter, control in CONTROL_LETTERS.items():
        letters = letters.replace(control, letter)
    if letters != text:
        yield letters


def _within_escapes(text: str) -> Iterator[Needle]:
    """The text without what the signs around it make an escape of: ``100%`` before ``41ab``, ``100%`` before ``ab``."""
    heads = [] if _PLAIN.fullmatch(text) else [head.end() for each in _HEADS if (head := each.match(text))]
    ends = [len(text)]
    # Each round may take one more.
    while len(ends) < 3 and (tail := _TAIL.search(text, 0, ends[-1])):
        ends.append(tail.start())
    for end in ends:
        # The longest head that leaves something to look for: an escape may take less.
        for start in {0, *(min(head, end - FLOOR // 2) for head in heads)}:
            if start >= 0 and len(text) > end - start >= FLOOR // 2:
                yield Needle(text[start:end], text[:start], text[end:])


def _blocks(text: str) -> Iterator[str]:
    """Errors cut long texts anywhere: each block counts, unless it could be a rule or an indentation."""
    length = BLOCK["length"]
    if len(text) >= BLOCK["from"]:
        for at in range(0, min(len(text), BLOCK["within"]) - length + 1, length):
            block = text[at : at + length]
            if len(set(block)) >= BLOCK["variety"]:
                yield block


def _encoded(text: str) -> Iterator[Needle]:
    raw = text.encode("utf-8", "surrogatepass")
    digits = raw.hex()
    yield Needle(digits, encoded=True)
    yield Needle(digits.upper(), encoded=True)
    for core in _cores64(raw):
        yield Needle(core, encoded=True)
        if "+" in core or "/" in core:
            yield Needle(core.replace("+", "-").replace("/", "_"), encoded=True)
    for number in (str,) if text.isascii() else (str, _signed):
        for separator in LIST_SEPARATORS:
            yield Needle(separator.join(map(number, raw)))
    yield Needle(raw.hex(" ").upper())


def _signed(octet: int) -> str:
    """As Java prints a byte."""
    return str(octet - 256 if octet > 127 else octet)


def _cores64(raw: bytes) -> Iterator[str]:
    """What stays the same in base64 whatever stands before and after."""
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + raw).decode("ascii")
        yield encoded[(offset * 8 + 5) // 6 : (offset + len(raw)) * 8 // 6]

"""Redaction the slow way: a text is decoded as a whole, again and again, and values are looked for in what comes out.

The engines undo all kinds of escapes at once, in a fixed order, and look for needles; here every order is tried.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

from sparkconfig.redaction.canonical import forms
from sparkconfig.redaction.data import ENTITIES, FLOOR
from sparkconfig.redaction.forms import needles, texts

LAYERS = 3
_MOST_VIEWS = 400
_NAMES = {**{name: chr(code) for name, code in name2codepoint.items()}, **ENTITIES}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def _backslashes(text):
    units = re.sub(r"\\(u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|.)", _unit, text, flags=re.DOTALL)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unit(match):
    digits = match[2] or match[3]
    if digits:
        return chr(int(digits, 16))
    # No encoder puts a backslash before another letter or digit: what has one there has a character inserted.
    plain = match[1].isascii() and match[1].isalnum()
    return _CONTROLS.get(match[1], match[0] if plain else match[1])


def _percents(text):
    def plain(match):
        raw = bytes.fromhex(match[0].replace("%", ""))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return match[0]

    return re.sub(r"(?:%[0-9A-Fa-f]{2})+", plain, text)


def _entities(text):
    def plain(match):
        word = match[1]
        if word[0] != "#":
            return _NAMES.get(word, match[0])
        code = int(word[2:], 16) if word[1] in "xX" else int(word[1:])
        return chr(code) if code < 0x110000 else match[0]

    return re.sub(r"&(#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{0,9});", plain, text)


_DECODERS = (
    _backslashes,
    _percents,
    _entities,
    lambda text: text.replace("+", " "),
)


def readings(text):
    """The text, and what it is after up to three decoders."""
    found = {text}
    fresh = found
    for _ in range(LAYERS):
        fresh = {decode(each) for each in fresh for decode in _DECODERS} - found
        found |= fresh
        if len(found) > _MOST_VIEWS:
            break
    return found


def leaks(parts, values):
    """The values that somebody could still read in one of the parts."""
    seen = {reading for part in parts if len(part) >= min(map(len, values)) for reading in readings(part)}
    return [value for value in values if any(each in reading for reading in seen for each in _quoted(value))]


def _quoted(value):
    """The value, and how it stands between quotes of SQL, CSV and shells: they rewrite all quotes in it, or none."""
    found = {value}
    for _ in range(2):
        for sign in "'\"":
            found |= {each.replace(sign, sign * 2) for each in found}
            inner = {each: each.strip(sign) for each in found if each.strip(sign)}
            found |= {each.replace(part, part.replace(sign, sign * 2)) for each, part in inner.items()}
        found |= {each.replace("'", quote) for each in found for quote in ("'\"'\"'", "'\\''")}
        if len(found) > _MOST_VIEWS:
            break
    return found


def may_be_masked(text, values):
    """Whether the letters and digits of a writing of a value are all there, in order: no encoder rewrites them."""
    seen = [form.text for form in forms(text)]
    written = [pattern.text for value in values for inner in texts(value) for pattern in needles(inner)]
    if "..." in text or "\u2026" in text:
        # Before an ellipsis a beginning is enough.
        written += [found[:FLOOR] for found in written]
    return any(_in_order(re.findall("[A-Za-z0-9]+", each), view) for each in written for view in seen)


def _in_order(runs, text):
    at = 0
    for run in runs:
        at = text.find(run, at)
        if at < 0:
            return False
        at += len(run)
    return True


_BACKSLASHES = re.compile(r"(?:\\(?:x5c|u005c|134)|%5c|&#(?:92|x5c);|\\){4}", re.IGNORECASE)


def repeats(values):
    """Whether a writing of a value repeats itself within its half: of many in a row, the engines leave some signs.

    So does a run of backslashes, however they are written: it can be read in many ways, and the engines may end it at
    different signs.
    """
    if any(_BACKSLASHES.search(value) for value in values):
        return True
    written = {pattern.text for value in values for inner in texts(value) for pattern in needles(inner)}
    return any(each.startswith(each[width:]) for each in written for width in range(1, len(each) // 2 + 1))

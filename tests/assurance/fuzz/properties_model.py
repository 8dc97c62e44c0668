"""Java properties read one character at a time, as the documentation of ``Properties.load`` describes them: slow."""

from __future__ import annotations

_BLANK = " \t\f"
_HEX = "0123456789abcdefABCDEF"
_SHORT = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def properties(text):
    """The keys and values of a text in UTF-16 units, or None if a reader must refuse it."""
    found = {}
    for line in _lines(_units(text)):
        end = 0
        while end < len(line) and line[end] not in "=: \t\f":
            end += 2 if line[end] == "\\" else 1
        rest = end
        while rest < len(line) and line[rest] in _BLANK:
            rest += 1
        if rest < len(line) and line[rest] in "=:":
            rest += 1
            while rest < len(line) and line[rest] in _BLANK:
                rest += 1
        key, value = _plain(line[:end]), _plain(line[rest:])
        if key is None or value is None:
            return None
        found["".join(key)] = "".join(value)
    return found


def _units(text):
    raw = text.encode("utf-16-be", "surrogatepass")
    return [chr(int.from_bytes(raw[at : at + 2], "big")) for at in range(0, len(raw), 2)]


def _lines(units):
    """Logical lines: lists of units, with escapes, without leading blanks; none of comments and blank lines."""
    line, at, fresh, seen = [], 0, True, False
    while at < len(units):
        unit = units[at]
        if fresh and unit in _BLANK:
            at += 1
        elif unit in "\r\n":
            if seen:
                yield line
            line, fresh, seen = [], True, False
            at += 1
        elif fresh and not seen and unit in "#!":
            while at < len(units) and units[at] not in "\r\n":
                at += 1
        elif unit == "\\" and at + 1 < len(units) and units[at + 1] in "\r\n":
            # The line goes on, behind the blanks at the beginning of the next; Java counts a line that is still empty
            # as not begun.
            two = units[at + 1 : at + 3] == ["\r", "\n"]
            at += 3 if two else 2
            fresh, seen = True, bool(line)
            if at >= len(units) and (line or not two):
                yield line
                return
        elif unit == "\\":
            fresh, seen = False, True
            if at + 1 < len(units):
                line += units[at : at + 2]
            at += 2
        else:
            fresh, seen = False, True
            line.append(unit)
            at += 1
    if seen:
        yield line


def _plain(line):
    out, at = [], 0
    while at < len(line):
        if line[at] != "\\":
            out.append(line[at])
            at += 1
            continue
        unit = line[at + 1]
        at += 2
        if unit == "u":
            digits = line[at : at + 4]
            if len(digits) < 4 or any(digit not in _HEX for digit in digits):
                return None
            out.append(chr(int("".join(digits), 16)))
            at += 4
        else:
            out.append(_SHORT.get(unit, unit))
    return out

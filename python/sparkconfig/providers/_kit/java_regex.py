r"""Java regular expressions in Python: the few spellings that differ and that allowlists use.

``\p{Upper}``-like ASCII classes, ``\Q...\E`` quoting and ``(?<name>`` groups are rewritten. What has no
counterpart is an error, never a pattern that means something else. Compile the result with ``re.ASCII``:
``\d``, ``\w`` and ``\s`` are ASCII in Java.
"""

from __future__ import annotations

import re

__all__ = ["JavaPatternError", "to_python"]

_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "XDigit": "0-9a-fA-F",
    "Punct": r"!-/:-@\[-`{-~",
    "Blank": r" \t",
    "Space": r"\s",
    "ASCII": r"\x00-\x7f",
}

_UNKNOWN = frozenset("ceGhHkNRvVX")
_GROUP_NAME = re.compile(r"\(\?<(?![=!])")


class JavaPatternError(ValueError):
    """The pattern uses something that Python's engine does not know."""


def to_python(pattern: str) -> str:
    """Rewrite a Java pattern.

    Raises:
        JavaPatternError: it cannot be rewritten.
    """
    parts: list[str] = []
    position = 0
    in_class = False
    while position < len(pattern):
        if pattern[position] == "\\":
            text, position = _escape(pattern, position, in_class=in_class)
        elif in_class and (pattern[position] == "[" or pattern.startswith("&&", position)):
            raise JavaPatternError("unions and intersections of character classes are not supported")
        elif _GROUP_NAME.match(pattern, position):
            text, position = "(?P<", position + 3
        else:
            text, position = pattern[position], position + 1
            in_class = text == "[" or (in_class and text != "]")
        parts.append(text)
    return "".join(parts)


def _escape(pattern: str, position: int, *, in_class: bool) -> tuple[str, int]:
    """Rewrite the escape at ``position``; return it and the position behind it."""
    letter = pattern[position + 1 : position + 2]
    if letter == "Q":
        end = pattern.find(r"\E", position + 2)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[position + 2 : end]), end + 2
    if letter in ("p", "P"):
        return _named(pattern, position, in_class=in_class)
    if letter in _UNKNOWN:
        raise JavaPatternError(f"\\{letter} is not supported")
    return f"\\{'Z' if letter == 'z' else letter}", position + 2


def _named(pattern: str, position: int, *, in_class: bool) -> tuple[str, int]:
    end = pattern.find("}", position)
    name = pattern[position + 3 : end] if pattern[position + 2 : position + 3] == "{" and end > 0 else ""
    members = _CLASSES.get(name)
    negated = pattern[position + 1] == "P"
    if members is None or (negated and in_class):
        raise JavaPatternError(f"the class {pattern[position : position + 12]} is not supported")
    if in_class:
        return members, end + 1
    return f"[{'^' if negated else ''}{members}]", end + 1

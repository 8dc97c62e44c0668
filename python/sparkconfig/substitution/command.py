"""What is between the delimiters: ``TYPE MODIFIERS = IDENTIFIER`` (KIP-269)."""

from __future__ import annotations

import string
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from sparkconfig.errors import SubstitutionError

__all__ = ["PUNCTUATION", "CommandParts", "Modifiers", "java_trim", "parse_command", "read_modifiers"]

PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
"""The 32 ASCII characters that end a type and may delimit modifiers (all but ``=``)."""

_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_JAVA_BLANKS = "".join(map(chr, range(0x21)))


def java_trim(text: str) -> str:
    """Strip the characters up to U+0020 at both ends, and no others: Java's ``trim``, not ``str.strip``."""
    return text.strip(_JAVA_BLANKS)


class CommandParts(NamedTuple):
    """A command that could be parsed.

    Attributes:
        type: the type, trimmed; may be empty (then it is unknown).
        modifiers: raw, untrimmed, in order.
        identifier: untrimmed, may be empty.
    """

    type: str
    modifiers: tuple[str, ...]
    identifier: str


def parse_command(text: str) -> CommandParts | None:
    """Take a command apart; None: it is not a command, and its text stays as it is. Linear in the text."""
    if "=" not in text:
        return None
    end = len(text) - len(text.lstrip(_LETTERS_AND_DIGITS))  # most types have no other characters
    while text[end] not in PUNCTUATION:  # ends at the latest at the "="
        end += 1
    if end == 0:
        return None
    kind, mark = java_trim(text[:end]), text[end]
    if mark == "=":
        return CommandParts(kind, (), text[end + 1 :])
    close = text.find(mark + "=", end)
    if close < end + 2 or text[end + 1] == mark or text[close - 1] == mark:
        return None
    modifiers = tuple(text[end + 1 : close].split(mark))
    for modifier in modifiers:
        if not java_trim(modifier):
            return None
    return CommandParts(kind, modifiers, text[close + 2 :])


class Modifiers(NamedTuple):
    """Modifiers as the built-in types, and types made with the helper, understand them.

    Attributes:
        redact: the result must not be shown.
        not_empty: an empty value does not count.
        not_blank: a value of blanks does not count either.
        from_value_of_key: the identifier names a key whose value is the identifier.
        default_value: literal default, or None.
        default_key: key whose value is the default, or None.
        flags: further flags, trimmed.
        arguments: further arguments; names trimmed, values not.
    """

    redact: bool = False
    not_empty: bool = False
    not_blank: bool = False
    from_value_of_key: bool = False
    default_value: str | None = None
    default_key: str | None = None
    flags: frozenset[str] = frozenset()
    arguments: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        return "Modifiers(...)"  # the text may be part of a password


_NONE = Modifiers()
_COMMON = {
    (): _NONE,
    ("redact",): Modifiers(redact=True),
    ("notEmpty",): Modifiers(not_empty=True),
    ("notBlank",): Modifiers(not_blank=True),
}


def read_modifiers(modifiers: tuple[str, ...]) -> Modifiers:
    """Sort modifiers into flags (trimmed, may repeat) and arguments (``name=value``, name trimmed, once).

    An argument needs a name and a value; without one of them it is a flag. Only ``defaultValue=`` may have an
    empty value: the empty default.

    Raises:
        SubstitutionError: an argument is given twice, or both defaults are.
    """
    common = _COMMON.get(modifiers)
    if common is not None:
        return common
    flags: set[str] = set()
    arguments: dict[str, str] = {}
    for modifier in modifiers:
        name, equals, value = modifier.partition("=")
        name = java_trim(name)
        if not equals or not name or not (value or name == "defaultValue"):
            flags.add(java_trim(modifier))
        elif name in arguments:
            raise SubstitutionError(_twice(name))
        else:
            arguments[name] = value
    default_value = arguments.pop("defaultValue", None)
    default_key = arguments.pop("defaultKey", None)
    if default_value is not None and default_key is not None:
        raise SubstitutionError("cannot specify both defaultValue and defaultKey; keep one of them")
    return Modifiers(
        "redact" in flags,
        "notEmpty" in flags,
        "notBlank" in flags,
        "fromValueOfKey" in flags,
        default_value,
        default_key,
        _NONE.flags if flags <= _KNOWN_FLAGS else frozenset(flags - _KNOWN_FLAGS),
        MappingProxyType(arguments) if arguments else _NONE.arguments,
    )


_KNOWN_FLAGS = {"redact", "notEmpty", "notBlank", "fromValueOfKey"}


def _twice(name: str) -> str:
    if name in ("defaultValue", "defaultKey"):  # other names come from the text and are not repeated here
        return f"cannot specify {name} multiple times; keep one of them"
    return "cannot specify a name=value argument multiple times; keep one of them"

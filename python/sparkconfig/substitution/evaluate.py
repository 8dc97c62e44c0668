"""The evaluation that the built-in types share, and types made with the helper (KIP-269, modifiers).

It is a generator: it yields the keys whose results it needs and is sent them, so that a chain of keys of any
length needs no recursion.
"""

# ruff: noqa: FBT001 - the KIP says which arguments, in which order

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from sparkconfig._base.text import shorten
from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution.command import Modifiers, java_trim
from sparkconfig.substitution.redactable import REDACTED, RedactableObject

__all__ = ["Need", "Retrieve", "Steps", "evaluate"]


class Need(NamedTuple):
    """A key whose result is needed.

    Attributes:
        key: the key.
        required: whether it is an error that it does not exist.
        hidden: whether the key must not be in a message.
    """

    key: str
    required: bool
    hidden: bool


Steps = Generator[Need, RedactableObject | None, RedactableObject]
"""An evaluation: yields needs, is sent results (None: does not exist), returns its own result."""

Retrieve = Callable[[str, Modifiers, bool], RedactableObject | None]
"""Gives the value of an identifier (None: it does not exist); is told the modifiers and whether to redact."""


def evaluate(
    retrieve: Retrieve | None,
    kind: str,
    modifiers: Modifiers,
    identifier: str,
    *,
    secret: bool = False,
    hide: Callable[[str], None] | None = None,
) -> Steps:
    """Evaluate one command.

    Args:
        retrieve: returns the value; None: the identifier is a key (the type ``keyValue``).
        kind: the type's name, for messages.
        modifiers: what :func:`read_modifiers` made of the command's.
        identifier: of the command.
        secret: the command is in a secret: the result is redacted and the messages show no identifier.
        hide: is told a text that this command makes a secret, unless it was one under its own key.

    Raises:
        SubstitutionError: the value is missing and has no default, or the default is not good enough.
    """
    redact = secret or modifiers.redact
    hidden = secret
    if modifiers.from_value_of_key:
        source = yield Need(identifier, True, hidden)
        identifier = source.value if source is not None else ""
        # The KIP does not carry this redaction to the result; a message is not a result and must not show it.
        hidden = secret or (source is not None and source.redacted)
    own = retrieve is not None
    if retrieve is None:
        found = yield Need(identifier, False, hidden)
    else:
        found = retrieve(identifier, modifiers, redact)
    flaw = _MISSING if found is None else _flaw(found, modifiers)
    if flaw is not None:
        if modifiers.default_value is not None:
            found = RedactableObject(modifiers.default_value)
        elif modifiers.default_key is not None:
            found = yield Need(modifiers.default_key, True, secret)
            own = False
        else:
            what = flaw if flaw is _MISSING else f"with value that {flaw}"
            raise SubstitutionError(
                f"Type={_shown(kind, secret)}: no default for identifier {what}: {_shown(identifier, hidden)};"
                " set it, or add defaultValue= or defaultKey="
            )
        flaw = None if found is None else _flaw(found, modifiers)
        if flaw is not None:
            raise SubstitutionError(
                f"Type={_shown(kind, secret)}: default value for identifier={_shown(identifier, hidden)} {flaw}"
            )
    if found is None:  # a required need is never answered with None
        raise SubstitutionError(f"Type={_shown(kind, secret)}: no value")
    if hide is not None and ((redact and not found.redacted) or (own and found.redacted)):
        hide(found.value)
    return found.redacted_version() if redact else found


_MISSING = "that does not exist"


def _shown(text: str, hidden: bool) -> str:
    return REDACTED if hidden else shorten(text)


def _flaw(found: RedactableObject, modifiers: Modifiers) -> str | None:
    """Say why a value does not count under notEmpty and notBlank; None: it does."""
    if modifiers.not_empty or modifiers.not_blank:
        text = found.value
        rule = f"(notBlank={str(modifiers.not_blank).lower()}, notEmpty={str(modifiers.not_empty).lower()})"
        if not text:
            return f"is empty {rule}"
        if modifiers.not_blank and not java_trim(text):
            return f"is non-empty but still blank {rule}"
    return None

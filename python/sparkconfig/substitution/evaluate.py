"""The evaluation that the built-in types share, and types made with the helper (KIP-269, modifiers).

It is a generator: it yields the keys whose results it needs and is sent them, so that a chain of keys of any
length needs no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from sparkconfig.errors import SubstitutionError
from sparkconfig.references import shorten
from sparkconfig.substitution.command import Modifiers, java_trim
from sparkconfig.substitution.redactable import REDACTED, RedactableObject

__all__ = ["MaybeSteps", "Need", "Retrieve", "Steps", "evaluate"]


class Need(NamedTuple):
    """A key whose result is needed.

    Attributes:
        key: the key.
        required: whether it is an error that it does not exist.
        shown: the key as it may stand in a message.
    """

    key: str
    required: bool
    shown: str


Steps = Generator[Need, RedactableObject | None, RedactableObject]
"""An evaluation: yields needs, is sent results (None: does not exist), returns its own result."""

MaybeSteps = Generator[Need, RedactableObject | None, RedactableObject | None]
"""The same, where there may be no result."""


Retrieve = Callable[[str, Modifiers, bool], RedactableObject | None]
"""Gives the value of an identifier (None: it does not exist); is told the modifiers and whether to redact."""


def evaluate(
    retrieve: Retrieve | None,
    kind: str,
    modifiers: Modifiers,
    identifier: str,
    *,
    secret: bool = False,
) -> Steps:
    """Evaluate one command.

    Args:
        retrieve: gives the value; None: the identifier is a key (the type ``keyValue``).
        kind: the type's name, for messages.
        modifiers: what :func:`read_modifiers` made of the command's.
        identifier: of the command.
        secret: the command stands in a secret: the result is redacted and the messages show no identifier.

    Raises:
        SubstitutionError: there is no value and no default, or the default is not good enough.
    """
    redact = secret or modifiers.redact
    shown = REDACTED if secret else shorten(identifier)
    if modifiers.from_value_of_key:
        source = yield Need(identifier, True, shown)
        identifier = source.value if source is not None else ""
        # The KIP does not carry this redaction to the result; a message is no result and must not show it.
        shown = REDACTED if secret or (source is not None and source.redacted) else shorten(identifier)
    if retrieve is None:
        found = yield Need(identifier, False, shown)
    else:
        found = retrieve(identifier, modifiers, redact)
    flaw = None if found is not None else "does not exist"
    if found is not None and (modifiers.not_empty or modifiers.not_blank):
        flaw = _flaw(found, modifiers)
    if flaw is not None:
        found = yield from _default(kind, modifiers, shown, flaw, secret=secret)
    if found is None:  # for the type checker: a required need is never answered with None
        raise SubstitutionError(f"Type={kind}: no value")
    return found.redacted_version() if redact else found


def _default(kind: str, modifiers: Modifiers, shown: str, flaw: str, *, secret: bool) -> Steps:
    """Return the default, which has to pass notEmpty and notBlank like any value."""
    kind = REDACTED if secret else shorten(kind)
    found: RedactableObject | None
    if modifiers.default_value is not None:
        found = RedactableObject(modifiers.default_value)
    elif modifiers.default_key is not None:
        key = modifiers.default_key
        found = yield Need(key, True, REDACTED if secret else shorten(key))
    else:
        what = (
            "identifier that does not exist"
            if flaw == "does not exist"
            else f"identifier with value that {flaw}"
        )
        raise SubstitutionError(
            f"Type={kind}: no default for {what}: {shown}; set it, or add defaultValue= or defaultKey="
        )
    if found is None:
        raise SubstitutionError(f"Type={kind}: no default value")
    again = _flaw(found, modifiers)
    if again is not None:
        raise SubstitutionError(f"Type={kind}: default value for identifier={shown} {again}")
    return found


def _flaw(found: RedactableObject, modifiers: Modifiers) -> str | None:
    """Say why a value does not count under the modifiers; None: it does."""
    if modifiers.not_empty or modifiers.not_blank:
        text = found.value
        rule = f"(notBlank={str(modifiers.not_blank).lower()}, notEmpty={str(modifiers.not_empty).lower()})"
        if not text:
            return f"is empty {rule}"
        if modifiers.not_blank and not java_trim(text):
            return f"is non-empty but still blank {rule}"
    return None

"""Secret: a value that does not show itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn, SupportsIndex

from sparkconfig.errors import SecretExposureError

__all__ = ["Secret", "parts_of", "secret_with"]

_HINT = "a Secret is not turned into text by accident; call .reveal() where the value is used"

#: Called with what must be masked of each value that :meth:`Secret.reveal` returns, while this process redacts
#: what it shows.
on_reveal: Callable[[Iterable[str]], None] | None = None


class _SaysHow(type):
    """json, and others that refuse a type by its name, quote this name: it says what to do instead."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return "Secret (call .reveal() where the value is used)"


class Secret(metaclass=_SaysHow):
    """A resolved value (Kafka: ``Password``). Only :meth:`reveal` returns the text.

    ``repr`` shows a mask; ``str``, f-strings, pickle and JSON raise SecretExposureError (a TypeError).
    Equality is by value and takes constant time; a Secret hashes by value and is immutable.

    Args:
        value: the text.
        parts: the values of the references in it, which redaction masks wherever they show; None: the whole text is
            one. Text that a job wrote around its references is not a secret, and there may be any number of such texts.
    """

    __slots__ = ("_parts", "_value")
    _value: str
    _parts: tuple[str, ...] | None

    def __init__(self, value: str, parts: Iterable[str] | None = None) -> None:
        if not isinstance(value, str):
            raise SecretExposureError(f"a Secret holds text, not {type(value).__name__}")
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_parts", None if parts is None else tuple(parts))

    def reveal(self) -> str:
        """Return the value itself. Keep it out of logs, messages and plans."""
        if on_reveal is not None:
            on_reveal((self._value,) if self._parts is None else self._parts)
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        raise SecretExposureError(_HINT)

    def __format__(self, spec: str) -> str:
        raise SecretExposureError(_HINT)

    def __getstate__(self) -> NoReturn:
        raise SecretExposureError(_HINT)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise SecretExposureError(_HINT)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Secret is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Secret is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        mine = self._value.encode("utf-8", "surrogatepass")
        theirs = other.reveal().encode("utf-8", "surrogatepass")
        import hmac  # slow to import, and values are seldom compared

        return hmac.compare_digest(mine, theirs)

    def __hash__(self) -> int:
        return hash((Secret, self._value))


_new = Secret.__new__
_set_value = Secret.__dict__["_value"].__set__
_set_parts = Secret.__dict__["_parts"].__set__


def secret_with(value: str, parts: tuple[str, ...]) -> Secret:
    """``Secret(value, parts)`` of a text that is known to be one, at half the time: a map may hold thousands."""
    secret = _new(Secret)
    _set_value(secret, value)
    _set_parts(secret, parts)
    return secret


def parts_of(secret: Secret) -> tuple[str, ...]:
    """Return what must be masked of a secret: nothing, if its references name a user or a host and no secret."""
    return (secret._value,) if secret._parts is None else secret._parts  # noqa: SLF001 - the same module

"""RedactableObject: the result of a substitution (KIP-269, class of the same name)."""

# ruff: noqa: FBT001 - the KIP says which arguments, in which order

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NoReturn, SupportsIndex

from sparkconfig._base.text import shorten
from sparkconfig.errors import SecretExposureError, SparkConfigError, SubstitutionError
from sparkconfig.secret import Secret

__all__ = ["REDACTED", "RedactableObject", "Results", "to_text"]

REDACTED = "[redacted]"
"""What is shown instead of a redacted value."""

_MAX_DEPTH = 100


class RedactableObject:
    """An object and whether it must stay hidden. Immutable by convention: make a new one.

    ``repr``, ``str`` and f-strings show ``[redacted]`` for a redacted one, which also refuses to be pickled.
    Equal are two with equal objects of one type and the same flag.

    Attributes:
        object: text, or the untouched object of a value that is not text.
        redacted: whether :attr:`object` must not be shown.
    """

    __slots__ = ("object", "redacted")

    def __init__(self, object: object, redacted: bool = False) -> None:  # noqa: A002 - KIP's order
        self.object = object
        self.redacted = redacted

    @property
    def value(self) -> str:
        """The object as text, in clear even when redacted."""
        return self.object if type(self.object) is str else to_text(self.object)

    @property
    def display(self) -> str:
        """The text that may be shown."""
        return REDACTED if self.redacted else self.value

    def redacted_version(self) -> RedactableObject:
        """Return the same object, redacted."""
        return self if self.redacted else RedactableObject(self.object, True)

    def __str__(self) -> str:
        return self.display

    def __repr__(self) -> str:
        shown = REDACTED if self.redacted else repr(self.object)
        return f"RedactableObject({shown}, redacted={self.redacted})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RedactableObject):
            return NotImplemented
        return (self.redacted, type(self.object), self.object) == (
            other.redacted,
            type(other.object),
            other.object,
        )

    def __hash__(self) -> int:
        return hash((self.value, self.redacted))

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        if self.redacted:
            _refuse()
        return (RedactableObject, (self.object, False))


class Results(Mapping[str, RedactableObject]):
    """Key to result, read only. A plain text gets its object when it is asked for.

    Hundreds of thousands of small objects that are never looked at would cost more than all substitutions: the
    garbage collector visits each of them again and again.
    """

    __slots__ = ("_kept", "_keys")

    def __init__(self, kept: dict[str, RedactableObject | str], keys: Mapping[str, object]) -> None:
        self._kept = kept
        self._keys = keys

    def __getitem__(self, key: str) -> RedactableObject:
        if key not in self._keys:
            raise KeyError(key)
        found = self._kept[key]
        if not isinstance(found, RedactableObject):
            found = self._kept[key] = RedactableObject(found)
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return repr(dict(self))


def _refuse() -> NoReturn:
    raise SecretExposureError("a redacted result is not pickled by accident; use .value where it is needed")


def to_text(item: object, depth: int = 0) -> str:
    """Return the text that a value gets beside other text: as the JVM writes it (``true``, ``[1, 2]``).

    Raises:
        SubstitutionError: lists or maps are nested more than 100 deep.
    """
    if isinstance(item, str):
        return str(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if item is None:
        return "null"
    if isinstance(item, list | tuple | dict):
        if depth >= _MAX_DEPTH:
            raise SubstitutionError(
                f"a list or map that is nested more than {_MAX_DEPTH} deep is not made text"
            )
        if isinstance(item, dict):
            pairs = (f"{to_text(k, depth + 1)}={to_text(v, depth + 1)}" for k, v in item.items())
            return "{" + ", ".join(pairs) + "}"
        return "[" + ", ".join(to_text(part, depth + 1) for part in item) + "]"
    return str(item)


def located(error: SparkConfigError, key: str | None) -> SparkConfigError:
    """Return the error with the key whose text is at fault, unless it tells one."""
    if isinstance(error, SubstitutionError) and key is not None and not str(error).startswith("key '"):
        return SubstitutionError(f"key '{shorten(key)}': {error}")
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def raw_result(raw: object) -> RedactableObject:
    if isinstance(raw, RedactableObject):
        return raw
    return RedactableObject(raw.reveal(), True) if isinstance(raw, Secret) else RedactableObject(raw)

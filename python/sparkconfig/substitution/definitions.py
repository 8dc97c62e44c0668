"""Custom types: from ``<prefix><type>SubstituterType`` to an instance (KIP-269)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sparkconfig._base.loading import import_object
from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.substitution.types import SubstituterType

__all__ = ["FROM_VALUES", "SUFFIX", "FromValues", "LoadType", "TypeTable", "create_type", "load_type"]

SUFFIX = "SubstituterType"
"""The end of a definition's key."""

LoadType = Callable[[str], object]
"""Class name to class; raises LookupError: there is no such class."""


class FromValues:
    """The type of :data:`FROM_VALUES`."""


FROM_VALUES: Final = FromValues()
"""As ``definitions``: the map of values defines the types too, as in the KIP. For trusted maps alone."""


def load_type(name: str) -> object:
    """Import ``package.module:Class``, or ``package.module.Class``; LookupError: there is no such class."""
    try:
        return import_object(name)
    except ConfigurationError:
        raise LookupError from None


def create_type(key: str, definition: object, load: LoadType = load_type) -> SubstituterType:
    """Return an instance of the class that ``definition`` is or names.

    Raises:
        ConfigurationError: there is no such class, it is not a SubstituterType, or it cannot be created; the
            message names the key and the class.
    """
    cls: object
    if isinstance(definition, type):
        cls, name = definition, definition.__qualname__
    elif isinstance(definition, str):
        name = shorten(definition)
        try:
            cls = load(definition)
        except Exception as error:  # noqa: BLE001 - the import of a foreign module may raise anything
            raise ConfigurationError(
                f"{shorten(key)} names class '{name}', which cannot be loaded ({type(error).__name__});"
                " give module:Class of an installed class"
            ) from None
    else:
        raise ConfigurationError(
            f"{shorten(key)} must be a class or its name, not {type(definition).__name__}"
        )
    if not isinstance(cls, type) or not issubclass(cls, SubstituterType):
        raise ConfigurationError(f"{shorten(key)} names '{name}', which is not a SubstituterType")
    try:
        return cls()
    except Exception as error:  # noqa: BLE001 - third-party code; its text is not repeated
        raise ConfigurationError(
            f"{shorten(key)}: '{name}' cannot be created without arguments ({type(error).__name__})"
        ) from None


class TypeTable:
    """The custom types of one generation; each definition is read once.

    Args:
        prefix: before the type in a definition's key.
        read: key to definition, None: there is none.
        load: class name to class.
    """

    def __init__(self, prefix: str, read: Callable[[str], object], load: LoadType) -> None:
        self._prefix = prefix
        self._read = read
        self._load = load
        self._types: dict[str, SubstituterType | None] = {}

    def get(self, kind: str) -> SubstituterType | None:
        """Return the custom type of that name, None if there is none; ConfigurationError: it is defined wrongly."""
        if kind in self._types:
            return self._types[kind]
        key = self._prefix + kind + SUFFIX
        definition = self._read(key)
        custom = None if definition is None else create_type(key, definition, self._load)
        return self._types.setdefault(kind, custom)

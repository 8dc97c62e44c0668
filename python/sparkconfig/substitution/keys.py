"""Which other keys a value refers to: what has to travel with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution.builtin import BUILTIN_TYPES, KEY_VALUE
from sparkconfig.substitution.scanner import Command, Segment

__all__ = ["Named", "named"]


class Named(NamedTuple):
    """Keys that a text names, and whether it may ask for keys that only the evaluation knows."""

    keys: frozenset[str]
    open_ended: bool


def named(segments: Iterable[Segment]) -> Named:
    """Return the keys that the substitutions of a text name, and whether that may be all.

    These are the identifiers of ``keyValue`` and of everything with ``fromValueOfKey``, and each ``defaultKey``, needed
    or not. Which key the value of ``k`` names in ``$[keyValue/fromValueOfKey/=k]``, and what a custom type asks for,
    only the evaluation knows.
    """
    keys: set[str] = set()
    open_ended = False
    for segment in segments:
        if not isinstance(segment, Command):
            continue
        open_ended = open_ended or segment.type not in BUILTIN_TYPES
        try:
            modifiers = segment.read()
        except SubstitutionError:
            continue  # its evaluation fails before it asks for a key
        if modifiers.default_key is not None:
            keys.add(modifiers.default_key)
        if segment.type == KEY_VALUE or modifiers.from_value_of_key:
            keys.add(segment.identifier)
            open_ended = open_ended or (segment.type == KEY_VALUE and modifiers.from_value_of_key)
    return Named(frozenset(keys), open_ended)

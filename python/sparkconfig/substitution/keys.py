"""Which other keys a value refers to: what has to travel with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sparkconfig.errors import SubstitutionError
from sparkconfig.secret import Secret
from sparkconfig.substitution.builtin import BUILTIN_TYPES, KEY_VALUE
from sparkconfig.substitution.scanner import Command, Segment, iter_segments

__all__ = ["Named", "named", "referenced_keys", "sibling_texts"]


class Named(NamedTuple):
    """Keys that a text names, and whether it may ask for keys that only the evaluation knows."""

    keys: frozenset[str]
    open_ended: bool


def referenced_keys(text: str) -> frozenset[str]:
    """Return the keys that the substitutions of ``text`` name.

    These are the identifiers of ``keyValue`` and of everything with ``fromValueOfKey``, and each
    ``defaultKey``, needed or not. ``$[keyValue/fromValueOfKey/=k]`` names ``k``; which key ``k``'s value
    names, and what a custom type asks for, only the evaluation knows: see :func:`sibling_texts`.
    """
    return named(iter_segments(text)).keys


def sibling_texts(text: str, values: Mapping[str, object]) -> dict[str, object]:
    """Return the part of ``values`` that evaluating ``text`` may ask for, through any number of keys.

    It is the whole of ``values`` if one of the texts may ask for keys that cannot be known beforehand (an
    indirect ``keyValue``, or a type that is not built in).
    """
    kept: dict[str, object] = {}
    waiting = [text]
    while waiting:
        found = named(iter_segments(waiting.pop()))
        if found.open_ended:
            return dict(values)
        for key in found.keys:
            if key not in kept and values.get(key) is not None:
                kept[key] = raw = values[key]
                if isinstance(raw, str | Secret):
                    waiting.append(raw.reveal() if isinstance(raw, Secret) else raw)
    return kept


def named(segments: Iterable[Segment]) -> Named:
    """Return what :func:`referenced_keys` returns for the text of ``segments``, and whether that may be all."""
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

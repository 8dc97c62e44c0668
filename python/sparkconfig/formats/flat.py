"""Nested data as a flat mapping: fields by dotted name, numbers as they were written."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sparkconfig.errors import ProviderError

__all__ = ["flatten", "json_fields", "parsed_json"]


class _Number(str):
    """A JSON number, kept as it was written: a configured 1e400 or 0.10 is a text."""

    __slots__ = ()


def parsed_json(text: str) -> object:
    """Return what JSON text holds; numbers are texts, as they were written.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)


def json_fields(text: str, where: str) -> dict[str, str]:
    """Return the fields of the JSON object ``text`` by dotted name; see :func:`flatten`.

    Raises:
        ProviderError: ``text`` is not a JSON object, or two fields have the same dotted name; names ``where``.
    """
    problem = "is not a JSON object"
    try:
        parsed = parsed_json(text)
        if isinstance(parsed, dict):
            return flatten(parsed, where)
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:
        pass
    raise ProviderError(f"{where} {problem}")


def flatten(fields: Mapping[str, object], where: str) -> dict[str, str]:
    """Return leaves by dotted name: ``{"db": {"ports": [1]}}`` becomes ``db.ports.0``; a null is not a value.

    Numbers that came through :func:`json_fields` keep their spelling; booleans are ``true`` and ``false``.

    Raises:
        ProviderError: two leaves have the same dotted name.
    """
    found: dict[str, str] = {}
    pending: list[tuple[str, object]] = [(str(name), value) for name, value in fields.items()]
    while pending:
        name, value = pending.pop()
        if isinstance(value, Mapping):
            pending += [(f"{name}.{inner}", each) for inner, each in value.items()]
        elif isinstance(value, list):
            pending += [(f"{name}.{index}", each) for index, each in enumerate(value)]
        elif value is not None:
            if name in found:
                raise ProviderError(f"{where}: two fields are called {name!r}")
            found[name] = _leaf(value)
    return found


def _leaf(value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value) if isinstance(value, _Number) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value)

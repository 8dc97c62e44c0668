"""Structured secrets: fields of JSON objects as keys, bytes as text."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import json
from collections.abc import Collection, Mapping, Set
from fnmatch import fnmatchcase

from sparkconfig.errors import ProviderError
from sparkconfig.providers._params import Param

__all__ = ["BASE64_KEYS", "STRUCTURED", "as_base64", "flatten", "json_fields", "pick", "text_of"]


STRUCTURED = Param(
    "json.fields",
    "whether a value may be a JSON object whose fields are keys, too: `db.password` is the field `password` of"
    " the value `db`, if there is no key `db.password`",
    default="false",
    choices=("true", "false"),
)
"""For providers whose values may be structured: see :func:`pick`."""

BASE64_KEYS = Param("base64.keys", "glob patterns, comma-separated, of binary keys: they are given as base64")
"""For providers whose values may be bytes: see :func:`text_of`."""


class _Number(str):
    """A JSON number, kept as it was written: 1e400 and 0.10 are texts to whoever configured them."""

    __slots__ = ()


def json_fields(text: str, where: str) -> dict[str, str]:
    """Return the fields of the JSON object ``text`` by dotted name; see :func:`flatten`.

    Raises:
        ProviderError: ``text`` is no JSON object, or two fields have the same dotted name; names ``where``.
    """
    problem = "is not a JSON object"
    try:
        parsed = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
        if isinstance(parsed, dict):
            return flatten(parsed, where)
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:
        pass
    raise ProviderError(f"{where} {problem}")


def flatten(fields: Mapping[str, object], where: str) -> dict[str, str]:
    """Return leaves by dotted name: ``{"db": {"ports": [1]}}`` gives ``db.ports.0``; a null is no value.

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


def pick(data: Mapping[str, str], keys: Set[str] | None, where: str) -> dict[str, str]:
    """Return ``data`` and the JSON fields that ``keys`` name: ``a.b`` is field ``b`` of the value ``a``.

    A key of ``data`` itself wins over a field, a longer name over a shorter one. With no ``keys`` the fields of
    every value that is a JSON object are added.

    Raises:
        ProviderError: a key names a field of a value that is no JSON object; names ``where`` and the key.
    """
    found = dict(data)
    parsed: dict[str, dict[str, str]] = {}
    if keys is None:
        for name, text in data.items():
            with contextlib.suppress(ProviderError):
                found = {f"{name}.{field}": value for field, value in json_fields(text, name).items()} | found
        return found
    for key in keys - data.keys():
        name = key
        while "." in name:
            name = name.rpartition(".")[0]
            if name in data:
                if name not in parsed:
                    parsed[name] = json_fields(data[name], f"{where}: the value of {name!r}")
                value = parsed[name].get(key[len(name) + 1 :])
                if value is not None:
                    found[key] = value
                break
    return found


def _leaf(value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value) if isinstance(value, _Number) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date | dt.time):  # TOML has dates
        return value.isoformat()
    return json.dumps(value)


def text_of(raw: bytes, key: str, base64_keys: Collection[str], where: str) -> str:
    """Return bytes as text: base64 when ``key`` matches one of the glob patterns, else UTF-8.

    Guessing would make a value's form depend on its content, so bytes that are no UTF-8 are an error.

    Raises:
        ProviderError: the bytes are no UTF-8 text; says which param to set.
    """
    if as_base64(key, base64_keys):
        return base64.b64encode(raw).decode("ascii")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise ProviderError(f"{where}: {key!r} is binary; name it in the param base64.keys to get it as base64")


def as_base64(key: str, base64_keys: Collection[str]) -> bool:
    """Whether ``key`` matches one of the glob patterns."""
    return any(fnmatchcase(key, pattern) for pattern in base64_keys)

"""Structured secrets: fields of JSON objects as keys, bytes as text."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Collection, Mapping, Set
from fnmatch import fnmatchcase

from sparkconfig.errors import ProviderError
from sparkconfig.formats.flat import json_fields
from sparkconfig.providers._kit.params import Param

__all__ = ["BASE64_KEYS", "STRUCTURED", "as_base64", "pick", "text_of"]


STRUCTURED = Param(
    "json.fields",
    "whether a value may be a JSON object with fields as keys: `db.password` is the field `password` of"
    " the value `db`, unless a key `db.password` exists",
    default="false",
    choices=("true", "false"),
)
"""For providers whose values may be structured: see :func:`pick`."""

BASE64_KEYS = Param("base64.keys", "glob patterns, comma-separated, of binary keys, which you get in base64")
"""For providers whose values may be bytes: see :func:`text_of`."""


def pick(data: Mapping[str, str], keys: Set[str] | None, where: str) -> dict[str, str]:
    """Return ``data`` and the JSON fields that ``keys`` name: ``a.b`` is field ``b`` of the value ``a``.

    A key of ``data`` itself wins over a field, a longer name over a shorter one. With no ``keys`` the fields of
    every value that is a JSON object are added.

    Raises:
        ProviderError: a key names a field of a value that is not a JSON object; names ``where`` and the key.
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


def text_of(raw: bytes, key: str, base64_keys: Collection[str], where: str) -> str:
    """Return bytes as text: base64 when ``key`` matches one of the glob patterns, else UTF-8.

    Guessing would make a value's form depend on its content, so bytes that are not UTF-8 are an error.

    Raises:
        ProviderError: the bytes are not UTF-8 text; says which param to set.
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

"""The text of a sealed file: JSON, versioned, names in clear. No cryptography here, only form.

::

    {
      "format": "sparkconfig-sealed",
      "version": 1,
      "key": {"id": "…", "salt": "…"},
      "entries": {"shop": {"password": "nonce and ciphertext, base64"}},
      "mac": "over all of the above, base64"
    }

What is read here is not trusted: sizes are bounded, every type is checked, and unknown or repeated names are errors.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from sparkconfig.errors import ConfigurationError
from sparkconfig.sealed.failures import MalformedFileError, UnknownVersionError
from sparkconfig.sealed.names import EntryName

__all__ = ["FORMAT", "VERSION", "Document", "Header", "decode", "encode"]

FORMAT = "sparkconfig-sealed"
VERSION = 1
SALT_BYTES = 16
_KEY_ID = re.compile(r"[0-9a-f]{16}")
_SHORTEST_BLOB = 12 + 16  # nonce and tag


@dataclass(frozen=True)
class Header:
    """How the file's keys are made.

    Attributes:
        key_id: which key seals it, as hexadecimal text; says nothing about the key itself.
        salt: 16 random bytes, new with every key: the keys of two files differ even if their key file does not.
    """

    key_id: str
    salt: bytes


@dataclass(frozen=True)
class Document:
    """A sealed file as it is written.

    Attributes:
        header: how its keys are made.
        entries: nonce, ciphertext and tag of each value.
        mac: authenticates header and entries as a whole.
    """

    header: Header
    entries: Mapping[EntryName, bytes] = field(repr=False)
    mac: bytes = field(repr=False)


def encode(document: Document) -> bytes:
    """Return the text of a document; the same document always has the same bytes, one line for each value."""
    header = document.header
    key = {"id": header.key_id, "salt": _text(header.salt)}
    sections: dict[str, dict[str, str]] = {}
    for name, blob in sorted(document.entries.items()):
        sections.setdefault(name.section, {})[name.key] = _text(blob)
    content = {
        "format": FORMAT, "version": VERSION, "key": key, "entries": sections, "mac": _text(document.mac),
    }  # fmt: skip
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8")


def decode(raw: bytes) -> Document:
    """Read the text of a document; nothing in it is authenticated yet.

    Raises:
        MalformedFileError: it is not a sealed file.
        UnknownVersionError: it is one, of a version that is not known here.
    """
    try:
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError):
        problem = "it is not JSON text, or was cut off"
    else:
        return _document(content)
    raise MalformedFileError(problem)


def _document(content: object) -> Document:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise MalformedFileError(f'it does not say "format": "{FORMAT}"')
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        raise UnknownVersionError(f"its version is not {VERSION}; a newer sparkconfig may read it")
    parts = _members(content, "the file", {"format", "version", "key", "entries", "mac"})
    return Document(
        _header(parts["key"]), _entries(parts["entries"]), _bytes(parts["mac"], "mac", exactly=32)
    )


def _header(content: object) -> Header:
    if "scrypt" in _dict(content, "key"):
        raise MalformedFileError(
            "it is sealed with a passphrase; seal its values again with a key (--key-file or --key-env)"
        )
    key = _members(content, "key", {"id", "salt"})
    # Messages name the key, so nothing else may stand there: a terminal would follow its escapes.
    if not isinstance(key["id"], str) or _KEY_ID.fullmatch(key["id"]) is None:
        raise MalformedFileError("its key.id is not 16 hexadecimal digits")
    return Header(key["id"], _bytes(key["salt"], "key.salt", exactly=SALT_BYTES))


def _entries(content: object) -> dict[EntryName, bytes]:
    entries: dict[EntryName, bytes] = {}
    for section, keys in _dict(content, "entries").items():
        for key, blob in _dict(keys, "a section of entries").items():
            name = EntryName(section, key)
            try:
                name.check()
            except ConfigurationError as error:
                raise MalformedFileError(str(error)) from None
            entries[name] = _bytes(blob, f"entry '{name}'")
    return entries


def _dict(content: object, what: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise MalformedFileError(f"{what} is not a JSON object")
    return content


def _members(content: object, what: str, required: Set[str]) -> dict[str, Any]:
    members = _dict(content, what)
    if members.keys() != required:
        raise MalformedFileError(f"{what} needs exactly the members {', '.join(sorted(required))}")
    return members


def _bytes(text: object, what: str, exactly: int | None = None) -> bytes:
    raw = b""
    if isinstance(text, str):
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
    if len(raw) != exactly if exactly is not None else len(raw) < _SHORTEST_BLOB:
        raise MalformedFileError(f"its {what} is cut off, or is not base64 text")
    return raw


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Parsers differ in which of two equal names wins, so there may be none."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedFileError("a name occurs in it twice")
    return members

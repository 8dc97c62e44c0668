"""Changes of a sealed file: each is one atomic replacement, made under a lock."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sparkconfig.errors import ConfigurationError
from sparkconfig.sealed import files
from sparkconfig.sealed.crypto import FileKeys
from sparkconfig.sealed.document import SALT_BYTES, Document, Header, encode
from sparkconfig.sealed.failures import EntryNotFoundError
from sparkconfig.sealed.keys import KeySource
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import OpenedFile, load

__all__ = ["create", "put", "remove", "reseal"]

_LONGEST_VALUE = 1 << 20


def create(path: Path, source: KeySource) -> str:
    """Make an empty sealed file and return the id of its key.

    Raises:
        ConfigurationError: the file exists.
        SealedFileError: the key is missing or unusable, or the file cannot be written.
    """
    header, keys = _fresh(source)
    with files.locked(path):
        files.replace(path, _text(header, keys, {}), new=True)
    return header.key_id


def put(
    path: Path, source: KeySource, values: Mapping[EntryName, str], *, keep: bool = False
) -> list[EntryName]:
    """Seal values, in one step for all of them; return the names that were there before.

    Args:
        path: the file.
        source: its key.
        values: by name.
        keep: refuse to replace a value by another one.

    Raises:
        ConfigurationError: a name that no reference could spell, a value that is not UTF-8 text, or ``keep`` and a
            name has another value by now.
        SealedFileError: see ``failures``.
    """
    for name, value in values.items():
        name.check()
        _check_value(name, value)

    def changed(opened: OpenedFile, keys: FileKeys) -> dict[EntryName, bytes]:
        there = values.keys() & opened.document.entries.keys() if keep else ()
        taken = sorted(str(name) for name in there if opened.value(name) != values[name])
        if taken:
            raise ConfigurationError(
                f"{path} has another value for {', '.join(taken)} by now; run this again"
            )
        return {**opened.document.entries, **{name: keys.seal(name, value) for name, value in values.items()}}

    before = _edit(path, source, changed)
    return [name for name in values if name in before.document.entries]


def remove(path: Path, source: KeySource, names: Iterable[EntryName]) -> None:
    """Remove entries, all or none.

    Raises:
        EntryNotFoundError: there is no such entry.
        SealedFileError: see ``failures``.
    """
    gone = set(names)

    def changed(opened: OpenedFile, _: FileKeys) -> dict[EntryName, bytes]:
        missing = sorted(gone - opened.document.entries.keys())
        if missing:
            raise EntryNotFoundError(
                f"sealed file {path} has no entry {', '.join(f'{m!s}' for m in missing)}"
            )
        return {name: blob for name, blob in opened.document.entries.items() if name not in gone}

    _edit(path, source, changed)


def reseal(path: Path, source: KeySource, new: KeySource) -> tuple[str, str]:
    """Encrypt every value again, with the key that ``new`` uses for new files, under a new salt.

    Args:
        path: the file.
        source: opens it.
        new: seals it; may be the same source, once that has a newer key.

    Returns:
        The ids of the old key and of the new one.

    Raises:
        SealedFileError: see ``failures``.
    """
    with files.locked(path):
        opened = load(path, source)
        header, keys = _fresh(new)
        entries = {name: keys.seal(name, opened.value(name)) for name in opened.names()}
        files.replace(path, _text(header, keys, entries))
    return opened.document.header.key_id, header.key_id


def _edit(
    path: Path, source: KeySource, change: Callable[[OpenedFile, FileKeys], dict[EntryName, bytes]]
) -> OpenedFile:
    with files.locked(path):
        opened = load(path, source)
        header = opened.document.header
        keys = FileKeys(source.key_for(header), header)
        files.replace(path, _text(header, keys, change(opened, keys)))
    return opened


def _fresh(source: KeySource) -> tuple[Header, FileKeys]:
    key, header = source.new_header(secrets.token_bytes(SALT_BYTES))
    return header, FileKeys(key, header)


def _text(header: Header, keys: FileKeys, entries: Mapping[EntryName, bytes]) -> bytes:
    return encode(Document(header, entries, keys.mac(entries)))


def _check_value(name: EntryName, value: str) -> None:
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        size = -1
    if size < 0:
        raise ConfigurationError(
            f"the value for '{name}' is not UTF-8 text; encode it, for example as base64"
        )
    if size > _LONGEST_VALUE:
        raise ConfigurationError(f"the value for '{name}' is longer than {_LONGEST_VALUE >> 20} MiB")

"""One authenticated state of a sealed file, and a reader that keeps it until the file changes."""

from __future__ import annotations

import dataclasses
import hmac
import threading
import time
from collections.abc import Mapping, Set
from pathlib import Path

from sparkconfig.errors import SealedFileError
from sparkconfig.sealed import files
from sparkconfig.sealed.crypto import FileKeys, key_id
from sparkconfig.sealed.document import Document, decode
from sparkconfig.sealed.failures import EntryNotFoundError, TouchedFileError, WrongKeyError
from sparkconfig.sealed.keys import KeySource
from sparkconfig.sealed.names import EntryName

__all__ = ["OpenedFile", "SealedReader", "load", "names_in"]

_SETTLED_NS = 100_000_000
"""Nanoseconds after which two writes cannot have the same time stamp on any usual file system."""


class OpenedFile:
    """What was in the file at one moment: authenticated as a whole, decrypted value by value."""

    def __init__(self, document: Document, keys: FileKeys, stamp: files.Stamp) -> None:
        self.document = document
        self.stamp = stamp
        self._keys = keys

    def names(self) -> list[EntryName]:
        """Return all names, sorted."""
        return sorted(self.document.entries)

    def value(self, name: EntryName) -> str:
        """Return one value.

        Raises:
            EntryNotFoundError: there is no such entry.
        """
        if name not in self.document.entries:
            raise EntryNotFoundError(f"it has no entry '{name}'")
        return self._keys.open(name, self.document.entries[name])

    def section(self, section: str, keys: Set[str] | None = None) -> dict[str, str]:
        """Return the values of a section, those of ``keys`` or all; a key that is not there is left out.

        Raises:
            EntryNotFoundError: there is no such section.
        """
        found = [name for name in self.document.entries if name.section == section]
        if not found:
            raise EntryNotFoundError(f"it has no section '{section}'")
        return {name.key: self.value(name) for name in found if keys is None or name.key in keys}


def load(path: Path, source: KeySource) -> OpenedFile:
    """Read and authenticate a sealed file.

    Raises:
        SealedFileError: one of the kinds in ``failures``; the message begins with the file's name.
    """
    files.sweep(path)
    raw, stamp = files.read(path)
    try:
        try:
            return _opened(raw, stamp, source)
        except WrongKeyError:
            again, stamp = files.read(path)
            if again == raw:
                raise
            # A rotation ended between our reads of the file and of the key.
            return _opened(again, stamp, source)
    except SealedFileError as error:
        raise type(error)(f"sealed file {path}: {error}") from None


def names_in(path: Path) -> tuple[str, list[EntryName]]:
    """Return the key id and the names in a file without its key: what it says, not authenticated.

    Raises:
        SealedFileError: the file is absent, unreadable or malformed.
    """
    raw, _ = files.read(path)
    try:
        document = decode(raw)
    except SealedFileError as error:
        raise type(error)(f"sealed file {path}: {error}") from None
    return document.header.key_id, sorted(document.entries)


class SealedReader:
    """Gives the current state of a sealed file; reads it again when it, or the source of its key, changed.

    Thread-safe. Keeps ciphertexts and the file's keys, and no values.
    """

    def __init__(self, path: Path, source: KeySource) -> None:
        self._path = path
        self._source = source
        self._lock = threading.Lock()
        self._held: tuple[OpenedFile, files.Stamp | None] | None = None

    def current(self) -> OpenedFile:
        """Return the state of now; what it holds belongs together, also if the file is replaced meanwhile.

        Raises:
            SealedFileError: as :func:`load`.
        """
        with self._lock:
            stamps = files.stamp(self._path), self._source.stamp()
            if self._held is None or (self._held[0].stamp, self._held[1]) != stamps:
                self._held = None  # the old state ended, even if this fails
                read_at = time.time_ns()
                opened = load(self._path, self._source)
                if read_at - opened.stamp.ctime_ns < _SETTLED_NS:
                    return opened  # too young: a second write may leave the same stamp
                self._held = (opened, stamps[1])
            return self._held[0]


def _opened(raw: bytes, stamp: files.Stamp, source: KeySource) -> OpenedFile:
    document = decode(raw)
    try:
        key = source.key_for(document.header)
    except WrongKeyError:
        if not _fits_under_its_own_id(document, source):
            raise
        raise TouchedFileError("its key id was changed, while the key fits") from None
    keys = FileKeys(key, document.header)
    if not hmac.compare_digest(keys.mac(document.entries), document.mac):
        raise TouchedFileError(_what_was_touched(keys, document.entries))
    return OpenedFile(document, keys, stamp)


def _fits_under_its_own_id(document: Document, source: KeySource) -> bool:
    """Tell a changed key id from a wrong key."""
    for key in source.candidates(document.header):
        header = dataclasses.replace(document.header, key_id=key_id(key))
        if hmac.compare_digest(FileKeys(key, header).mac(document.entries), document.mac):
            return True
    return False


def _what_was_touched(keys: FileKeys, entries: Mapping[EntryName, bytes]) -> str:
    problems: list[str] = []
    for name, blob in sorted(entries.items()):
        try:
            keys.open(name, blob)
        except TouchedFileError as error:
            problems.append(str(error))
    if problems and len(problems) < max(2, len(entries)):
        return "; ".join(problems)
    if problems:
        return "its salt or all of its entries were changed, while the key fits"
    return "entries were removed, added or put back from an older file, or its header was changed"

"""Where the key of a sealed file comes from: a key file, or an environment variable."""

from __future__ import annotations

import base64
import binascii
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from sparkconfig.errors import SealedFileError
from sparkconfig.sealed import crypto, files
from sparkconfig.sealed.document import Header
from sparkconfig.sealed.failures import (
    FileAccessError,
    FileMissingError,
    KeyMissingError,
    KeyUnusableError,
    WrongKeyError,
)

__all__ = ["EnvKey", "KeyFile", "KeySource"]


class KeySource(ABC):
    """Random keys, written as text: base64 of 32 bytes each, the newest first.

    Older keys stay behind the newest one while files that they seal are in use: a rotation adds the new key
    first and then seals the files again, so that at every moment a reader finds the key it needs.
    """

    @abstractmethod
    def keys(self) -> list[bytes]:
        """Return all keys, the newest first, at least one.

        Raises:
            KeyMissingError: there is none.
            KeyUnusableError: one is malformed, or others can read it.
        """

    def candidates(self, header: Header) -> list[bytes]:
        """Return all keys, for a file that exists and has this header; errors as :meth:`keys`."""
        del header
        return self.keys()

    def key_for(self, header: Header) -> bytes:
        """Return the key that seals a file with this header.

        Raises:
            WrongKeyError: there are keys, and none has the header's id.
        """
        keys = {crypto.key_id(key): key for key in self.candidates(header)}
        if header.key_id not in keys:
            raise WrongKeyError(
                f"it is sealed with key {header.key_id}, but the {self} holds {', '.join(keys)}"
            )
        return keys[header.key_id]

    def new_header(self, salt: bytes) -> tuple[bytes, Header]:
        """Return the newest key, and the header of a file that it is going to seal."""
        key = self.keys()[0]
        return key, Header(crypto.key_id(key), salt)

    def stamp(self) -> files.Stamp | None:
        """Return what changes with the source, so that a reader knows when to ask again."""
        return None

    @abstractmethod
    def __str__(self) -> str:
        """Name the source in messages."""


class KeyFile(KeySource):
    """A file with permissions 0600, one key a line; ``#`` starts a comment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        files.sweep(path)  # by any command that names it: a second name of a key is a key that nothing guards

    def keys(self) -> list[bytes]:
        """Return all keys, the newest first, at least one."""
        try:
            raw, _ = files.read(self.path, private=True)
        except FileMissingError:
            missing = f"the {self} does not exist; 'sparkconfig seal new-key' creates one"
        except FileAccessError as error:
            raise KeyUnusableError(f"the key file {error}") from None
        else:
            return _decode(raw.decode("utf-8", "replace"), str(self))
        raise KeyMissingError(missing)

    def candidates(self, header: Header) -> list[bytes]:
        """Return all keys; if there is no key file, a new one would not open a file that exists."""
        try:
            return self.keys()
        except KeyMissingError:
            missing = (
                f"the {self} does not exist; copy the one that holds key {header.key_id} there, since no other key"
                " opens this file. If it is lost, so are the values: seal them into a new file"
            )
        raise KeyMissingError(missing)

    def stamp(self) -> files.Stamp | None:
        """Return the state of the key file, None if it cannot be read."""
        try:
            return files.stamp(self.path)
        except SealedFileError:
            return None

    def create(self) -> str:
        """Write a new key into a new file and return its id.

        Raises:
            ConfigurationError: the file exists.
        """
        key = crypto.new_key()
        with files.locked(self.path):
            files.replace(self.path, _encode([key]), new=True)
        return crypto.key_id(key)

    def add(self) -> str:
        """Put a new key before the others and return its id."""
        key = crypto.new_key()
        with files.locked(self.path):
            files.replace(self.path, _encode([key, *self.keys()]), mode=0o600)
        return crypto.key_id(key)

    def drop_older(self) -> list[str]:
        """Remove all keys but the newest and return their ids; files that they seal can no longer be read."""
        with files.locked(self.path):
            newest, *older = self.keys()
            if older:
                files.replace(self.path, _encode([newest]), mode=0o600)
        return [crypto.key_id(key) for key in older]

    def __str__(self) -> str:
        return f"key file {self.path}"


class EnvKey(KeySource):
    """Keys in an environment variable, separated by blanks, commas or line ends.

    Args:
        variable: its name.
        environ: where it is looked up, this process's environment if left out.
        shown: what errors say in place of the name, where a key may have been typed as the name.
    """

    def __init__(
        self, variable: str, environ: Mapping[str, str] | None = None, *, shown: str | None = None
    ) -> None:
        self._variable = variable
        self._environ = os.environ if environ is None else environ
        self._shown = shown or f"environment variable {variable}"

    def keys(self) -> list[bytes]:
        """Return all keys, the newest first, at least one."""
        text = self._environ.get(self._variable, "")
        if not text.strip():
            raise KeyMissingError(f"the {self} is not set")
        return _decode(text.replace(",", "\n"), str(self))

    def __str__(self) -> str:
        return self._shown


def _encode(keys: list[bytes]) -> bytes:
    return b"".join(base64.b64encode(key) + b"\n" for key in keys)


def _decode(text: str, source: str) -> list[bytes]:
    keys: list[bytes] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for word in line.partition("#")[0].split():
            try:
                key = base64.b64decode(word, validate=True)
            except (binascii.Error, ValueError):
                key = b""
            if len(key) != crypto.KEY_BYTES:
                raise KeyUnusableError(
                    f"the {source}, line {number}, is not a key: expected base64 of {crypto.KEY_BYTES} bytes;"
                    " 'sparkconfig seal new-key' creates one"
                )
            keys.append(key)
    if not keys:
        raise KeyUnusableError(f"the {source} holds no key")
    return keys

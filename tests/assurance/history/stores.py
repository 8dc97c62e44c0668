"""The stores of a run and how each changes: a path for each of them, whose two keys always get the same number."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from history.journal import value
from history.paths import WatchedPath
from history.timeline import Rotations
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from support.postgres import PostgresServer, scram_verifier
from support.real_vault import RealVault
from support.rotation import provider_confs, replace_file

FILES = 100_000_000
"""Nanoseconds within which the driver uses a changed file, as docs/rotation.md says."""
HALF_A_SECOND = 500_000_000
"""The same of a file that was deleted, or is empty for a moment."""


class Store(ABC):
    """A path that rotates.

    Attributes:
        name: of the path.
        within: nanoseconds within which the driver uses a change.
        gone: the same of a removal.
        other: whether another application reads it, too.
    """

    name: ClassVar[str]
    within: int = FILES
    gone: int = HALF_A_SECOND
    other: bool = True

    def __init__(self, number: int, rotations: Rotations) -> None:
        self.number = number
        self.newest = -1
        self._rotations = rotations

    def rotate(self) -> None:
        """Give both keys the next number; one that could not be written is left out."""
        number = self.newest + 1
        self.newest = number
        with self._rotations.rotation(self.number, number):
            self.write(number)

    def remove(self) -> None:
        """Take the value away, as a rotation of its own."""
        self.newest += 1
        with self._rotations.rotation(self.number, self.newest, gone=True):
            self.revoke()

    @abstractmethod
    def write(self, number: int) -> None:
        """Write both keys."""

    def revoke(self) -> None:
        """Have the store say "not found" or "not allowed"."""
        raise NotImplementedError

    @abstractmethod
    def confs(self) -> Mapping[str, str]:
        """Of its provider, whose name is that of the path."""

    @abstractmethod
    def path(self) -> WatchedPath:
        """Its references."""

    def _watched(
        self, path: str, user: str = "user", password: str = "password", url: str = ""
    ) -> WatchedPath:
        prefix = f"${{{self.name}:{path}"
        return WatchedPath(self.number, self.name, f"{prefix}:{user}}}", f"{prefix}:{password}}}", url)


def _lines(number: int) -> str:
    return f"user={value('u', number)}\npassword={value('p', number)}\n"


class RenamedFile(Store):
    """A file that another one takes the place of."""

    name = "renamed"

    def __init__(self, number: int, rotations: Rotations, folder: Path) -> None:
        super().__init__(number, rotations)
        self.folder = folder / self.name
        self.folder.mkdir()
        self.file = self.folder / "shop.properties"
        self.padding = ""

    def write(self, number: int) -> None:
        replace_file(self.file, _lines(number) + self.padding)

    def revoke(self) -> None:
        self.file.unlink()

    def forbid(self) -> None:
        """Take the permission to read it, as a rotation of its own."""
        self.newest += 1
        with self._rotations.rotation(self.number, self.newest, gone=True):
            self.file.chmod(0)

    def confs(self) -> Mapping[str, str]:
        return provider_confs(self.name, "file", {})

    def path(self) -> WatchedPath:
        return self._watched(str(self.file))


class FileInPlace(RenamedFile):
    """A file that is written where it is, so that it is empty for a moment."""

    name = "in-place"
    within = HALF_A_SECOND

    def write(self, number: int) -> None:
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, _lines(number).encode())
        finally:
            os.close(descriptor)


class LinkedFile(RenamedFile):
    """A file in a folder to which a link leads, and the link is replaced."""

    name = "link"

    def __init__(self, number: int, rotations: Rotations, folder: Path) -> None:
        super().__init__(number, rotations, folder)
        self.link = self.folder / "current"
        self.file = self.link / "shop.properties"

    def write(self, number: int) -> None:
        self._fill(self._new_folder(number))
        self._swap(number)

    def revoke(self) -> None:
        self.link.unlink()

    def _new_folder(self, number: int) -> Path:
        made = self.folder / f"v{number}"
        made.mkdir()
        self._number = number
        return made

    def _fill(self, made: Path) -> None:
        (made / "shop.properties").write_text(_lines(self._number))

    def _swap(self, number: int) -> None:
        partial = self.folder / "partial"
        partial.symlink_to(f"v{number}")
        partial.rename(self.link)
        shutil.rmtree(self.folder / f"v{number - 3}", ignore_errors=True)


class Directory(LinkedFile):
    """A mounted Secret: a file for each key, behind kubelet's link."""

    name = "directory"

    def __init__(self, number: int, rotations: Rotations, folder: Path) -> None:
        super().__init__(number, rotations, folder)
        self.link = self.folder / "..data"
        for key in ("user", "password"):
            (self.folder / key).symlink_to(f"..data/{key}")

    def _fill(self, made: Path) -> None:
        for key in ("user", "password"):
            (made / key).write_text(value(key[0], self._number))

    def confs(self) -> Mapping[str, str]:
        return provider_confs(self.name, "directory", {})

    def path(self) -> WatchedPath:
        return self._watched(str(self.folder))


class SealedFile(RenamedFile):
    """A sealed file, written by the same code as ``sparkconfig seal set``."""

    name = "sealed"

    def __init__(self, number: int, rotations: Rotations, folder: Path) -> None:
        super().__init__(number, rotations, folder)
        self.file = self.folder / "shop.sealed"
        self._key = KeyFile(self.folder / "shop.key")
        self._key.create()
        editor.create(self.file, self._key)

    def write(self, number: int) -> None:
        keys = {"user": value("u", number), "password": value("p", number)}
        editor.put(self.file, self._key, {EntryName("shop", key): text for key, text in keys.items()})

    def revoke(self) -> None:
        editor.remove(self.file, self._key, [EntryName("shop", key) for key in ("user", "password")])

    def confs(self) -> Mapping[str, str]:
        params = {"file": str(self.file), "key.file": str(self.folder / "shop.key")}
        return provider_confs(self.name, "sealed", params)

    def path(self) -> WatchedPath:
        return self._watched("shop")


class Logins(RenamedFile):
    """A file with a role of a PostgreSQL and its password; each rotation makes a role."""

    name = "logins"
    _KEPT = 40
    """Rotations after which a role ends: those that were held up by a fault can still log in."""

    def __init__(
        self, number: int, rotations: Rotations, folder: Path, postgres: PostgresServer, address: str
    ) -> None:
        super().__init__(number, rotations, folder)
        self._postgres = postgres
        self._address = address
        postgres.create_orders("history", 100)

    def write(self, number: int) -> None:
        make = f"CREATE ROLE \"{value('u', number)}\" LOGIN PASSWORD '{scram_verifier(value('p', number))}'"
        old = value("u", number - self._KEPT) if number >= self._KEPT else "no-role-yet"
        self._postgres.sql(f'DROP ROLE IF EXISTS "{old}"; {make}')
        super().write(number)

    def revoke(self) -> None:
        raise NotImplementedError

    def path(self) -> WatchedPath:
        return self._watched(str(self.file), url=f"postgresql://{self._address}/history")


class KeyValue(Store):
    """A path of OpenBao's key/value engine, read through a proxy with faults.

    Args:
        poll: milliseconds between two reads of it.
    """

    name = "kv"

    def __init__(
        self, number: int, rotations: Rotations, vault: RealVault, address: str, token: Path, poll: int
    ) -> None:
        super().__init__(number, rotations)
        self._vault, self._address, self._token = vault, address, token
        # Three quarters of a ttl, plus a tenth, are less than the interval; the answer is another file's change.
        self.within = self.gone = poll * 1_100_000 + FILES

    def write(self, number: int) -> None:
        self._vault.put("history", {"user": value("u", number), "password": value("p", number)})

    def revoke(self) -> None:
        self._vault.call("DELETE", f"{self._vault.MOUNTS['kv2']}/data/history")

    def confs(self) -> Mapping[str, str]:
        params = self._vault.params("kv2", **{"address": self._address, "token.file": str(self._token)})
        return provider_confs(self.name, "vault", params)

    def path(self) -> WatchedPath:
        return self._watched("history")

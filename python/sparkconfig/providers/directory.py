"""Directories of one file a key (Kafka: ``DirectoryConfigProvider``): ``${dir:/run/secrets:db-password}``.

Mounted secrets look like this: Kubernetes, Docker, systemd credentials.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import stat
import time
from collections.abc import Mapping, Sequence, Set

from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.fields import BASE64_KEYS, STRUCTURED, as_base64, pick, text_of
from sparkconfig.providers._kit.params import Param, read_params
from sparkconfig.providers._kit.paths import ALLOWED_PATHS_DOC, AllowedPaths, failure, read_file
from sparkconfig.providers._kit.watch import FilePushes
from sparkconfig.providers.base import ConfigData

__all__ = ["DirectoryConfigProvider"]

# Mounts are replaced in moments: a busy machine may meet many of them, one after the other.
_ATTEMPTS = 20
_SECONDS = 1.0
_log = logging.getLogger(__name__)


class DirectoryConfigProvider(Described, FilePushes):
    """Reads the files of one directory; a key is a file's name, and never leads out of the directory.

    All keys of one ``get`` are one generation: if a file, or Kubernetes' ``..data`` link, changes meanwhile,
    the directory is read again. Content that is not UTF-8 gets U+FFFD in its place (Kafka),
    unless ``base64.keys`` names it.
    """

    alias = "directory"
    java = ("DirectoryConfigProvider",)
    store = "directories of mounted secrets"
    table = (
        Param("allowed.paths", ALLOWED_PATHS_DOC),
        Param(
            "strip.newline",
            "whether one line end at the end of a file is left out (Kafka keeps it)",
            default="false",
            choices=("true", "false"),
        ),
        STRUCTURED,
        BASE64_KEYS,
    )
    paths = "path: a directory; key: a file's name"
    auth = "file permissions"

    def __init__(self) -> None:
        super().__init__()
        self._allowed: AllowedPaths | None = None
        self._strip = False
        self._structured = False
        self._base64: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """A read costs microseconds."""
        return True

    def configure(self, params: Mapping[str, str]) -> None:
        """Take the params of ``table``.

        Raises:
            ConfigurationError: a param is unknown or wrong.
        """
        values = read_params(self.alias, self.table, params)
        self._strip = values.text("strip.newline") == "true"
        self._structured = values.text(STRUCTURED.name) == "true"
        self._base64 = values.patterns(BASE64_KEYS.name)
        self._allowed = AllowedPaths(values.optional("allowed.paths"))

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Read the files that ``keys`` name, or all regular files.

        Raises:
            SecretNotFoundError: there is no such directory.
            AccessDeniedError: ``allowed.paths`` or the system forbids it.
            ProviderUnavailableError: it cannot be read, or changes all the time.
            ConfigurationError: the provider is not configured.
        """
        allowed = self._allowed
        if allowed is None:
            raise ConfigurationError("provider directory: get before configure")
        if not path:
            raise SecretNotFoundError(
                "a reference needs a path and a key, as in ${NAME:/path/to/directory:file}"
            )
        directory = allowed.usable(path)
        if directory is None:
            raise AccessDeniedError(f"directory '{shorten(path)}' is not in allowed.paths")
        data = self._read(directory, None if self._structured else keys, allowed)
        if self._structured:
            data = pick(data, keys, f"directory '{shorten(path)}'")
            data = data if keys is None else {key: data[key] for key in keys if key in data}
        return ConfigData(data)

    def _files(self, path: str, keys: Set[str]) -> Sequence[str]:
        """The files of the keys, links followed; where a file's fields are keys, all of the directory's."""
        directory = self._allowed.usable(path) if self._allowed is not None and path else None
        if directory is None:
            return []
        names = sorted(os.listdir(directory)) if self._structured else sorted(keys)  # noqa: PTH208 - texts
        return [f"{directory}/{name}" for name in names]

    def _read(self, directory: str, keys: Set[str] | None, allowed: AllowedPaths) -> dict[str, str]:
        """Read until the directory was the same before and after."""
        began = time.monotonic()
        for attempt in itertools.count(1):
            try:
                before = self._listing(directory, keys, allowed)
                data = {name: self._text(directory, name, allowed) for name in before}
                if self._listing(directory, keys, allowed) == before:
                    return data
            except SecretNotFoundError:  # a file went away between listing and reading
                pass
            except (OSError, ValueError) as error:
                problem = failure(error, directory)
                break
            if attempt >= _ATTEMPTS and time.monotonic() - began > _SECONDS:
                problem = ProviderUnavailableError(f"'{shorten(directory)}' changes while it is read")
                break
            time.sleep(min(attempt, 5) / 1000)
        raise problem

    def _text(self, directory: str, name: str, allowed: AllowedPaths) -> str:
        raw = read_file(f"{directory}/{name}", allowed)
        if as_base64(name, self._base64):
            return text_of(raw, name, self._base64, directory)
        text = raw.decode("utf-8", "replace")
        if self._strip and text.endswith("\n"):
            text = text[:-1].removesuffix("\r")
        return text

    def _listing(
        self, directory: str, keys: Set[str] | None, allowed: AllowedPaths
    ) -> dict[str, tuple[int, ...]]:
        """The regular files, links followed, each with what changes when its content does."""
        descriptor = allowed.open(directory, directory=True)
        try:
            with os.scandir(descriptor) as entries:
                names = [entry.name for entry in entries if keys is None or entry.name in keys]
        finally:
            os.close(descriptor)
        found: dict[str, tuple[int, ...]] = {}
        for name in names:
            file = f"{directory}/{name}"
            try:
                status = os.stat(file)  # noqa: PTH116 - texts throughout
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                    continue  # a link that leads nowhere, or to itself, is not a key
                raise
            if not stat.S_ISREG(status.st_mode):
                continue
            if not allowed.leads_inside(file):
                self._outside(file, asked=keys is not None)
                continue
            found[name] = (
                status.st_dev,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
        return found

    def _outside(self, file: str, *, asked: bool) -> None:
        """A file of the directory is a link that leads out: no key, and an error if it is asked for."""
        problem = f"'{shorten(file)}' leads out of allowed.paths"
        if asked:
            raise AccessDeniedError(problem)
        _log.warning("%s; it is left out", problem)

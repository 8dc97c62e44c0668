"""Sealed files: ``${sealed:shop:password}`` is key ``password`` in section ``shop`` of an encrypted file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SealedFileError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.params import Param, ParamValues, read_params
from sparkconfig.providers._kit.watch import FilePushes
from sparkconfig.providers.base import ConfigData

if TYPE_CHECKING:
    from sparkconfig.sealed.keys import KeySource
    from sparkconfig.sealed.opened import SealedReader

__all__ = ["SealedConfigProvider"]

_KEYS = ("key.file", "key.env")


class SealedConfigProvider(Described, FilePushes):
    """Reads a file that ``sparkconfig seal`` wrote; the path is the section, which may be empty.

    Each :meth:`get` reads one state of the file; a file that was replaced is read again at the next one.
    Values are decrypted for each call and not kept.
    """

    alias = "sealed"
    store = "encrypted files of `sparkconfig seal`"
    table = (
        Param("file", "the sealed file, which `sparkconfig seal` writes; an absolute path", required=True),
        Param(
            "key.file", "file with the key, an absolute path, permissions 0600; this or `key.env` is needed"
        ),
        Param("key.env", "environment variable that holds the key"),
    )
    paths = "path: a section; key: a key in it"
    auth = "a key"

    def __init__(self) -> None:
        super().__init__()
        self._file: Path | None = None
        self._key_files: tuple[str, ...] = ()
        self._reader: SealedReader | None = None

    @property
    def local(self) -> bool:
        """A get costs two stat calls, and decryption of the requested values."""
        return True

    def configure(self, params: Mapping[str, str]) -> None:
        """Take ``file`` and one of ``key.file`` and ``key.env``, and open the file once.

        Raises:
            ConfigurationError: a param is wrong, or the file cannot be opened with this key.
        """
        from sparkconfig.sealed.opened import SealedReader

        values = read_params(self.alias, self.table, params)
        self._file = _path(values, "file")
        key_file = values.optional("key.file")
        self._key_files = () if key_file is None else (key_file,)
        reader = SealedReader(self._file, _source(values))
        try:
            reader.current()
        except SealedFileError as error:
            problem = str(error)
        else:
            self._reader = reader
            return
        raise ConfigurationError(f"provider sealed: {problem}")

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Return values of the section ``path``.

        Raises:
            SecretNotFoundError: there is no such section, or the file is gone.
            AccessDeniedError: the key no longer fits or may not be read, or the file was touched.
            ProviderUnavailableError: the file cannot be read, or is cut off, as while it is copied.
        """
        if self._reader is None:
            raise ConfigurationError("provider sealed: not configured")
        try:
            return ConfigData(self._reader.current().section(path, keys))
        except SealedFileError as error:
            failure = _as_provider_error(error, path)
        raise failure

    def _files(self, path: str, keys: Set[str]) -> Sequence[str]:  # noqa: ARG002 - all sections lie in one file
        return [] if self._file is None else [str(self._file), *self._key_files]

    def close(self) -> None:
        """Forget the key, and end what was subscribed."""
        super().close()
        self._reader = None


def _path(values: ParamValues, name: str) -> Path:
    """Return a param as a path; a relative one would mean another place in each process that reads it."""
    path = Path(values.text(name))
    if not path.is_absolute():
        raise values.wrong(name, "must be an absolute path", str(path))
    return path


def _source(values: ParamValues) -> KeySource:
    """Return where the key comes from.

    Raises:
        ConfigurationError: not exactly one of the two params is set.
    """
    from sparkconfig.sealed.keys import EnvKey, KeyFile

    given = [name for name in _KEYS if values.optional(name) is not None]
    if len(given) != 1:
        what = "none is" if not given else f"set are {', '.join(given)}"
        raise ConfigurationError(f"provider sealed: exactly one of {', '.join(_KEYS)} is needed; {what}")
    text = values.text(given[0])
    if given[0] == "key.file":
        return KeyFile(_path(values, "key.file"))
    return EnvKey(text)


def _as_provider_error(error: SealedFileError, path: str) -> ProviderError:
    """Say which kind of failure it is: only an outage lets the last good value serve on."""
    from sparkconfig.sealed import failures

    text = str(error)
    if isinstance(error, failures.EntryNotFoundError) and not path:
        return SecretNotFoundError("the reference names no section, as in ${NAME:SECTION:KEY}")
    if isinstance(error, failures.EntryNotFoundError):
        return SecretNotFoundError(f"the sealed file has no section '{shorten(path)}'")
    if isinstance(error, failures.FileMissingError):
        return SecretNotFoundError(text)
    if isinstance(error, failures.MalformedFileError | failures.UnknownVersionError):
        return ProviderUnavailableError(text)
    if isinstance(error, failures.FileAccessError) and not isinstance(error, failures.FileForbiddenError):
        return ProviderUnavailableError(text)
    # Wrong key, unusable or missing key, touched bytes, no permission: nothing that time heals.
    return AccessDeniedError(text)

"""Logs in object stores, as pyarrow reads and writes them: ``s3://``, ``gs://`` and ``abfs://``."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any

from sparkconfig.errors import ConfigurationError

__all__ = ["SCHEMES", "ObjectFile", "below"]

SCHEMES = ("s3", "s3a", "gs", "abfs", "abfss")
"""Schemes of addresses; ``s3a`` is Hadoop's name of the first."""
_PARTIAL = ".sparkconfig-scrub"


@dataclass(frozen=True)
class ObjectFile:
    """One object.

    Attributes:
        uri: its address.
    """

    uri: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return PurePosixPath(self.uri).name

    @property
    def suffix(self) -> str:
        """The suffix of the name, as a path has one."""
        return PurePosixPath(self.uri).suffix

    def __str__(self) -> str:
        return self.uri

    @contextlib.contextmanager
    def open(self, mode: str) -> Iterator[IO[bytes]]:
        """Open it for reading.

        Raises:
            OSError: it cannot be read.
        """
        if mode != "rb":
            raise ValueError(mode)
        system, path = _system(self.uri)
        with system.open_input_stream(path, compression=None) as stream:
            yield stream

    def replace(self, write: Callable[[IO[bytes]], None]) -> bool:
        """Put something else in its place, in one step: what is uploaded under another name is copied over it.

        Args:
            write: writes the new content; it holds masks, so that it may pass through a file without a name.

        Returns:
            Whether it was done; False: the object was changed meanwhile.

        Raises:
            OSError: it cannot be read or written.
        """
        system, path = _system(self.uri)
        before = system.get_file_info(path)
        partial = f"{PurePosixPath(path).parent}/.{self.name}{_PARTIAL}"
        with tempfile.TemporaryFile() as local:
            write(local)
            local.seek(0)
            now = system.get_file_info(path)
            if (now.size, now.mtime_ns) != (before.size, before.mtime_ns):
                return False
            try:
                with system.open_output_stream(partial, compression=None) as stream:
                    while chunk := local.read(1 << 22):
                        stream.write(chunk)
                if system.get_file_info(partial).size != local.tell():
                    raise OSError("the upload is not complete")
                system.copy_file(partial, path)
            finally:
                with contextlib.suppress(OSError):
                    system.delete_file(partial)
        return True


def below(uri: str) -> Iterator[tuple[ObjectFile, int, float]]:
    """Return an object, or all below a prefix that are not hidden: each with its size and its time in seconds.

    Raises:
        ConfigurationError: pyarrow is not installed, or cannot serve such addresses.
        OSError: the store cannot be reached, or there is nothing.
    """
    from pyarrow import fs

    system, path = _system(uri)
    info = system.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(2, "No such file or directory", uri)
    found = [info] if info.is_file else system.get_file_info(fs.FileSelector(path, recursive=True))
    scheme = uri.partition("://")[0]
    for each in found:
        parts = PurePosixPath(each.path).relative_to(path).parts
        if each.is_file and not any(part.startswith(".") for part in parts):
            yield ObjectFile(f"{scheme}://{each.path}"), each.size or 0, (each.mtime_ns or 0) / 1e9


def _system(uri: str) -> tuple[Any, str]:
    try:
        from pyarrow import fs
    except ImportError:
        raise ConfigurationError("object stores need pyarrow: pip install pyarrow") from None
    scheme, _, rest = uri.partition("://")
    if scheme == "s3a":
        uri = f"s3://{rest}"
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (ValueError, NotImplementedError):  # its text quotes the address, which may hold a key
        system = None
    if system is None:
        raise ConfigurationError("pyarrow cannot read an address of this kind")
    return system, path.rstrip("/")

"""Compressed logs as streams of bytes: what Spark's codecs write, and what it reads again."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from sparkconfig.errors import ConfigurationError, SparkConfigError

__all__ = ["DamagedLogError", "Reads", "Writes", "codec_of", "reading", "writing"]

_CODECS = {".zstd": "zstd", ".zst": "zstd", ".lz4": "lz4", ".gz": "gzip", ".snappy": "snappy", ".lzf": "lzf"}


class Reads(Protocol):
    """What a log is read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""


class Writes(Protocol):
    """What a log is written to."""

    def write(self, data: bytes, /) -> int:
        """Take ``data``."""


class DamagedLogError(SparkConfigError):
    """A compressed log is cut off or damaged."""


def codec_of(path: Path | str) -> str | None:
    """Return what a file's name says: zstd, lz4, gzip, snappy, lzf; None: not compressed."""
    return _CODECS.get(Path(path).suffix.lower())


@contextmanager
def reading(raw: IO[bytes], codec: str | None) -> Iterator[Reads]:
    """Decompress an open log; what is open stays open.

    Raises:
        ConfigurationError: its codec is not known here, or a package is missing.
        DamagedLogError: while it is read, if it is damaged.
        OSError: it cannot be read.
    """
    if codec is None:
        yield raw
    elif codec == "gzip":
        with gzip.GzipFile(fileobj=raw, mode="rb") as stream:
            yield _Checked(stream)
    elif codec == "zstd":
        unpacker = _zstandard().ZstdDecompressor()
        with unpacker.stream_reader(raw, read_across_frames=True, closefd=False) as stream:
            yield _Checked(stream)
    else:
        raise ConfigurationError(
            f"logs with the codec {codec} cannot be read here: let Spark read them and write them again with zstd"
        )


@contextmanager
def writing(raw: IO[bytes], codec: str | None) -> Iterator[Writes]:
    """Compress into an open file; what is open stays open.

    Raises:
        ConfigurationError: as :func:`reading`.
    """
    if codec is None:
        yield raw
    elif codec == "gzip":
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as stream:
            yield stream
    elif codec == "zstd":
        with (
            _zstandard()
            .ZstdCompressor(level=3, write_checksum=True)
            .stream_writer(raw, closefd=False) as stream
        ):
            yield stream
    else:
        raise ConfigurationError(f"logs with the codec {codec} cannot be written here")


def _zstandard() -> Any:  # noqa: ANN401
    try:
        import zstandard
    except ImportError:
        raise ConfigurationError(
            "zstd needs a package that is not installed: pip install zstandard"
        ) from None
    return zstandard


class _Checked:
    """Errors of a decompressor as one kind, without its text."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401
        self._stream = stream

    def read(self, size: int) -> bytes:
        data: bytes | None = None
        with contextlib.suppress(Exception):  # each library has errors of its own
            data = self._stream.read(size)
        if data is None:
            raise DamagedLogError("it is cut off or damaged")
        return data

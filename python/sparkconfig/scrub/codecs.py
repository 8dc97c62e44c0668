"""Compressed logs as streams of bytes: what Spark's codecs write, and what it reads again."""

from __future__ import annotations

import contextlib
import gzip
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from sparkconfig._base import advice
from sparkconfig.errors import ConfigurationError, SparkConfigError

__all__ = ["DamagedLogError", "Reads", "Writes", "codec_of", "reading", "writing"]

_CODECS = {".zstd": "zstd", ".zst": "zstd", ".lz4": "lz4", ".gz": "gzip", ".snappy": "snappy", ".lzf": "lzf"}
# java.util: net.jpountz.lz4.LZ4BlockOutputStream
_LZ4_MAGIC = b"LZ4Block"
_LZ4_HEADER = struct.Struct("<8sBiiI")
_LZ4_RAW, _LZ4_PACKED = 0x10, 0x20
_LZ4_SEED, _LZ4_MASK = 0x9747B28C, 0x0FFFFFFF
_LZ4_BLOCK = 1 << 15
_LZ4_LEVEL = 5  # the block's size as a power of two, less ten
_LARGEST_BLOCK = 1 << 26


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
    elif codec == "lz4":
        yield io.BufferedReader(_Lz4Reader(raw), 1 << 20)
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
    elif codec == "lz4":
        writer = _Lz4Writer(raw)
        yield writer
        writer.finish()
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


def _lz4() -> tuple[Any, Any]:
    try:
        import lz4.block
        import xxhash
    except ImportError:
        raise ConfigurationError(
            f"lz4 needs packages that are not installed: {advice.install('scrub')}"
        ) from None
    return lz4.block, xxhash.xxh32


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


class _Lz4Reader(io.RawIOBase):
    """The blocks of lz4-java, which are not LZ4 frames."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._block, self._hash = _lz4()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        while not self._rest:
            block = self._next()
            if block is None:
                return 0
            self._rest = block
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _next(self) -> bytes | None:
        """One block, which is empty where one stream ends and another may follow; None: the end."""
        header = self._raw.read(_LZ4_HEADER.size)
        if not header:
            return None
        data: bytes | None = None
        if len(header) == _LZ4_HEADER.size:
            magic, token, packed, plain, checksum = _LZ4_HEADER.unpack(header)
            if magic == _LZ4_MAGIC and 0 <= packed <= _LARGEST_BLOCK and 0 <= plain <= _LARGEST_BLOCK:
                with contextlib.suppress(Exception):  # lz4's own kind
                    data = self._unpacked(self._raw.read(packed), token & 0xF0, plain)
            if data and self._hash(data, seed=_LZ4_SEED).intdigest() & _LZ4_MASK != checksum:
                data = None
        if data is None:
            raise DamagedLogError("it is cut off or damaged")
        return data

    def _unpacked(self, data: bytes, method: int, size: int) -> bytes | None:
        if method == _LZ4_PACKED:
            data = self._block.decompress(data, uncompressed_size=size)
        return bytes(data) if len(data) == size else None


class _Lz4Writer:
    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._block, self._hash = _lz4()
        self._rest = bytearray()

    def write(self, data: bytes) -> int:
        self._rest += data
        while len(self._rest) >= _LZ4_BLOCK:
            self._put(bytes(self._rest[:_LZ4_BLOCK]))
            del self._rest[:_LZ4_BLOCK]
        return len(data)

    def finish(self) -> None:
        if self._rest:
            self._put(bytes(self._rest))
        self._raw.write(_LZ4_HEADER.pack(_LZ4_MAGIC, _LZ4_RAW | _LZ4_LEVEL, 0, 0, 0))

    def _put(self, data: bytes) -> None:
        packed = self._block.compress(data, store_size=False)
        token = _LZ4_PACKED
        if len(packed) >= len(data):
            packed, token = data, _LZ4_RAW
        checksum = self._hash(data, seed=_LZ4_SEED).intdigest() & _LZ4_MASK
        self._raw.write(
            _LZ4_HEADER.pack(_LZ4_MAGIC, token | _LZ4_LEVEL, len(packed), len(data), checksum) + packed
        )

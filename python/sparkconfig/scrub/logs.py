"""Logs on a file system: which there are, and how one is searched and replaced in one step."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
import secrets
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.scrub.codecs import Reads, codec_of, reading, writing
from sparkconfig.scrub.engine import Counts, Engine

__all__ = ["Log", "Result", "blocks", "clean", "find", "logs_in", "still_named"]

_BLOCK = 1 << 20
_LEFT_AFTER = 86_400.0
_LONGEST_LINE = 256 << 20
_CHANGED = "it was changed while it was read; run this again when it is no longer written"
_OPEN = "a program has it open and may write to it; run this again when it has ended"
_NO_LOG, _NO_TEXT, _SEALED = "not a log", "not a text", "a sealed file"
# A mask in place of a ciphertext would destroy what it seals.
_SEALED_BEGINS = re.compile(rb'\s*\{\s*"format"\s*:\s*"sparkconfig-sealed"')
_PARTIAL = ".sparkconfig-scrub"
_OTHER_FORMATS = frozenset(
    {
        ".avro",
        ".class",
        ".crc",
        ".db",
        ".jar",
        ".ldb",
        ".orc",
        ".parquet",
        ".png",
        ".pyc",
        ".sst",
        ".whl",
        ".zip",
    }
)


@dataclass(frozen=True)
class Log:
    """A file to search.

    Attributes:
        path: the file.
        size: bytes, as it is stored.
        skip: why it is not searched; None: it is.
    """

    path: Path
    size: int
    skip: str | None = None


@dataclass
class Result:
    """What became of one log.

    Attributes:
        path: the file.
        size: bytes, as it was stored.
        counts: what was in it.
        changed: whether it was rewritten.
        skip: why it was not searched, or not rewritten; None: it was.
        file: what was rewritten, by device and inode.
        names: how many names (hard links) it had then.
    """

    path: Path
    size: int
    counts: Counts = field(default_factory=Counts)
    changed: bool = False
    skip: str | None = None
    file: tuple[int, int] = (0, 0)
    names: int = 1

    @property
    def unread(self) -> bool:
        """Whether it is a log and could not be searched or rewritten."""
        return self.skip is not None and self.skip not in (_NO_LOG, _NO_TEXT, _SEALED)


def still_named(results: Iterable[Result]) -> list[tuple[Path, int]]:
    """Return the rewritten files whose old content still has other names, hard links, and how many."""
    rewritten: dict[tuple[int, int], list[Result]] = {}
    for each in results:
        if each.changed and each.file != (0, 0):
            rewritten.setdefault(each.file, []).append(each)
    left = [(group[0].path, max(each.names for each in group) - len(group)) for group in rewritten.values()]
    return [(path, count) for path, count in left if count > 0]


def _at(text: str | Path) -> Path:
    """The file that a path or an address names."""
    scheme, found, rest = str(text).partition("://")
    if not found:
        return Path(text)
    if scheme == "file":
        return Path(rest)
    raise ConfigurationError(
        "scrub reads files: copy the logs of an object store or of HDFS to a folder, or run a job as"
        " docs/scrub.md, 'Many logs, object stores and HDFS', shows"
    )


def logs_in(paths: Iterable[str | Path], *, since: float = 0.0) -> list[Log]:
    """Return the logs among ``paths`` and in the folders among them, large ones first.

    Args:
        paths: files and folders; links in folders are not followed.
        since: seconds since 1970; files that were changed before are left out.

    Raises:
        OSError: a path cannot be read.
        ConfigurationError: a path is the address of an object store.
    """
    found: dict[Path, Log] = {}
    for text in paths:
        path = _at(text)
        # What a link names is rewritten, not the link: else the values would stay where it leads.
        files = _below(path) if path.is_dir() else [Path(os.path.realpath(path))]
        for file in files:
            status = file.stat()
            if status.st_mtime >= since:
                found[file] = Log(file, status.st_size, _why_not(file))
    return sorted(found.values(), key=lambda log: (-log.size, str(log.path)))


def find(log: Log, engine: Engine) -> Result:
    """Count what is in a log."""
    result = Result(log.path, log.size, skip=log.skip)
    if log.skip is None:
        with _reported(result), _opened(log.path) as stream:
            line = 1
            for block in blocks(stream):
                result.counts.add(engine.find(block, line))
                line += block.count("\n")
    return result


def clean(log: Log, engine: Engine) -> Result:
    """Rewrite a log with masks if it has anything to mask.

    A reader sees the old file or the new one. Owner, permissions and times stay. A log that a program writes to
    meanwhile is left as it is.
    """
    result = Result(log.path, log.size, skip=log.skip)
    if log.skip is None:
        with _reported(result):
            if _has_any(log.path, engine, result):
                _rewrite(log.path, engine, result)
    return result


def _below(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


def _why_not(path: Path) -> str | None:
    """Return why a file is not searched, by its name; None: it is."""
    if not path.is_file():
        return "not a plain file"
    if path.suffix == ".inprogress":
        return "its application is still writing it, or crashed; rename it if the application has ended"
    return _NO_LOG if path.suffix.lower() in _OTHER_FORMATS else None


@contextlib.contextmanager
def _reported(result: Result) -> Iterator[None]:
    """One log that cannot be read does not end the search of the others."""
    try:
        yield
    except SparkConfigError as error:
        result.skip = str(error)
    except OSError as error:
        result.skip = error.strerror or type(error).__name__


def blocks(stream: Reads) -> Iterator[str]:
    """Whole lines of about a megabyte; bytes that are not UTF-8 come out again as they went in."""
    rest: list[bytes] = []
    waiting = 0
    first = True
    while chunk := stream.read(_BLOCK):
        if first:
            # Zeros at the beginning are not a sign of another format: logrotate's copytruncate leaves them in a log.
            begun = chunk.lstrip(b"\0")
            if b"\0" in begun[:4096]:
                raise SparkConfigError(_NO_TEXT)
            if _SEALED_BEGINS.match(begun):
                raise SparkConfigError(_SEALED)
            first = not begun
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, chunk[:cut]]).decode("utf-8", "surrogateescape")
            rest, waiting = [chunk[cut:]], len(chunk) - cut
        else:
            rest.append(chunk)
            waiting += len(chunk)
            if waiting > _LONGEST_LINE:
                raise SparkConfigError(f"it has a line of more than {_LONGEST_LINE >> 20} MiB")
    if last := b"".join(rest):
        yield last.decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Reads]:
    with path.open("rb") as raw, reading(raw, codec_of(path)) as stream:
        yield stream


def _has_any(path: Path, engine: Engine, result: Result) -> bool:
    """Look until the first thing to mask: most logs have none, and are read only."""
    with _opened(path) as stream:
        for block in blocks(stream):
            counts = engine.find(block)
            if engine.masks(counts):
                result.counts = Counts()
                return True
            result.counts.add(counts)
    return False


def _write(path: Path, engine: Engine, result: Result, raw: IO[bytes]) -> None:
    with _opened(path) as stream, writing(raw, codec_of(path)) as out:
        for block in blocks(stream):
            text, counts = engine.clean(block)
            result.counts.add(counts)
            out.write(text.encode("utf-8", "surrogateescape"))


def _remove_leftovers(path: Path) -> None:
    """What a killed rewrite left; it holds masks, no values. One of the last day may still be written elsewhere."""
    for each in path.parent.glob(f".{glob.escape(path.name)}.*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            if each.stat().st_ctime < time.time() - _LEFT_AFTER:
                each.unlink()


def _is_written(path: Path) -> bool:
    """Whether a program has a file open for writing; False where that cannot be known.

    A lease for reading is not given then. Its later lines would go into the old file and be lost.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # Who opens it for writing while the lease is held sends a signal; the usual one, SIGIO, ends a process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:  # not this user's file, or a file system without leases
        return False
    finally:
        os.close(descriptor)
    return False


def _rewrite(path: Path, engine: Engine, result: Result) -> None:
    before = path.stat()
    _remove_leftovers(path)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb") as raw:  # noqa: PTH123 - a descriptor has no path
            _write(path, engine, result, raw)
            raw.flush()
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(descriptor, before.st_uid, before.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            os.utime(descriptor, ns=(before.st_atime_ns, before.st_mtime_ns))
            os.fsync(descriptor)
        now = path.stat()
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (before.st_ino, before.st_size, before.st_mtime_ns):
            result.skip = _CHANGED
            return
        if _is_written(path):
            result.skip = _OPEN
            return
        # Hadoop's checksum of the old content would make the new one unreadable.
        with contextlib.suppress(FileNotFoundError):
            path.with_name(f".{path.name}.crc").unlink()
        partial.replace(path)
        result.changed = True
        result.file, result.names = (before.st_dev, before.st_ino), before.st_nlink
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()

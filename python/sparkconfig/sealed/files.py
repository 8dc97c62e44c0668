"""Reads, atomic writes and locks. A reader sees the old file or the new one, and so does a machine after a crash."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sparkconfig.errors import ConfigurationError, SealedFileError
from sparkconfig.sealed.failures import (
    FileAccessError,
    FileForbiddenError,
    FileMissingError,
    MalformedFileError,
    NotAFileError,
)

__all__ = ["Stamp", "locked", "read", "replace", "stamp", "sweep"]

LARGEST = 16 << 20
"""Bytes; a sealed file holds passwords and keys."""
_LOCK_WAIT = 30.0


class Stamp(NamedTuple):
    """What tells one state of a file from the next; a rename changes the inode, an edit the time or size."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Take the stamp from a stat."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def stamp(path: Path) -> Stamp:
    """Return the state of a file now.

    Raises:
        FileMissingError: it does not exist.
        FileAccessError: it cannot be read.
    """
    try:
        return Stamp.of(path.stat())
    except OSError as error:
        failure = _explained(path, error)
    raise failure


def read(path: Path, *, private: bool = False) -> tuple[bytes, Stamp]:
    """Read a whole file, and the stamp of exactly that state.

    Args:
        path: the file.
        private: refuse a file that other users could read (any permission beyond 0600).

    Raises:
        FileMissingError: it does not exist.
        NotAFileError: it is not a plain file.
        FileAccessError: it cannot be read, or should be private and is not.
        MalformedFileError: it is far too large.
    """
    try:
        # O_NONBLOCK: opening a named pipe must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor has no path
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotAFileError(f"{path} is not a plain file")
            if private and status.st_mode & 0o077:
                raise FileAccessError(
                    f"{path} has the permissions {stat.S_IMODE(status.st_mode):04o}: others may read it."
                    f" Run chmod 600 on it; if they could have read it until now, rotate the key"
                )
            raw = stream.read(LARGEST + 1)
    except OSError as error:
        failure = _explained(path, error)
    else:
        if len(raw) > LARGEST:
            raise MalformedFileError(f"{path} has more than {LARGEST >> 20} MiB")
        return raw, Stamp.of(status)
    raise failure


def replace(path: Path, content: bytes, *, new: bool = False, mode: int | None = None) -> None:
    """Replace ``path`` by ``content`` in one step that survives a kill or a power cut.

    An existing file keeps its owner and permissions, a new one gets 0600. The caller holds the lock.

    Args:
        path: the file; a symbolic link stays, the file it names is replaced.
        content: the whole new content.
        new: the file must not exist yet.
        mode: permissions to set in any case.

    Raises:
        ConfigurationError: ``new`` and it does exist, or more than :func:`read` takes.
        FileAccessError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if len(content) > LARGEST:  # it could not be read again
        raise ConfigurationError(f"{path} would have more than {LARGEST >> 20} MiB and is left as it is")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        _remove_leftovers(target)
        existing = target.stat() if target.exists() else None
        descriptor = os.open(
            partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor has no path
                if existing is not None:
                    if (existing.st_uid, existing.st_gid) != (os.geteuid(), os.getegid()):
                        os.fchown(descriptor, existing.st_uid, existing.st_gid)
                    os.fchmod(descriptor, mode or stat.S_IMODE(existing.st_mode))
                stream.write(content)
                stream.flush()
                os.fsync(descriptor)
            if new:
                os.link(partial, target)  # unlike a rename, it never replaces
                partial.unlink()
            else:
                partial.replace(target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
            raise
        _sync_folder(target.parent)
    except FileExistsError:
        failure: Exception = ConfigurationError(f"{path} exists already and is left as it is")
    except OSError as error:
        failure = _explained(path, error)
    else:
        return
    raise failure


@contextlib.contextmanager
def locked(path: Path, wait: float = _LOCK_WAIT) -> Iterator[None]:
    """Let one process at a time change ``path``. Readers need no lock.

    The lock is a file beside it, since ``path`` itself is replaced. It ends with the process, also a killed one.

    Args:
        path: the file to be changed.
        wait: seconds until it is given up.

    Raises:
        FileAccessError: another process holds it, or the folder cannot be written.
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    descriptor: int | None = None
    failure: Exception | None = None
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        deadline = time.monotonic() + wait
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                failure = FileAccessError(
                    f"another process has been changing {path} for {wait:g} s; try again"
                )
                break
            time.sleep(0.02)
    except OSError as error:
        failure = _explained(path if target.parent.is_dir() else target.parent, error)
    try:
        if failure is not None:
            raise failure
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sweep(path: Path) -> None:
    """Remove what killed writers of ``path`` left: a second name of the file itself, or what it should have become.

    What a living writer writes stays: it holds the lock.
    """
    target = Path(os.path.realpath(path))
    with contextlib.suppress(OSError, SealedFileError):  # of a folder that this user only reads
        if _leftovers(target):
            with locked(target, wait=0):
                _remove_leftovers(target)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers left; the lock says that none of them still writes."""
    for path in _leftovers(target):
        with contextlib.suppress(OSError):
            path.unlink()


def _leftovers(target: Path) -> list[Path]:
    name = re.compile(rf"\.{re.escape(target.name)}\.\d+\.partial")
    with os.scandir(target.parent) as entries:
        return [Path(entry.path) for entry in entries if name.fullmatch(entry.name)]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explained(path: Path, error: OSError) -> FileMissingError | FileAccessError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return FileMissingError(f"{path} does not exist")
    if isinstance(error, PermissionError):
        return FileForbiddenError(f"{path}: permission denied for user {os.geteuid()}")
    kind = NotAFileError if error.errno in (errno.EISDIR, errno.ENXIO) else FileAccessError
    return kind(f"{path}: {error.strerror or type(error).__name__}")

"""What shows, without a read, that an answer still holds.

For local files it is their identity: device, inode, size, and the times of the last change of content and of anything
else. Whoever holds an answer compares them at each use, by one ``stat``. For everything else it is time, and a counter
that tells of changes: see :class:`ChangeCounter`.
"""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ChangeCounter", "FileState", "Freshness", "identify"]

_GRACE_NS = 100_000_000
"""A file that changed less than this ago may change again within the same tick of the file system's clock, which is at
most 10 ms: its times would not show it."""
_COARSE_GRACE_NS = 2_500_000_000
"""The same where times are whole seconds, as with small inodes of ext4."""
_TRUSTED = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "ramfs", "overlay", "squashfs", "erofs")
)
"""File systems of this machine that set the time of each change. Network file systems cache it."""

FileState = tuple[str, int, int, int, int, int]
"""Path, device, inode, size, and the times of the last modification and of the last change in nanoseconds."""


@dataclass(frozen=True)
class Freshness:
    """How long an answer holds.

    Attributes:
        files: it holds while these files are in these states.
        good_ms: and for so many milliseconds from now at most; None: without an end.
    """

    files: tuple[FileState, ...] = ()
    good_ms: float | None = None


def identify(paths: Sequence[str] | None) -> tuple[FileState, ...] | None:
    """Return the states of files, to be compared with those at a later moment.

    Called before the files are read: if one changes meanwhile, what was read is only newer than its state.

    Args:
        paths: files and directories; None: nothing shows whether an answer holds.

    Returns:
        None if their states would not show every change.
    """
    if paths is None:
        return None
    found: list[FileState] = []
    for path in paths:
        # The JVM may have another encoding for names.
        if not path.isascii():
            return None
        absolute = os.path.abspath(path)  # noqa: PTH100 - texts throughout, as Path changes them
        try:
            status = os.stat(absolute)  # noqa: PTH116
        except (OSError, ValueError):
            return None
        grace = _GRACE_NS if status.st_ctime_ns % 1_000_000_000 else _COARSE_GRACE_NS
        if time.time_ns() - status.st_ctime_ns < grace or not _tells_changes(status.st_dev, absolute):
            return None
        found.append(
            (
                absolute,
                status.st_dev,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
        )
    return tuple(found)


_kinds: dict[int, bool] = {}


def _tells_changes(device: int, path: str) -> bool:
    """Whether a device's file system sets the time of each change at once."""
    known = _kinds.get(device)
    if known is None:
        known = _kind_of(path) in _TRUSTED
        if len(_kinds) < 1000:
            _kinds[device] = known
    return known


def _kind_of(path: str) -> str | None:
    """The type of the file system in which a file really lies; None: it is not known."""
    best, kind = -1, None
    try:
        real = os.path.realpath(path)
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:  # noqa: PTH123
            for line in mounts:
                before, _, after = line.partition(" - ")
                point = before.split(" ")[4]
                below = real == point or real.startswith(point if point.endswith("/") else f"{point}/")
                # A later mount on the same place hides the earlier one.
                if below and len(point) >= best:
                    best, kind = len(point), after.split(" ", 1)[0]
    except (OSError, IndexError):
        return None
    return kind


class ChangeCounter:
    """Counts changes that the driver did not ask for, in memory that it shares with this process.

    An answer carries the count of the moment in which it was made; another count means: ask again.

    Args:
        path: a file of eight bytes that the driver made; None, or one that cannot be mapped: answers hold for their
            one use.
    """

    def __init__(self, path: str | None = None) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._shared: memoryview | None = None
        if path:
            try:
                with open(path, "r+b") as file:  # noqa: PTH123
                    self._shared = memoryview(mmap.mmap(file.fileno(), 8)).cast("q")
            except (OSError, ValueError):
                self._shared = None

    @property
    def shared(self) -> bool:
        """Whether the driver sees the count."""
        return self._shared is not None

    @property
    def count(self) -> int:
        """How many changes there were."""
        return self._count

    def add(self) -> None:
        """Count one change, before anybody can learn of it in another way."""
        with self._lock:
            self._count += 1
            if self._shared is not None:
                self._shared[0] = self._count

"""What was true of a path, and when: its rotations in their order, each with the time that writing it took."""

from __future__ import annotations

import bisect
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Version(NamedTuple):
    """One rotation: the store has its number from some moment between begin and end.

    Attributes:
        gone: whether it took the value away ("not allowed", "not found") instead of changing it.
    """

    number: int
    begin: int
    end: int
    gone: bool = False


class Window(NamedTuple):
    """A time in which news need not arrive; what was written meanwhile is due at its end."""

    begin: int
    end: int


@dataclass(frozen=True)
class Bound:
    """How soon a change is used.

    Attributes:
        within: nanoseconds after the end of the write, while nothing is wrong.
        windows: during which nothing need arrive, in order and apart from each other.
    """

    within: int
    windows: Sequence[Window] = ()
    _begins: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_begins", [each.begin for each in self.windows])

    def earliest(self, now: int) -> int:
        """The moment of which a read that begins now must have the state, or that of a later one."""
        at = bisect.bisect_right(self._begins, now) - 1
        moment = now - self.within
        # A window holds up what was written shortly before it; then another one may have held that up.
        while at >= 0 and self.windows[at].end > moment:
            moment = min(moment, self.windows[at].begin - self.within)
            at -= 1
        return moment


def merged(windows: Sequence[Window]) -> list[Window]:
    """The same times, in order and apart from each other."""
    result: list[Window] = []
    for each in sorted(windows):
        if result and each.begin <= result[-1].end:
            result[-1] = Window(result[-1].begin, max(result[-1].end, each.end))
        else:
            result.append(each)
    return result


class Rotations:
    """Writes down the rotations of all paths: a line each, when it has ended."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", buffering=1)
        self._lock = threading.Lock()

    @contextmanager
    def rotation(self, path: int, number: int, *, gone: bool = False) -> Iterator[None]:
        """Note that a path changes; a change that fails was none."""
        begin = time.monotonic_ns()
        yield
        self.note(path, Version(number, begin, time.monotonic_ns(), gone))

    def note(self, path: int, version: Version) -> None:
        """Note a change that has ended."""
        with self._lock:
            self._file.write(json.dumps([path, *version]) + "\n")

    def close(self) -> None:
        """End the file."""
        self._file.close()


def rotations(file: Path) -> dict[int, list[Version]]:
    """The rotations of each path in their order."""
    result: dict[int, list[Version]] = {}
    for line in file.read_text().splitlines():
        path, *version = json.loads(line)
        result.setdefault(path, []).append(Version(*version))
    return {path: sorted(versions) for path, versions in result.items()}

"""What readers write down: when a read of a path began and ended, and which numbers its two keys had.

Each process appends to a file of its own: one line of JSON that says who it is, then records of one size, in the byte
order of Java, so that executors write the same. Times are CLOCK_MONOTONIC, which all processes of a machine share; Java
calls it ``System.nanoTime``. Nothing is written during a read: records go to the file together, at the end of a task.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_RECORD = struct.Struct(">qqHiiiI")
NO_VALUE, FAILED = -1, -2
_NAMED = -16
"""Above it stand the two numbers that are none; below it, texts whose number only their store's record tells."""
_MARK = "hist"


class Read(NamedTuple):
    """One use of a path.

    Attributes:
        path: its number.
        user: the number in its first key.
        password: the same of its second key, which comes from the same write unless the read is torn.
        floor: the number that the driver had when it submitted the task, -1 outside of tasks.
        task: which task read; 0 outside of tasks.
    """

    begin: int
    end: int
    path: int
    user: int
    password: int
    floor: int = -1
    task: int = 0


class Reader(NamedTuple):
    """A process that reads.

    Attributes:
        kind: such as ``python worker``.
        where: what a fault may hit, such as an executor's address or the name of an application.
    """

    name: str
    kind: str
    where: str = ""


def value(kind: str, number: int) -> str:
    """The text that a store holds as the key ``user`` or ``password`` after its rotation ``number``."""
    return f"{_MARK}{number:07d}{kind}{zlib.crc32(f'{kind}{number}'.encode()):08x}"


def number_in(text: str) -> int:
    """What a reader writes down of a text: its number, or a fingerprint of one that the store has chosen itself."""
    if text.startswith(_MARK):
        return int(text[len(_MARK) : len(_MARK) + 7])
    return fingerprint(text)


def fingerprint(text: str) -> int:
    """A number below all others for a text that holds none."""
    return _NAMED - (zlib.crc32(text.encode()) & 0x3FFFFFFF)


@dataclass
class Journal:
    """The file of one process. A process that is killed loses at most the records of its last task."""

    folder: Path
    reader: Reader
    _lines: list[bytes] = field(default_factory=list)
    _file: int = -1

    def read(
        self, begin: int, path: int, user: int, password: int, *, floor: int = -1, task: int = 0
    ) -> None:
        """Note a read that has just ended."""
        end = time.monotonic_ns()
        self._lines.append(_RECORD.pack(begin, end, path, user, password, floor, task))

    def flush(self) -> None:
        """Write what was noted."""
        lines, self._lines = self._lines, []
        if self._file < 0:
            name = f"{self.reader.kind.replace(' ', '-')}-{os.getpid()}-{time.monotonic_ns()}.reads"
            self._file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(self._file, json.dumps(self.reader._asdict()).encode() + b"\n")
        os.write(self._file, b"".join(lines))


def load(file: Path, named: Mapping[int, int]) -> tuple[Reader, Iterator[Read]]:
    """Who wrote a file, and what it read; a record that a killed process left half written is no record.

    Args:
        named: the numbers of texts that a store has chosen itself, by their fingerprints.
    """
    content = file.read_bytes()
    head, _, body = content.partition(b"\n")
    whole = len(body) - len(body) % _RECORD.size
    reads = (
        Read(begin, end, path, *(named.get(n, n) if n < _NAMED + 1 else n for n in (user, password)), *more)
        for begin, end, path, user, password, *more in _RECORD.iter_unpack(body[:whole])
    )
    return Reader(**json.loads(head)), reads

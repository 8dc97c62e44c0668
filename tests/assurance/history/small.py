"""Small random histories, right ones and wrong ones, and what Porcupine says of them."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from history.brute import Operation
from history.check import Seen
from history.journal import NO_VALUE, Read
from history.timeline import Bound, Version, Window

Small = tuple[list[Version], list[Seen]]
_PROGRAM = Path(__file__).parent / "porcupine"


def random_history(chance: random.Random, *, wildness: float) -> Small:
    """A history of one path with a driver and one or two processes with tasks.

    Args:
        wildness: how often a read returns what may be wrong.
    """
    # Twice the times, so that each begin and end is a moment of its own.
    moments = chance.sample(range(10, 400), 40)
    versions = [Version(0, 1, 2)]
    writes = sorted(moments[: 2 * chance.randint(1, 4)])
    gone = chance.randint(1, len(writes)) if chance.random() < 0.4 else -1
    pairs = zip(writes[::2], writes[1::2], strict=True)
    versions += [Version(number, *pair, number == gone) for number, pair in enumerate(pairs, 1)]
    rest = moments[len(writes) :]
    seen: list[Seen] = []
    for process in range(chance.randint(2, 3)):
        begin = chance.randrange(300)
        windows = [Window(begin, begin + chance.randrange(1, 60))] if chance.random() < 0.3 else []
        bound = Bound(chance.choice((0, 5, 20, 60)), windows)
        count = chance.randint(1, 4)
        times = sorted(rest[: 2 * count])
        rest = rest[2 * count :]
        reads = [
            _read(chance, versions, times[2 * turn], times[2 * turn + 1], bound, wildness)
            for turn in range(count)
        ]
        if process:
            reads = [_as_task(chance, read, seen[0].reads) for read in reads]
        seen.append(Seen(f"process {process}", bound, reads))
    return versions, seen


def _read(
    chance: random.Random, versions: Sequence[Version], begin: int, end: int, bound: Bound, wildness: float
) -> Read:
    moment = chance.randint(min(bound.earliest(begin), end), end)
    written = [each for each in versions if (each.begin + each.end) // 2 <= moment]
    found = (written or versions[:1])[-1]
    if chance.random() < wildness:
        found = chance.choice(versions)
    number = NO_VALUE if found.gone else found.number
    other = chance.choice(versions).number if chance.random() < wildness / 4 else number
    return Read(begin, end, 0, number, other)


def _as_task(chance: random.Random, read: Read, driver: Sequence[Read]) -> Read:
    """The same in a task that was submitted after some read of the driver."""
    before = [each for each in driver if each.end < read.begin and each.user == each.password >= 0]
    return read._replace(floor=chance.choice(before).user) if before else read


def porcupine(histories: Sequence[Sequence[Operation]], folder: Path) -> list[bool]:
    """Which of these histories Porcupine has an order for.

    Raises:
        FileNotFoundError: there is no Go here to compile it.
    """
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin:/usr/lib/go/bin")
    if go is None:
        raise FileNotFoundError("go")
    program = folder / "porcupine"
    subprocess.run([go, "build", "-o", str(program), "."], cwd=_PROGRAM, check=True, capture_output=True)
    given = json.dumps([[each._asdict() for each in history] for history in histories])
    answer = subprocess.run([str(program)], input=given, check=True, capture_output=True, text=True)
    return [bool(each) for each in json.loads(answer.stdout)]

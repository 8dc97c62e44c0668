"""From the files of a run to its verdict: the checker over each path, and what faults overlapped with."""

from __future__ import annotations

import bisect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from history.check import KINDS, Seen, Verdict, check, converged
from history.journal import FAILED, Read, Reader, load
from history.pressure import Pressure
from history.proof import errors_in_recorded
from history.timeline import Bound, Version, Window, merged, rotations


@dataclass(frozen=True)
class Fault:
    """A fault of the run.

    Attributes:
        until: until when it may hold up news; begin: it does not.
        where: what it hits: a reader with all of these words; none: each one.
        paths: which paths it hits; none: each one.
    """

    kind: str
    begin: int
    end: int
    until: int
    where: tuple[str, ...] = ()
    paths: tuple[int, ...] = ()

    def hits(self, reader: Reader, path: int) -> bool:
        """Whether it may hold up what this one reads."""
        return (
            self.until > self.begin
            and set(self.where) <= set(reader.where.split())
            and (not self.paths or path in self.paths)
        )


@dataclass(frozen=True)
class Promise:
    """How soon a change of a path is used: nanoseconds on the driver, and how much later on executors.

    Attributes:
        calm: whether there is a last change: leases go on.
    """

    number: int
    name: str
    driver: int
    pushed: int
    calm: bool = True


@dataclass
class Outcome:
    """All that the table shows."""

    reads: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    tasks: int = 0
    rotations: dict[str, int] = field(default_factory=dict)
    errors: dict[str, dict[str, int]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    late: dict[str, dict[str, float]] = field(default_factory=dict)
    converged: dict[str, float | None] = field(default_factory=dict)
    faults: dict[str, dict[str, int]] = field(default_factory=dict)
    leaks: dict[str, int] = field(default_factory=dict)
    planted: dict[str, dict[str, bool]] = field(default_factory=dict)
    small: dict[str, int] = field(default_factory=dict)
    busy: dict[str, int] = field(default_factory=dict)
    waiting: float = 0.0
    broken: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """True if no read broke a rule and every process ended with the last values."""
        right = not any(sum(each.values()) for each in self.errors.values())
        return right and None not in self.converged.values() and not self.leaks.get("not masked")


def load_faults(file: Path) -> list[Fault]:
    """The faults of a run."""
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [Fault(**{**each, "where": tuple(each["where"]), "paths": tuple(each["paths"])}) for each in found]


def evaluate(folder: Path, promises: Sequence[Promise]) -> Outcome:
    """Check the run whose files are in a folder."""
    outcome = Outcome(errors={kind: {} for kind in KINDS})
    faults = load_faults(folder / "faults")
    pressure = Pressure(folder / "pressure")
    outcome.waiting = round(pressure.share, 3)
    written = rotations(folder / "rotations")
    named_file = folder / "named.json"
    named = (
        {int(key): n for key, n in json.loads(named_file.read_text()).items()} if named_file.exists() else {}
    )
    by_path, readers, begins = _sorted(folder, named, outcome)
    histories: list[tuple[list[Version], list[Seen]]] = []
    for promise in promises:
        versions = written.get(promise.number, [])
        outcome.rotations[promise.name] = len(versions)
        seen = [
            Seen(name, _bound(promise, readers[name], faults), reads)
            for name, reads in by_path.get(promise.number, {}).items()
        ]
        seen.sort(key=lambda each: ("driver" not in readers[each.process].where.split(), -len(each.reads)))
        histories.append((versions, seen))
        verdict = check(versions, seen, pressure.waited)
        if verdict.busy:
            outcome.busy[promise.name] = verdict.busy
        for kind, count in verdict.errors.items():
            if count:
                outcome.errors[kind][promise.name] = count
        outcome.examples += [f"{promise.name}: {each}" for each in verdict.examples]
        outcome.late[promise.name] = _late(verdict, readers)
        last = converged(versions, seen) if versions and promise.calm else {}
        times = [None if each is None else each / 1e6 for each in last.values()]
        if times:
            known = [each for each in times if each is not None]
            outcome.converged[promise.name] = max(known) if len(known) == len(times) else None
    outcome.planted = errors_in_recorded(histories)
    changes = sorted(each.end for versions in written.values() for each in versions)
    for fault in faults:
        row = outcome.faults.setdefault(
            fault.kind,
            {"faults": 0, "rotations": 0, "reads": 0, "least rotations": 1 << 30, "least reads": 1 << 30},
        )
        within = [
            bisect.bisect_right(times, fault.end) - bisect.bisect_left(times, fault.begin)
            for times in (changes, begins)
        ]
        row["faults"] += 1
        for name, count in zip(("rotations", "reads"), within, strict=True):
            row[name] += count
            row[f"least {name}"] = min(row[f"least {name}"], count)
    return outcome


Sorted = tuple[dict[int, dict[str, list[Read]]], dict[str, Reader], list[int]]


def _sorted(folder: Path, named: Mapping[int, int], outcome: Outcome) -> Sorted:
    """All reads by path and process, who the processes are, and when reads began."""
    by_path: dict[int, dict[str, list[Read]]] = {}
    readers: dict[str, Reader] = {}
    begins: list[int] = []
    tasks: set[tuple[str, int]] = set()
    for file in sorted(folder.glob("*.reads")):
        reader, reads = load(file, named)
        readers.setdefault(reader.name, reader)
        count = failed = 0
        for read in reads:
            count += 1
            by_path.setdefault(read.path, {}).setdefault(reader.name, []).append(read)
            begins.append(read.begin)
            if read.task:
                tasks.add((reader.name, read.task))
            failed += read.user == FAILED
        outcome.reads[reader.kind] = outcome.reads.get(reader.kind, 0) + count
        outcome.failed[reader.kind] = outcome.failed.get(reader.kind, 0) + failed
    outcome.tasks = len(tasks)
    return by_path, readers, sorted(begins)


def _bound(promise: Promise, reader: Reader, faults: Sequence[Fault]) -> Bound:
    windows = merged([Window(each.begin, each.until) for each in faults if each.hits(reader, promise.number)])
    is_driver = "driver" in reader.where.split()
    return Bound(promise.driver + (0 if is_driver else promise.pushed), windows)


def _late(verdict: Verdict, readers: Mapping[str, Reader]) -> dict[str, float]:
    """The stalest read of drivers and of executors, in milliseconds."""
    result: dict[str, float] = {}
    for name, late in verdict.late.items():
        kind = "driver" if "driver" in readers[name].where.split() else "executors"
        result[kind] = max(result.get(kind, 0.0), round(late / 1e6, 1))
    return result

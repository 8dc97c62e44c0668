"""Run a cluster with faults, and check what its readers saw: ``make history MINUTES=60``.

    python -m history.run [--minutes 60] [--write] [--only KIND]... [--again FOLDER]

Needs root on Linux: hosts are network namespaces, and disks that are full are file systems of their own.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import random
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from history.broken import BREAKS, Break, package
from history.broken import jar as broken_jar
from history.evaluate import Fault, Outcome, Promise, evaluate
from history.faults import KINDS, Kind
from history.openbao_site import Leases
from history.pressure import PressureMeter
from history.proof import small_histories
from history.report import add_broken, publish, show
from history.site import Site, site
from history.stores import Store
from support.processes import Run

EVERY = 1.3
"""Seconds between two rotations of a path."""
FAULTS = 15.0
"""Seconds between two faults."""
PUSHED = 1_000_000_000
"""Nanoseconds by which executors may be behind their driver. The documentation promises none, only that a generation is
sent again after five seconds without a report."""
CALM = 12.0
"""Seconds at the end without faults, and the last of them without changes."""


class Conductor:
    """Rotates, and causes faults, until the time is over."""

    def __init__(self, where: Site, kinds: Sequence[Kind]) -> None:
        self._site = where
        self._kinds = list(kinds)
        self._over = threading.Event()
        self._faults = (where.folder / "faults").open("a", buffering=1)
        self._chance = random.Random(where.run.token)
        self._chance.shuffle(self._kinds)

    def run(self, seconds: float) -> None:
        """Start both applications, go through all kinds of faults again and again, and end with a calm."""
        for application in self._site.applications:
            application.start()
        rotating = [threading.Thread(target=self._rotate, args=(each,)) for each in self._site.stores]
        for thread in rotating:
            thread.start()
        print(f"{time.strftime('%H:%M:%S')} both applications run", flush=True)
        end = time.monotonic() + seconds - 2 * CALM
        try:
            self._over.wait(3)  # every store rotates by then
            for kind in itertools.cycle(self._kinds):
                begin = time.monotonic()
                if begin > end:
                    break
                self._cause(kind)
                self._over.wait(max(1.0, FAULTS - (time.monotonic() - begin)))
            self._over.wait(max(CALM, end - time.monotonic()))
        finally:
            self._over.set()
            for thread in rotating:
                thread.join()
            self._faults.close()
        time.sleep(CALM)

    def _rotate(self, store: Store) -> None:
        while not self._over.wait(EVERY * (0.8 + self._chance.random() * 0.4)):
            self._site.rotate(store)

    def _cause(self, kind: Kind) -> None:
        begin = time.monotonic_ns()
        with kind.act(self._site) as scope:
            self._over.wait(kind.seconds)
        end = time.monotonic_ns()
        until = begin
        if kind.since is not None:
            until = begin + int(kind.since * 1e9)
        elif kind.late is not None:
            until = end + int(kind.late * 1e9)
        fault = Fault(kind.name, begin, end, until, scope.where, scope.paths)
        self._faults.write(json.dumps(dataclasses.asdict(fault)) + "\n")
        where = " ".join([*scope.where, *map(str, scope.paths)])
        print(f"{time.strftime('%H:%M:%S')} {kind.name} {where} {(end - begin) / 1e9:.1f} s", flush=True)
        for application in self._site.applications:
            if application.ended:
                print(f"{time.strftime('%H:%M:%S')} application {application.name} has ended", flush=True)
                application.stop()
                application.start()


def promises(where: Site) -> list[Promise]:
    """What holds for each path."""
    return [
        Promise(each.number, each.name, each.within, PUSHED, each.name != Leases.name)
        for each in where.stores
    ]


def history(minutes: float, kinds: Sequence[Kind], wrong: Break | None = None) -> Outcome:
    """Run, and check.

    Args:
        wrong: what is broken in the product.
    """
    with ExitStack() as stack:
        run = stack.enter_context(Run())
        patched, jar = None, None
        if wrong is not None:
            folder = run.private_dir("broken")
            patched, jar = (
                (None, broken_jar(wrong, folder)) if wrong.is_scala else (package(wrong, folder), None)
            )
        where = stack.enter_context(site(run, patched=patched, jar=jar))
        meter = PressureMeter(where.folder / "pressure")
        meter.start()
        # What was seen until a fault of the harness is not lost.
        stack.callback(keep, run, where)
        Conductor(where, kinds).run(minutes * 60)
        meter.close()
        for application in where.applications:
            application.stop()
        keep(run, where)
        return verdict(where.folder)


def keep(run: Run, where: Site) -> None:
    """Put what `verdict` needs beside what readers have written, and copy it to the folder HISTORY_KEEP."""
    (where.folder / "named.json").write_text(json.dumps(where.leases.named))
    told = [dataclasses.asdict(each) for each in promises(where)]
    (where.folder / "promises.json").write_text(json.dumps(told))
    shutil.copytree(run.logs, where.folder / "logs", dirs_exist_ok=True)
    if kept := os.environ.get("HISTORY_KEEP"):
        shutil.copytree(where.folder, kept, dirs_exist_ok=True)


def verdict(folder: Path) -> Outcome:
    """Check what a run has written down."""
    told = json.loads((folder / "promises.json").read_text())
    outcome = evaluate(folder, [Promise(**each) for each in told])
    outcome.leaks = leaks(folder / "logs")
    return outcome


def leaks(logs: Path) -> dict[str, int]:
    """How often tasks and connections showed a password, and how often it was not masked."""
    result = {"shown": 0, "not masked": 0}
    for file in (path for path in logs.rglob("*") if path.is_file()):
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith(("a task uses ", "a connection uses ")):
                result["shown"] += 1
                result["not masked"] += " uses hist" in line
    return result


def break_it(minutes: float, names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Run the product broken in each way; return what was found of each."""
    result: dict[str, dict[str, int]] = {}
    missed = 0
    for wrong in (BREAKS[name] for name in names or BREAKS):
        kinds = [each for each in KINDS if each.name in wrong.needs]
        outcome = history(minutes, kinds, wrong)
        found = {kind: sum(paths.values()) for kind, paths in outcome.errors.items()}
        found["not masked"] = outcome.leaks.get("not masked", 0)
        result[wrong.what] = {kind: count for kind, count in found.items() if count}
        right = any(found[kind] for kind in wrong.found)
        missed += not right
        print(f"{wrong.what}: {'found' if right else 'NOT FOUND'}: {result[wrong.what]}", flush=True)
    if missed:
        raise SystemExit(f"the history does not show {missed} of them")
    return result


def main() -> int:
    """Parse the command line; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description="Run a cluster with faults, and check what its readers saw.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--write", action="store_true", help="write docs/assurance/history.json")
    parser.add_argument(
        "--only", action="append", default=[], help="a kind of fault, or what is broken; more than one: again"
    )
    parser.add_argument("--again", type=Path, help="check what a run has kept in HISTORY_KEEP once more")
    parser.add_argument(
        "--broken", action="store_true", help="the product broken on purpose, 90 seconds each"
    )
    options = parser.parse_args()
    if options.broken:
        add_broken(break_it(1.5, options.only), write=options.write)
        return 0
    chosen = [each for each in KINDS if not options.only or each.name in options.only]
    asked = small_histories(5000, "a run")
    print("the checker's verdicts on small random histories:", asked, flush=True)
    outcome = verdict(options.again) if options.again else history(options.minutes, chosen)
    outcome.small = asked
    show(outcome, options.minutes)
    publish(outcome, options.minutes, write=options.write)
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())

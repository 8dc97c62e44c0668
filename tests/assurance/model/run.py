"""How changes are delivered, as a model that spin checks: ``make model``.

    python tests/assurance/model/run.py [--small]

``delivery.pml`` says what each process does. spin visits every state of it at the sizes in ``RUNS``, two at a time.
Then it looks for a history that breaks a property in each of ``MUTANTS``, in which one step is done wrong. At last
histories of the real code (``history.py``) are replayed: a step that the model does not have fails the run.

Why spin: it is one Debian package of half a megabyte that needs no installation (it is fetched as a user and unpacked
into ``.cache``) and a C compiler; it makes a program of the model that visits some hundred thousand states a second; it
shows the shortest history that breaks a property in the words of the model. stateright, from the crates registry, needs
Rust, and keeps hashes of states. Here states are kept whole (``COLLAPSE``): spin's own hashes (``HC4``) lost one state
in five hundred.

A whole run is kept in ``docs/assurance/model.json``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import history
import record

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache" / "spin"
MODEL = HERE / "delivery.pml"
SIZES = (
    "EXECUTORS", "A_CHANGES", "B_CHANGES", "OUTAGES", "CRASHES", "LOST", "DOUBLED", "REPLACED", "TASKS", "LOGINS",
    "REFRESHES",
)  # fmt: skip
# What each of them is about; the rest is 0. One change, crash or loss more is four to ten times the states.
RUNS = {
    "stores and side process": {"A_CHANGES": 2, "B_CHANGES": 1, "OUTAGES": 1, "CRASHES": 1, "LOGINS": 1},
    "pushes and tasks": {"EXECUTORS": 2, "A_CHANGES": 2, "LOST": 1, "TASKS": 1},
    "all together": {"EXECUTORS": 1, "A_CHANGES": 2, "CRASHES": 1, "LOST": 1, "TASKS": 1, "LOGINS": 1},
    "doubled, replaced": {"EXECUTORS": 1, "A_CHANGES": 2, "DOUBLED": 1, "LOST": 1, "REPLACED": 1, "TASKS": 1},
    "manual trigger": {
        "EXECUTORS": 1, "A_CHANGES": 3, "B_CHANGES": 1, "OUTAGES": 1, "CRASHES": 1, "TASKS": 1, "REFRESHES": 2,
    },
}  # fmt: skip
PROPERTIES = {
    "KEYS_OF_A_PATH_MIX": "keys of one path come from one read",
    "GOES_BACK": "no process goes back",
    "TASK_OLDER_THAN_ITS_DRIVER": "no task uses less than its driver had at submission",
    "REVOKED_VALUE_USED": "a revoked value is not used after the process knows",
    "OUTAGE_ENDS_A_VALUE": "an outage ends no value",
    "REFUSED_LOGIN_REPEATS_ITS_VALUE": "a refused login, or a fresh use, has another value, or what the store has",
    "WAITS_FOR_ANOTHER_STORE": "nobody waits for a store that he did not ask",
    "DOES_NOT_CONVERGE": "after the last change all live processes converge, and nobody waits for ever",
}


@dataclass(frozen=True)
class Mutant:
    """One step done wrong: what, which property that breaks, and what it takes."""

    what: str
    breaks: str
    needs: Mapping[str, int]


MUTANTS = {
    "KEY_BY_KEY": Mutant("a path is read key by key", "KEYS_OF_A_PATH_MIX", {}),
    "OLDER_WINS": Mutant("an older snapshot wins", "GOES_BACK", {}),
    "FROM_ONE": Mutant("a replaced side process starts at generation 1", "DOES_NOT_CONVERGE", {"CRASHES": 1}),
    "PUSH_ONCE": Mutant("a push without report and later question", "DOES_NOT_CONVERGE", {"LOST": 1}),
    "TASK_WITHOUT_GENERATION": Mutant(
        "a task without its generation", "TASK_OLDER_THAN_ITS_DRIVER", {"TASKS": 1}
    ),
    "OUTAGE_REVOKES": Mutant("an outage counts as a revocation", "OUTAGE_ENDS_A_VALUE", {"OUTAGES": 1}),
    "REVOCATION_IS_OUTAGE": Mutant("a revocation counts as an outage", "REVOKED_VALUE_USED", {}),
    "REFUSED_ASKS_NOBODY": Mutant(
        "a refused login does not ask", "REFUSED_LOGIN_REPEATS_ITS_VALUE", {"LOGINS": 1}
    ),
    "DUE_IGNORED": Mutant("a due time is not looked at", "DOES_NOT_CONVERGE", {}),
    "LOCKED_READ": Mutant(
        "a round reads stores under its lock", "WAITS_FOR_ANOTHER_STORE", {"B_CHANGES": 1, "LOGINS": 1}
    ),
    "ANSWER_OF_THE_DEAD": Mutant(
        "an answer of a side process that ended counts after its successor was told what is held",
        "DOES_NOT_CONVERGE",
        {"CRASHES": 1},
    ),
    "TASK_AS_PUBLISHED": Mutant(
        "a task carries what executors get, not what its driver has",
        "TASK_OLDER_THAN_ITS_DRIVER",
        {"TASKS": 1},
    ),
    "TASK_BEFORE_ANNOUNCED": Mutant(
        "a task begins before workers are told of its generation", "TASK_OLDER_THAN_ITS_DRIVER", {"TASKS": 1}
    ),
    "FRESH_BESIDE_A_READ": Mutant(
        "a fresh use takes the answer of a read that had begun",
        "REFUSED_LOGIN_REPEATS_ITS_VALUE",
        {"LOGINS": 1},
    ),
}
SMALL = {"EXECUTORS": 1, "A_CHANGES": 2}
MEMORY_MB = 6000
HISTORIES = 5


class ModelError(Exception):
    """The checker could not be had, or did not end as it should."""


@dataclass(frozen=True)
class Result:
    """How a run ended; ``story`` is the shortest history that breaks a property, if one does."""

    states: int
    depth: int
    seconds: float
    broken: str | None
    story: tuple[str, ...]


def spin() -> str:
    """Return the checker's command; fetch it where it is not installed."""
    unpacked = CACHE / "usr" / "bin" / "spin"
    if found := shutil.which("spin"):
        return found
    if not unpacked.exists():
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise ModelError(
                "spin is not installed, and this system has no apt to fetch it: install spin 6.5"
            )
        CACHE.mkdir(parents=True, exist_ok=True)
        fetch = subprocess.run(
            ["apt-get", "download", "spin"], check=False, cwd=CACHE, capture_output=True, text=True
        )
        if fetch.returncode:
            raise ModelError(
                f"'apt-get download spin' failed; perhaps after 'apt-get update':\n{fetch.stderr}"
            )
        package = max(CACHE.glob("spin_*.deb"))
        subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=CACHE, check=True)
    return str(unpacked)


class Checker:
    """The model at some sizes, made into a program in a folder: spin writes beside it."""

    def __init__(self, folder: str, sizes: Mapping[str, int], mutant: str | None = None) -> None:
        self._folder = Path(folder)
        self._options = [f"-D{name}={sizes.get(name, 0)}" for name in SIZES]
        if mutant:
            self._options.append(f"-DSWITCH={mutant}")
        shutil.copy(MODEL, folder)

    def search(self, flags: Sequence[str], *options: str, claim: str | None = None) -> str:
        """Compile and run it; return what it said."""
        beside = []
        if claim is not None:
            (self._folder / "claim.pml").write_text(claim)
            beside = ["-N", "claim.pml"]
        self._run(spin(), "-a", *self._options, *beside, MODEL.name)
        memory = f"-DMEMLIM={MEMORY_MB}"
        self._run("cc", *flags, "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", memory, "-o", "pan", "pan.c")
        return self._run("./pan", "-m100000", *options)

    def story(self) -> tuple[str, ...]:
        """The steps that led to an error."""
        told = self._run(spin(), "-t", *self._options, MODEL.name)
        return tuple(line.strip() for line in told.split("\nspin: ")[0].splitlines())

    def _run(self, *command: str) -> str:
        ended = subprocess.run(command, check=False, cwd=self._folder, capture_output=True, text=True)
        if ended.returncode and not (self._folder / f"{MODEL.name}.trail").exists():
            raise ModelError(f"{command[0]} failed:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return ended.stdout


@contextlib.contextmanager
def checker(sizes: Mapping[str, int], mutant: str | None = None) -> Iterator[Checker]:
    """Give a checker in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield Checker(folder, sizes, mutant)


def check(sizes: Mapping[str, int], mutant: str | None = None) -> Result:
    """Visit all states, or those of a mutant, the nearest ones first, until a property breaks."""
    with checker(sizes, mutant) as made:
        began = time.monotonic()
        said = made.search(["-O1", "-DBFS"]) if mutant else made.search(["-O3", "-DNOBOUNDCHECK"], "-w27")
        seconds = time.monotonic() - began
        counted = re.search(r"depth reached (\d+), errors: (\d+)\s+([\d.e+]+) states, stored", said)
        if counted is None or (int(counted[2]) == 0 and "Search not completed" in said):
            raise ModelError(f"the search did not end:\n{said[-2000:]}")
        story = made.story() if int(counted[2]) else ()
    broken = next((line.removeprefix("broken: ") for line in story if line.startswith("broken: ")), None)
    if story and broken is None:
        raise ModelError("the search found an error that is none of the properties:\n" + "\n".join(story))
    return Result(int(float(counted[3])), int(counted[1]), seconds, broken, story)


def replay(moments: Sequence[history.Moment]) -> int | None:
    """Look for a run of the model that shows a history; return the moment that none of them reaches, or None."""
    with checker(history.sizes(moments)) as made:
        said = made.search(["-O1"], claim=history.claim(moments))
    if "end state in claim reached" in said:
        return None
    missed = re.findall(r"claim\.pml:(\d+), state", said.partition("unreached in claim")[2])
    if "errors: 0" not in said or not missed:
        raise ModelError(f"the replay did not end as it should:\n{said[-2000:]}")
    return min(len(moments) - 1, min(map(int, missed)) - 2)  # the claim's moments begin in its second line


def replay_all() -> bool:
    """Record and replay histories, and one of them with errors; tell whether the model has the right ones alone."""
    logging.disable(logging.CRITICAL)  # outages are what is wanted
    right = True
    for seed in range(HISTORIES):
        moments = history.record(seed)
        missed = replay(moments)
        right &= missed is None
        print(
            f"history {seed} of the real code, {len(moments)} moments: {'NOT ' if missed else ''}replayed",
            flush=True,
        )
        if missed:
            print(*moments[max(0, missed - 3) : missed + 1], "^ the model has no step to this", sep="\n  ")
    for what, wrong in history.broken(moments).items():
        missed = replay(wrong)
        right &= missed is not None
        print(f"the last one with {what}: {'refused' if missed else 'NOT REFUSED'}", flush=True)
    return right


def main() -> int:
    """Check the model and refute its mutants; 1 if one of them is not as it should be."""
    options = argparse.ArgumentParser(description="Check the model of delivery, then its mutants.")
    options.add_argument(
        "--small", action="store_true", help="the model at its smallest size, and the mutants"
    )
    small = options.parse_args().small
    runs = {"small": {**SMALL, "CRASHES": 1}} if small else RUNS
    print(f"{spin()}, {os.cpu_count()} processors", flush=True)
    failed = False
    began, searched = time.monotonic(), {}
    print(f"\n{'run':26}{'states':>13}{'depth':>7}{'seconds':>9}  sizes", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        ended = {pool.submit(check, sizes): name for name, sizes in runs.items()}
        for each in concurrent.futures.as_completed(ended):
            name, result = ended[each], each.result()
            searched[name] = {"states": result.states, "seconds": round(result.seconds, 1)}
            sizes = ", ".join(f"{value} {size.lower()}" for size, value in runs[name].items())
            print(f"{name:26}{result.states:13,}{result.depth:7}{result.seconds:9.1f}  {sizes}", flush=True)
            if result.broken:
                failed = True
                print("", f"BROKEN: {PROPERTIES[result.broken]}", *result.story, sep="\n  ")
    print("\nheld in every state:" if not failed else "\nproperties:", *PROPERTIES.values(), sep="\n  ")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        refuted = dict(
            zip(
                MUTANTS,
                pool.map(lambda name: check({**SMALL, **MUTANTS[name].needs}, name), MUTANTS),
                strict=True,
            )
        )
    for name, mutant in MUTANTS.items():
        result = refuted[name]
        right = result.broken == mutant.breaks
        failed |= not right
        found = PROPERTIES[result.broken] if result.broken else "NOTHING"
        print(f"\n{name}: {mutant.what}\n  breaks: {found}{'' if right else ', WHICH IS NOT EXPECTED'}")
        print(*(f"    {line}" for line in result.story[:-1]), sep="\n", flush=True)
    print()
    failed |= not replay_all()
    if not small and not failed:
        record.write(
            "model",
            {
                **record.stamp(),
                "seconds": round(time.monotonic() - began),
                "properties": list(PROPERTIES.values()),
                "runs": dict(sorted(searched.items())),
                "mutants refuted": [mutant.what for mutant in MUTANTS.values()],
                "histories replayed": HISTORIES,
            },
        )
    print(
        "\nFAILED" if failed else f"\nthe model holds, {len(MUTANTS)} of {len(MUTANTS)} mutants are refuted"
    )
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ModelError as error:
        sys.exit(f"model: {error}")

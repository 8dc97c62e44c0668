"""`make attack`: send each bait in each place to a server with the shipped policy, as a user without rights.

    run.py connect|thrift [--only REGEX] [--seconds N] [--write] [--json FILE]

First each bait once in each place, then with other keys and other fields beside it. Prints the numbers and each hit
with what was sent; exit code 1: there were hits.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pyspark

import record
from support.processes import Run
from support.spark_home import spark_home
from surface import logins, statements
from surface.baits import Attack
from surface.canary import Canary
from surface.server import ROOT, Answer, Server

SHIPPED = ROOT / "conf" / "policies" / "shared-server.json"
RESULTS = Path(__file__).with_name("results.json")


class Sent(NamedTuple):
    """An attack with what was sent for it and came back."""

    attack: Attack
    request: Any
    answer: Answer


def in_turn(attacks: Iterable[Attack], only: str) -> list[Attack]:
    """One of each place and bait, then the second ones, and so on."""
    dice = random.Random(39)
    groups: dict[tuple[str, str], list[Attack]] = defaultdict(list)
    for attack in attacks:
        if re.search(only, f"{attack.kind} {attack.bait}"):
            groups[attack.kind, attack.bait].append(attack)
    turns = [
        (turn, dice.random(), attack)
        for group in groups.values()
        for turn, attack in enumerate(dice.sample(group, len(group)))
    ]
    return [attack for _, _, attack in sorted(turns, key=lambda each: each[:2])]


def drive(
    attacks: Sequence[Attack], canary: Canary, connect: Callable[[], Any], until: float
) -> dict[int, Sent]:
    """Send them until this time, from six clients."""
    own = threading.local()
    sent: dict[int, Sent] = {}

    def send(attack: Attack) -> None:
        if time.monotonic() > until:
            return
        number, request = next(canary.numbers), None
        try:
            if not hasattr(own, "client"):
                own.client = connect()
            request = attack.make(canary, number)
            answer = own.client.send(request)
        except Exception as error:  # the client itself could not
            answer = Answer("failed", f"not sent: {type(error).__name__}: {error}")
        canary.told(number, answer.text)
        sent[number] = Sent(attack, request, Answer(answer.kind, answer.text[:2000]))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(send, attacks))
    return sent


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("kind", choices=["connect", "thrift"])
    parser.add_argument("--policy", type=Path, default=SHIPPED)
    parser.add_argument(
        "--class-path", type=Path, nargs="*", default=(), help="more for the server's class path"
    )
    parser.add_argument("--only", default="", help="places and baits that match this")
    parser.add_argument("--seconds", type=float, default=1e9, help="send nothing afterwards")
    parser.add_argument("--write", action="store_true", help="keep the numbers, for the docs")
    parser.add_argument("--json", type=Path, help="write everything sent, and its answer, to this file")
    given = parser.parse_args(arguments)
    with Run(keep_logs=ROOT / "build" / "attack") as run:
        canary = Canary(run.private_dir("surface"))
        server = Server(run, given.kind, given.policy, canary, given.class_path)
        writer = statements.Writer(server, spark_home())
        writer.prepare()
        groups = [(writer.attacks(), writer.client)]
        if given.kind == "thrift":
            groups.insert(0, (logins.attacks(spark_home()), lambda: logins.Client(server)))
        else:
            from surface import clients, messages

            fields = messages.Writer(canary.lake, spark_home()).attacks()
            groups.insert(0, (fields, lambda: clients.Connect(server)))
        sent: dict[int, Sent] = {}
        end = time.monotonic() + given.seconds
        made = 0
        for left, (attacks, connect) in zip((2, 1), groups, strict=True):
            chosen = in_turn(attacks, given.only)
            made += len(chosen)
            sent |= drive(chosen, canary, connect, end - (end - time.monotonic()) * (left - 1) / 2)
        canary.told(0, server.afterwards())
        logins.look_at(server, canary, sent)
        return tell(given, sent, made, canary.hits())


def tell(given: argparse.Namespace, sent: dict[int, Sent], made: int, hits: Mapping[int, set[str]]) -> int:
    """Print what was found, and keep it."""
    # docs/shared-servers.md: the Thrift server expands variables for its own log.
    known = {"told variable"} if given.kind == "thrift" else set()
    hits = {number: what for number, what in hits.items() if number or what - known}
    for number, what in sorted(hits.items()):
        found = sent.get(number)
        attack = f"{found.attack.kind} with {found.attack.bait}" if found else "unknown"
        print(f"HIT {attack}: {sorted(what)}", *(found[1:] if found else ()), sep="\n    ")
    counts = Counter(each.answer.kind for each in sent.values())
    numbers = made, len(sent), counts["refused"], counts["answered"], counts["failed"], len(hits)
    row = [f"{given.kind.title()}, {pyspark.__version__}", *map("{:,}".format, numbers)]
    stamp = record.stamp()
    print("{}: of {}: {} sent, {} refused, {} answered, {} failed otherwise, {} hits".format(*row))
    if given.json:
        told = [(*each.attack[:2], str(each.request), *each.answer) for each in sent.values()]
        given.json.write_text(json.dumps(told, indent=1))
    if given.write:
        rows = {
            each[0]: each
            for each in [*json.loads(RESULTS.read_text()), [*row, stamp["date"], stamp["cores"]]]
        }
        lines = ",\n".join(json.dumps(rows[name]) for name in sorted(rows, reverse=True))
        RESULTS.write_text(f"[\n{lines}\n]\n")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())

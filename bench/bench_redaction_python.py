"""How fast Python masks, and what one more value costs it, beside what maskers of logs do in Python.

    python bench/bench_redaction_python.py [--values 1,10,1000,100000] [--json FILE]

The peer is one regular expression of all values, which is compiled anew when a value is added, as the maskers of
Airflow and others do. It finds the values raw; ours finds their escapes and encodings, too. The texts: lines of a log,
one by one and many at once, events as one JSON line each, and documents within documents in JSON, all without a value.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from sparkconfig.redaction import Registry

LINE = "26/11/27 05:48:12 INFO TaskSetManager: Finished task 3.0 in stage 12.0 (TID 99) in 213 ms on host (1/8)\n"
PLAN = "== Physical Plan ==\n* Project [id AS k]\n+- Filter (name = 'x' AND path LIKE '/data/2026/%')\n" * 3
EVENT = (
    json.dumps({"Event": "SQLExecutionStart", "plan": PLAN, "details": LINE * 5, "ids": [*range(50)]}) + "\n"
)
NESTED = json.dumps(
    {"outer": json.dumps({"inner": json.dumps({"plan": PLAN, "url": "http://a/?q=1%20%26b"})})}
)
TEXTS = {
    "lines": [LINE] * 500,
    "lines at once": [LINE * 5000],
    "events": [EVENT] * 200,
    "nested": [NESTED] * 200,
}


def values(count: int, seed: int = 0) -> list[str]:
    """Passwords of 20 characters, half of them with signs that languages escape."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        letters = rng.choices(string.ascii_letters + string.digits, k=20)
        if number % 2:
            for _ in range(3):
                letters[rng.randrange(20)] = rng.choice("!@#$%&*-_+=/\\")
        made.append("".join(letters))
    return made


def seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """The least processor time of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def row(count: int) -> dict[str, float]:
    """Measure with so many values known: MB/s of both, microseconds for one more value."""
    known = values(count)
    registry = Registry()
    registry.register(known, generation=1)
    more = iter(values(1000, seed=1))
    found: dict[str, float] = {
        "values": count,
        "add us": seconds(lambda: registry.register([next(more)], generation=1), 100) * 1e6,
    }
    pattern = "|".join(map(re.escape, known))
    began = time.process_time()
    peer = re.compile(pattern)
    found["add us of the peer"] = (time.process_time() - began) * 1e6
    for name, texts in TEXTS.items():
        size = sum(map(len, texts)) / 1e6
        found[name] = size / seconds(lambda texts=texts: [registry.redact(text) for text in texts])
        # A long alternation is slow: a part of the texts is enough.
        few = [text[:10_000] for text in texts[: max(1, 2000 // count)]]
        size = sum(map(len, few)) / 1e6
        found[f"{name}: peer"] = size / seconds(lambda few=few: [peer.sub("", text) for text in few], 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="masking in Python, in MB/s, and what a value costs")
    parser.add_argument("--values", default="1,10,1000,100000")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for count in map(int, options.values.split(",")):
        rows.append(row(count))
        print(
            f"{count:>7} values: one more {rows[-1]['add us']:.0f} us, peer {rows[-1]['add us of the peer']:.0f} us; "
            + "; ".join(
                f"{name} {rows[-1][name]:.1f} MB/s, {rows[-1][name] / rows[-1][f'{name}: peer']:.2f} of the peer"
                for name in TEXTS
            ),
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Fuzz redaction against the engine before the canonical form: what that masked and this one leaves was given up.

PYTHONPATH=tests:tests/assurance python -m fuzz.old_redaction SECONDS [SEED]
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from leaks.values import ENCODINGS, LAYERS
from sparkconfig.redaction.canonical import forms
from sparkconfig.redaction.forms import worth_registering
from sparkconfig.redaction.registry import MASK, Registry

ROOT = Path(__file__).resolve().parents[3]
#: The last commit with the old engine.
OLD = "9142e7b"
SERVER = """
import json, sys
from sparkconfig.redaction.registry import Registry
for line in sys.stdin:
    value, texts = json.loads(line)
    registry = Registry()
    registry.register([value])
    print(json.dumps([registry.redact(text) for text in texts] if len(registry) else []), flush=True)
"""
SIGNS = [*"\\'\"&%+=/ ;<>`]}é鍵:abZQ07xun#-[,@?", "amp", "25", "5c", "\\n"]
INTRODUCERS = ["", "\\", "\\\\", "%", "%2", "&", "&amp", "\\x", "\\u00", "+", "C:\\"]


def given_up(value: str, names: list[str]) -> bool:
    """Whether a writing with these layers is of a kind that `given_up.json` has."""
    # A quote doubled by three layers, or by two in a long value; a value of which too little is left once it is undone.
    return names.count("sql-doubled") > 2 or not all(worth_registering(form.text) for form in forms(value))


def old_engine() -> subprocess.Popen[str]:
    folder = ROOT / "build" / "fuzz" / OLD
    if not folder.exists():
        archive = subprocess.run(
            ["git", "archive", OLD, "python"], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
    return subprocess.Popen(
        [sys.executable, "-c", SERVER], env={"PYTHONPATH": str(folder / "python")}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def value_of(chance: random.Random) -> str:
    """Most have some letters in a row, as real ones do."""
    value = "".join(chance.choices(SIGNS, k=chance.randint(0, 12)))
    at = chance.randint(0, len(value))
    value = value[:at] + "".join(chance.choices("abQZ07xk", k=chance.randint(4, 12))) + value[at:]
    return value if len(value) >= 8 else f"{value}kQ7'xZ0b"


def writing_of(chance: random.Random, value: str) -> tuple[list[str], str]:
    names = [chance.choice(list(ENCODINGS))] if chance.random() < 0.3 else []
    written = ENCODINGS[names[0]](value) if names else value
    if chance.random() < 0.3:
        written = chance.choice(INTRODUCERS) + written
    for layer in chance.choices(list(LAYERS), k=chance.randint(0, 3)):
        names.append(layer)
        written = LAYERS[layer](written)
    return names, f"x {written} y"


def main(seconds: float, seed: int) -> int:
    chance, end = random.Random(seed), time.monotonic() + seconds
    old = old_engine()
    texts = more = by_design = 0
    less = []
    while time.monotonic() < end:
        value = value_of(chance)
        written = [writing_of(chance, value) for _ in range(20)]
        old.stdin.write(json.dumps([value, [text for _, text in written]]) + "\n")
        old.stdin.flush()
        new = Registry()
        new.register([value])
        for (names, text), answer in zip(written, json.loads(old.stdout.readline()), strict=False):
            texts += 1
            masks = MASK in new.redact(text)
            more += masks and MASK not in answer
            if MASK in answer and not masks:
                by_design += given_up(value, names)
                less += [] if given_up(value, names) else [(value, names, text)]
    old.stdin.close()
    print(
        f"{texts} texts: the new engine masks {more} that the old one leaves; of those that the old one masks"
    )
    print(f"it leaves {by_design} of kinds in given_up.json, and {len(less)} others (seed {seed})")
    for found in less[:20]:
        print(ascii(found))
    return bool(less)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int((*sys.argv, time.time_ns())[2])))

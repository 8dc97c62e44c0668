"""Instructions of the processor, for what is too small to time: valgrind counts them, whatever else the machine does.

    python bench/bench_instructions.py [--json FILE]

It prints what the side process's imports take beside what Python alone takes, and what one more of each thing takes
that the Python part does thousands of times: counted for many, less what the same process takes without them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

TIMES = 200
IMPORTS = {"Python alone": "pass", "the side process": "import sparkconfig.agent.main"}
Things = dict[str, Callable[[], object]]


def things(folder: Path) -> Things:
    """Prepare what is counted; each has been done once, so that what only the first costs is not in it."""
    from sparkconfig import ConfigTransformer
    from sparkconfig.policy.engine import PolicyEngine
    from sparkconfig.policy.request import OverrideRequest
    from sparkconfig.providers.file import FileConfigProvider
    from sparkconfig.redaction.registry import Registry
    from sparkconfig.settings.operator_file import OperatorFile

    values, rules = folder / "s.properties", folder / "policy.json"
    values.write_text("password=secret-of-the-shop\n")
    provider = FileConfigProvider()
    provider.configure({})
    transformer = ConfigTransformer({"file": provider}, unresolved="fail")
    plain = {f"spark.some.key{number}": f"an ordinary value, number {number}" for number in range(101)}
    reference = {"spark.shop.password": f"${{file:{values}:password}}"}
    rules.write_text(json.dumps({"rules": [{"key": "spark.acme.k1", "type": "range", "maxValue": 100}]}))
    root = "spark.config.override.policy"
    operator = OperatorFile(rules, {root: "Rules", f"{root}.param.file": str(rules)})
    engine = PolicyEngine.from_operator({}, operator)
    request = OverrideRequest("bench", "sql", scope="session", props={"spark.acme.k1": "7"})
    registry = Registry()
    registry.register(f"a-secret-of-number-{number}-{number * 7919}" for number in range(100))
    line = "26/11/25 12:00:00 INFO TaskSetManager: Finished task 7.0 in stage 3.0 (TID 31) in 20 ms on executor 1"
    found: Things = {
        "100 confs without a reference": lambda: transformer.transform(plain),
        "a conf that is a reference into a file": lambda: transformer.transform(reference),
        "a policy's decision about a conf of a session": lambda: engine.check(request),
        "a search of a line for 100 values": lambda: registry.redact(line),
    }
    for thing in found.values():
        thing()
    return found


def instructions(*command: str) -> int:
    """Run Python under valgrind and return how many instructions it took."""
    done = subprocess.run(
        ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
         sys.executable, *command],
        check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    told = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if told is None:
        raise SystemExit(f"valgrind told no number: {done.stderr[-500:]}")
    return int(told[1].replace(",", ""))


def measure() -> dict[str, dict[str, int]]:
    """Count everything."""
    with tempfile.TemporaryDirectory() as name:
        names = list(things(Path(name)))
    commands = [("-c", code) for code in IMPORTS.values()]
    commands += [(__file__, "--child", name) for name in ["", *names]]
    # Side by side: what else the processor does changes no count.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda command: instructions(*command), commands))
    imports = dict(zip(IMPORTS, counts, strict=False))
    alone, *found = counts[len(IMPORTS) :]
    each = {name: (count - alone) // TIMES for name, count in zip(names, found, strict=True)}
    return {"imports": imports, "each": each}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        with tempfile.TemporaryDirectory() as name:
            thing = things(Path(name)).get(options.child)
            for _ in range(TIMES if thing else 0):
                thing()
        return
    if not shutil.which("valgrind"):
        print("valgrind is not installed: nothing was counted")
        return
    found = measure()
    for name, count in found["imports"].items():
        print(f"imports, {name:45} {count / 1e6:10.1f} million")
    for name, count in found["each"].items():
        print(f"{name:54} {count:10,}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""How fast ``sparkconfig scrub`` searches event logs on one core, by value and by shape.

    python bench/bench_scrub.py [--megabytes 64] [--json FILE]

The logs are made up: task ends with twelve metrics each, a plan every fiftieth event, in JSON as Spark writes it, the
value in one of 2,000 events. Rates are of the text before compression, by processor time, from the page cache. What is
not measured: disks, networks, object stores, and more than one core.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from sparkconfig.scrub import logs  # noqa: E402 - after the path
from sparkconfig.scrub.codecs import codec_of, writing  # noqa: E402
from sparkconfig.scrub.engine import Engine  # noqa: E402

VALUE = "bench-Value-77aa-31"
PLAN = "== Physical Plan ==\n* Project (1) [id#%d, name#3]\n"


def event(number: int, pick: random.Random) -> dict[str, object]:
    if number % 50 == 0:
        leak = f"jdbc:postgresql://h/db?password={VALUE}" if number % 2000 == 50 else ""
        plan = PLAN % number * 20 + leak
        return {"Event": "SparkListenerSQLExecutionStart", "description": 'select "x"\nfrom t', "plan": plan}
    metrics = [
        {
            "ID": index,
            "Name": "internal.metrics.executorRunTime",
            "Update": pick.randrange(10**6),
            "Internal": True,
        }
        for index in range(12)
    ]
    info = {"Task ID": number, "Host": f"10.0.0.{number % 255}", "Accumulables": metrics}
    return {"Event": "SparkListenerTaskEnd", "Stage ID": number // 100, "Task Info": info}


def make(path: Path, megabytes: int) -> None:
    pick = random.Random(7)
    with path.open("wb") as raw, writing(raw, codec_of(path)) as stream:
        size = number = 0
        while size < megabytes << 20:
            number += 1
            line = json.dumps(event(number, pick), separators=(",", ":")).encode() + b"\n"
            stream.write(line)
            size += len(line)


def here(path: Path, megabytes: int, *, by_shape: bool) -> float:
    engine = Engine({"value": VALUE, "other": "bench-Other-99bb-77"}, by_shape=by_shape)
    (log,) = logs.logs_in([path])
    began = time.process_time()
    result = logs.find(log, engine)
    assert result.counts.values["value"], "nothing was found"
    return megabytes * 1.048576 / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=64, help="of text a file (64)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, object] = {"load before": os.getloadavg()[0], "megabytes a file": options.megabytes}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for suffix in ("", ".zstd"):
            path = folder / f"app{suffix}"
            make(path, options.megabytes)
            for by_shape in (False, True):
                what = f"{suffix.lstrip('.') or 'plain'}, by value{' and shape' * by_shape}"
                result[f"MB/s a core, {what}"] = round(here(path, options.megabytes, by_shape=by_shape), 1)
    result["load after"] = os.getloadavg()[0]
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

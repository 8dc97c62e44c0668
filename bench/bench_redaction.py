"""How fast texts are searched for secret values on the JVM, beside the alternatives.

    python bench/bench_redaction.py [--values 1,10,100,1000,10000] [--megabytes 8] [--json FILE]

The texts are real: the event log and the log4j output of a Spark job that this script runs first. Engines:
this project's; ``String.indexOf`` for each value; one ``java.util.regex`` alternation; Netty's Aho-Corasick where
Spark's Netty has one; Hyperscan, in C with vector code, over the whole text at once, where its wheel is installed; a
copy of the bytes, as the bound that memory sets. Each finds the values raw; ours finds their escapes and encodings
too. None of the values occurs, as in nearly every line.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from leaks.support import PYSPARK, compile_scala, shim_jar

PROBE = Path(__file__).with_name("RedactionBench.scala")
JOB = """
import sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[2]").config("spark.eventLog.enabled", "true")
    .config("spark.eventLog.dir", sys.argv[1]).config("spark.eventLog.compress", "false")
    .config("spark.eventLog.rolling.enabled", "false").config("spark.ui.enabled", "false").getOrCreate())
spark.sparkContext.setLogLevel("DEBUG")
for i in range(10):
    spark.range(0, 1000, 1, 8).selectExpr("id % 7 AS k", "id").groupBy("k").sum("id").collect()
spark.stop()
"""


def texts(folder: Path, megabytes: int) -> dict[str, Path]:
    """Run a job; return its event log and its log, repeated or cut to a size."""
    (folder / "events").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", JOB, (folder / "events").as_uri()], check=True, capture_output=True, cwd=folder
    )
    (events,) = (path for path in (folder / "events").iterdir() if not path.name.startswith("."))
    found = {}
    for name, raw in {"events": events.read_bytes(), "log": done.stderr}.items():
        lines = raw.decode("utf-8", "replace")
        size = megabytes << 20
        path = folder / f"{name}.txt"
        path.write_text((lines * (size // len(lines) + 1))[:size], encoding="utf-8")
        found[name] = path
    return found


def values(count: int) -> list[str]:
    """Passwords as generators make them: 20 characters, some of them awkward."""
    rng = random.Random(count)
    alphabet = string.ascii_letters + string.digits
    made = []
    for i in range(count):
        letters = [rng.choice(alphabet) for _ in range(20)]
        if i % 2:
            for _ in range(3):
                letters[rng.randrange(20)] = rng.choice("!@#$%&*-_+=/\\")
        made.append("".join(letters))
    return made


def hyperscan_speed(text: bytes, searched: list[str]) -> float:
    """Megabytes a second of processor time; 0 where Hyperscan is not installed."""
    try:
        import hyperscan
    except ImportError:
        return 0.0
    database = hyperscan.Database()
    database.compile(
        expressions=[re.escape(each).encode() for each in searched],
        ids=list(range(len(searched))), elements=len(searched), flags=[0] * len(searched),
    )  # fmt: skip
    found: list[int] = []
    best, deadline = float("inf"), time.process_time() + 1
    while time.process_time() < deadline:
        began = time.process_time()
        database.scan(text, match_event_handler=lambda number, *_: found.append(number))
        best = min(best, time.process_time() - began)
    if found:
        raise SystemExit("a value occurs in the text")
    return len(text) / best / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="searching texts for secret values, in MB/s")
    parser.add_argument("--values", default="1,10,100,1000,10000")
    parser.add_argument("--megabytes", type=int, default=8)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-redaction-") as scratch:
        folder = Path(scratch)
        classpath = f"{folder / 'classes'}:{shim_jar()}:{PYSPARK / 'jars'}/*"
        compile_scala(PROBE, folder / "classes")
        for name, text in texts(folder, options.megabytes).items():
            for count in map(int, options.values.split(",")):
                searched = values(count)
                (folder / "values").write_text("\n".join(searched), encoding="utf-8")
                done = subprocess.run(
                    ["java", "-Xmx2g", "-XX:+UseSerialGC", "-cp", classpath,
                     "RedactionBench", str(text), str(folder / "values")],
                    check=True, stdout=subprocess.PIPE, text=True,
                )  # fmt: skip
                row = {"text": name, "values": count, **json.loads(done.stdout.splitlines()[-1])}
                row["hyperscan"] = hyperscan_speed(text.read_bytes(), searched)
                rows.append(row)
                show(row, header=len(rows) == 1)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def show(row: dict[str, object], *, header: bool) -> None:
    """Print one row of the table; MB/s, and how much faster ours is than searching for each value."""
    names = ["ours", "indexOf", "regex", "netty", "hyperscan", "copy"]
    if header:
        print("text    values  build ms " + "".join(f"{name:>10}" for name in names) + "   ours/indexOf")
    cells = "".join(f"{row[name]:>10.1f}" if row.get(name) else f"{'-':>10}" for name in names)
    ratio = row["ours"] / row["indexOf"]  # type: ignore[operator]
    print(f"{row['text']:<8}{row['values']:>6}{row['build_ms']:>10.0f} {cells}{ratio:>14.1f}x", flush=True)


if __name__ == "__main__":
    main()

"""Cost of the policies' doors for one statement with nothing changed; aim: less than 20 microseconds.

    python bench/bench_policy_doors.py [--confs 1000] [--statements 2000]

Starts one local application with an operator's file, and times the door itself in the JVM, and analysed statements.
"""

# ruff: noqa: SLF001 - the door is in the JVM
from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.session import running_session


def main() -> None:
    """Print microseconds per look at the session, and per analysed statement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--confs", type=int, default=1000, help="confs of the session")
    parser.add_argument("--statements", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sparkconfig.conf").write_text(
            f"spark.config.agent.python={sys.executable}\nspark.plugins=io.sparkconfig.ConfigPlugin\n"
        )
        conf = {"spark.master": "local[1]", "spark.ui.enabled": "false"}
        conf |= {f"spark.shop.number{n}": str(n) for n in range(options.confs)}
        with running_session(conf, folder=folder, env={"SPARK_CONF_DIR": name}) as spark:
            spark.range(1).count()
            door = spark._jvm.io.sparkconfig.policy.doors.DoorTimer
            rounds = [door.nanosPerLook(spark._jsparkSession, 100_000) / 1000 for _ in range(7)]
            sys.stdout.write(
                f"look at {options.confs} confs: {statistics.median(rounds[2:]):.3f} us per statement\n"
            )
            begin = time.perf_counter()
            for _ in range(options.statements):
                spark._jsparkSession.range(1)
            spent = (time.perf_counter() - begin) / options.statements * 1e6
            sys.stdout.write(f"an analysed statement as a whole: {spent:.0f} us\n")


if __name__ == "__main__":
    main()

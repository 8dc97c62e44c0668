"""A JDBC job on PostgreSQL while its credentials rotate every two seconds, old and new being good for an overlap.

    python bench/bench_overlap.py [--seconds 60] [--poll 500ms] [--roles 2]

The roles of one database take turns; with N roles, credentials stay good for N - 1 more rotations. The overlap has to
be longer than the poll interval: --roles 4 for the default of five seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from support.cluster import SparkCluster  # noqa: E402
from support.jdbc import postgresql_driver  # noqa: E402
from support.overlap import RotatingRoles  # noqa: E402
from support.postgres import PostgresServer  # noqa: E402
from support.processes import Run  # noqa: E402
from support.session import running_session  # noqa: E402
from support.shim import shim_jar  # noqa: E402

CACHE = Path(__file__).resolve().parents[1] / ".cache"
PERIOD_S = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--poll", default="500ms")
    parser.add_argument("--roles", type=int, default=2)
    options = parser.parse_args()
    with Run() as run, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = SparkCluster(run, workers=2)
        roles = RotatingRoles(PostgresServer(run, cache=CACHE), folder, roles=options.roles)
        conf = {
            **cluster.application(),
            "spark.jars": f"{shim_jar()},{postgresql_driver(run, cache=CACHE)}",
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.poll.interval": options.poll,
        }
        with running_session(conf, folder=folder, env={"PYSPARK_PYTHON": sys.executable}) as session:
            stop = threading.Event()

            def rotate() -> None:
                while not stop.wait(PERIOD_S):
                    roles.rotate()

            rotating = threading.Thread(target=rotate)
            rotating.start()
            reads, rows, deadline = 0, 0, time.monotonic() + options.seconds
            while time.monotonic() < deadline:
                rows += session.read.format("jdbc").options(**roles.options()).load().count()
                reads += 1
            stop.set()
            rotating.join()
        authorized, refused = roles.connections()
        found = "all rows" if rows == reads * 1000 else "ROWS MISSING"
        print(
            f"poll {options.poll}, overlap {(options.roles - 1) * PERIOD_S:g} s: {len(roles.passwords) - 1} rotations,"
            f" {reads} reads, {found}, {authorized} connections let in,"
            f" {refused} refused"
        )


if __name__ == "__main__":
    main()

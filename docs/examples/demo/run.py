"""`make run`: watch a Spark cluster use a database password that no conf, command line, page or log shows.

It starts a private PostgreSQL and a standalone cluster with two workers, and runs the same application
twice: once on stock Spark with the password written the ordinary way, once with sparkconfig and a reference.
Each time it changes the password while the application runs, and searches every surface for both passwords.

Exit codes: 0 the claim holds; 1 it does not; 2 something did not start; 130 interrupted.
"""

import argparse
import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import FrameType

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(CHECKOUT / "docs" / "examples"), str(CHECKOUT / "tests")]

from demo import ours  # noqa: E402
from demo.job import DATABASE, ROLE, Stage, Submission, run_job  # noqa: E402
from demo.progress import say, step  # noqa: E402
from demo.report import Column, problems, render  # noqa: E402
from support.cluster import SparkCluster  # noqa: E402
from support.jdbc import COORDINATES, postgresql_driver  # noqa: E402
from support.postgres import PostgresServer, new_password  # noqa: E402
from support.processes import HarnessError, Run  # noqa: E402

CACHE = CHECKOUT / ".cache"


def demonstrate(run: Run) -> tuple[Column, Column | None]:
    """Run both jobs; the second is absent when it could not run at all."""
    stage = _prepare(run)
    say("First stock Spark, with the password written the ordinary way: --conf spark.shop.pwd=...")
    stock = Submission(
        "stock Spark",
        publish=lambda _: None,
        conf=lambda password: {"spark.shop.pwd": password},
    )
    stock_column = run_job(stage, stock)
    say("Now sparkconfig: the same application, and only a reference to the password.")
    try:
        return stock_column, run_job(stage, ours.submission(stage))
    except HarnessError as error:
        say(f"    {error}")
        return stock_column, None


def _prepare(run: Run) -> Stage:
    from vega_datasets import data  # type: ignore[import-untyped]  # takes a second: after the first words

    with step("Starting a PostgreSQL server that is private to this run"):
        postgres = PostgresServer(run, cache=CACHE)
        postgres.create(role=ROLE, password=new_password(), database=DATABASE)
    beside = ThreadPoolExecutor(1)
    fetched = beside.submit(postgresql_driver, run, cache=CACHE)
    # Whoever interrupts does not wait for the download: the run ends it.
    beside.shutdown(wait=False)
    with step("Starting a standalone Spark master and two workers, authenticated and encrypted"):
        cluster = SparkCluster(run, workers=2)
    with step(f"Fetching the JDBC driver {COORDINATES}"):
        driver = fetched.result()
    say(f"    master {cluster.url}, pages at {cluster.master_ui}")
    return Stage(run, postgres, cluster, driver, Path(data.seattle_weather.filepath))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make run", description=__doc__)
    parser.add_argument("--logs", type=Path, help="keep the logs of all processes in this folder")
    parser.add_argument(
        "--json", type=Path, help="write the report to this file, too, with where things were found"
    )
    chosen = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        with Run(keep_logs=chosen.logs) as run:
            stock, mine = demonstrate(run)
    except KeyboardInterrupt:
        say("interrupted; all processes are ended")
        return 130
    except HarnessError as error:
        print(f"make run: {error}", file=sys.stderr)
        return 2
    print("\nOccurrences of the old and the new password\n")
    print(render(stock, mine), end="\n\n")
    wrong = problems(stock, mine)
    if chosen.json:
        columns = {"stock": asdict(stock), "sparkconfig": asdict(mine) if mine else None, "problems": wrong}
        chosen.json.write_text(json.dumps(columns, indent=2))
    for line in wrong:
        print(f"FAILED: {line}")
    if not wrong:
        print("With sparkconfig neither password is anywhere to be seen.")
    print(
        "Stock Spark masks confs by their names (spark.redaction.regex). A conf named ...password would have been\n"
        "masked on pages and in the event log, though not on the command lines; spark.shop.pwd is not."
    )
    return 1 if wrong else 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

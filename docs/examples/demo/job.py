"""One of the two jobs: one application on one cluster, a rotation in the middle, and the search."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.progress import say, step
from demo.report import Column
from support import surfaces
from support.cluster import SparkCluster
from support.crawl import fetch
from support.leaks import LeakFinder
from support.postgres import PostgresServer, new_password
from support.processes import PATIENCE, Child, Run

ROLE = DATABASE = "shop"
APPLICATION = Path(__file__).resolve().parent.parent / "shop_weather.py"


@dataclass
class Stage:
    """What both jobs run on."""

    run: Run
    postgres: PostgresServer
    cluster: SparkCluster
    driver: Path
    csv: Path


@dataclass
class Submission:
    """How one job is submitted.

    Attributes:
        publish: called with each new password, once the database has it: puts it where the job looks.
        properties: ``--properties-file``.
    """

    title: str
    publish: Callable[[str], None]
    conf: Callable[[str], Mapping[str, str]]
    jars: Sequence[Path] = ()
    properties: Path | None = None


def run_job(stage: Stage, how: Submission) -> Column:
    """Run the application, rotate its password meanwhile, and search every surface for both passwords."""
    column = Column(how.title)
    name = re.sub(r"\W+", "-", how.title).lower()
    before, after = new_password(), new_password()
    finder = LeakFinder([before, after])
    stage.postgres.set_password(ROLE, before)
    how.publish(before)
    again, end = (stage.run.dir / f"{name}.{signal}" for signal in ("again", "end"))
    with surfaces.ProcessWatch() as processes:
        arguments: list[str | Path] = ["--again-when", again, "--end-when", end]
        child = _submit(stage, how, name, before, arguments)
        with step(f"{how.title}: writing the weather to PostgreSQL, reading it back on both workers"):
            child.wait_for("^report 1 is complete", timeout=PATIENCE)
        column.tables += _tables(child)
        print(column.tables[-1])
        _search_live(stage, column, finder, _ui(child))
        with step(f"{how.title}: rotating the password while the application runs"):
            stage.postgres.set_password(ROLE, after)
            how.publish(after)
            column.old_password_refused = not stage.postgres.accepts(
                role=ROLE, password=before, database=DATABASE
            )
        say(f"    the old password is {'refused' if column.old_password_refused else 'STILL ACCEPTED'} now")
        with step(f"{how.title}: reading again in the same application"):
            again.touch()
            column.followed_rotation = bool(child.wait_for_or_end("^report 2 is complete", timeout=PATIENCE))
        if column.followed_rotation:
            column.tables = _tables(child)
            _search_live(stage, column, finder, _ui(child))
        else:
            error = re.search(r"^\S*(?:Exception|Error): .*", child.output(), re.MULTILINE)
            say(f"    it failed: {error[0] if error else 'see the driver log'}")
        with step(f"{how.title}: ending the application"):
            end.touch()
            child.wait(timeout=PATIENCE)
    _search_rest(stage, column, finder, child, processes)
    return column


def _submit(stage: Stage, how: Submission, name: str, password: str, arguments: list[str | Path]) -> Child:
    common = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.ui.port": "0",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": stage.run.private_dir(f"{name}-events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    address = stage.postgres.jdbc_url(DATABASE)
    return stage.cluster.submit(
        name,
        [APPLICATION, "--csv", stage.csv.as_uri(), "--url", address, *arguments],
        properties=how.properties,
        conf={**common, **how.conf(password)},
        options=["--jars", ",".join(str(jar) for jar in [stage.driver, *how.jars])],
    )


def _ui(child: Child) -> str:
    port = child.wait_for(r"Successfully started service 'SparkUI' on port (\d+)", timeout=PATIENCE)[1]
    return f"http://127.0.0.1:{port}"


def _tables(child: Child) -> list[str]:
    """The tables that the application has printed."""
    return ["".join(match) for match in re.findall(r"((?:^[+|].*[+|]\n)+)", child.output(), re.MULTILINE)]


def _search_live(stage: Stage, column: Column, finder: LeakFinder, ui: str) -> None:
    """Search what exists while the application runs."""
    with step(f"{column.title}: searching the pages of the running application"):
        column.add(surfaces.search("environment REST", surfaces.environment_rest(ui), finder))
        column.add(surfaces.search("other REST answers", surfaces.application_rest(ui), finder))
        column.add(surfaces.search("pages of the application", surfaces.application_pages(ui), finder))
        # They are removed when the application ends.
        column.add(surfaces.search("temporary files", surfaces.files([stage.cluster.local]), finder))
        _search_daemons(stage, column, finder)
    executors = json.loads(fetch(f"{surfaces.api(ui)}/executors"))
    column.executors = {item["id"]: item["totalTasks"] for item in executors if item["id"] != "driver"}


def _search_daemons(stage: Stage, column: Column, finder: LeakFinder) -> None:
    cluster = stage.cluster
    column.add(surfaces.search("master pages", surfaces.daemon_pages([cluster.master_ui]), finder))
    column.add(surfaces.search("worker pages", surfaces.daemon_pages(cluster.worker_uis), finder))


def _search_rest(
    stage: Stage, column: Column, finder: LeakFinder, child: Child, processes: surfaces.ProcessWatch
) -> None:
    """Search what the application left behind, and what its processes showed."""
    cluster = stage.cluster
    application = child.wait_for(r"Connected to Spark cluster with app ID (\S+)", timeout=PATIENCE)[1]
    with step(f"{column.title}: searching what it left behind"):
        _search_daemons(stage, column, finder)
        daemons = [cluster.master.log, *(worker.log for worker in cluster.workers)]
        for name, paths in {
            "event log": list(stage.run.dir.glob("*-events/*" + application)),
            "driver log": [child.log],
            "executor logs": [path for path in cluster.executor_logs() if application in path.parts],
            "master and worker logs": daemons,
        }.items():
            column.add(surfaces.search(name, surfaces.files(paths), finder))
        column.add(surfaces.search("process command lines", processes.command_lines.items(), finder))
        column.add(surfaces.search("process environments", processes.environments.items(), finder))

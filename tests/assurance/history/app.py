"""An application of a run: it reads all paths in each way there is until it is told to end.

    python -m history.app PLAN

Tasks carry the numbers that the driver had when it submitted them. A line is printed for each job that failed, and
``ready`` once everything runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from history.journal import FAILED, NO_VALUE, Journal, Reader
from history.paths import Plan, WatchedPath
from history.tasks import PythonTask, pair
from support.scala_objects import scala_object

FLOORS = "history.floors"


class Application:
    """A Spark application with its threads."""

    def __init__(self, plan: Plan) -> None:
        from pyspark.sql import SparkSession

        self._plan = plan
        self._folder = Path(plan.folder)
        builder = SparkSession.builder.appName(plan.name)
        self._spark = builder.getOrCreate()
        self._context: Any = self._spark.sparkContext
        self._readers = scala_object(self._context._jvm, "history.Readers")
        self._begin = scala_object(self._context._jvm, "history.Begin")
        self._name = str(self._readers.name())
        self.ended = threading.Event()

    def run(self) -> None:
        """Read until the end."""
        plan = self._plan
        self._readers.watch(plan.for_scala, 4000)
        loops: Sequence[Callable[[Journal], None]] = (
            self._python_tasks,
            self._executor_jdbc,
            self._jdbc_source,
        )
        threads = [threading.Thread(target=self._loop, args=(each,), daemon=True) for each in loops]
        for each in threads:
            each.start()
        print("ready", self._context.applicationId, self._jvm_pid(), flush=True)
        journal = self._journal()
        while not self.ended.wait(0.1):
            for path in plan.paths:
                self._driver_read(journal, path)
            journal.flush()
        self._readers.stop()
        for each in threads:
            each.join(20)
        with contextlib.suppress(Exception):
            self._spark.stop()

    def _jvm_pid(self) -> int:
        return int(self._context._jvm.java.lang.ProcessHandle.current().pid())

    def _journal(self) -> Journal:
        # What the driver's Python uses is its JVM's.
        return Journal(self._folder, Reader(self._name, "driver Python", f"{self._plan.name} driver"))

    def _loop(self, body: Callable[[Journal], None]) -> None:
        journal = self._journal()
        failures = 0
        while not self.ended.is_set():
            try:
                body(journal)
                failures = 0
            except Exception as error:
                failures += 1
                print(f"{body.__name__} failed: {type(error).__name__} {str(error)[:2000]}", flush=True)
                if failures > 50:
                    os._exit(7)
                self.ended.wait(0.2)
            journal.flush()
            self.ended.wait(self._plan.pause / 1000)

    def _driver_read(self, journal: Journal, path: WatchedPath) -> int:
        begin = time.monotonic_ns()
        user, password = pair(path)
        journal.read(begin, path.number, user, password)
        return user if user == password else FAILED

    def _floors(self, journal: Journal) -> Mapping[int, int]:
        """What the driver has right now, of those paths that tell it in order."""
        found = {path.number: self._driver_read(journal, path) for path in self._plan.paths}
        return {number: value for number, value in found.items() if value not in (NO_VALUE, FAILED)}

    def _python_tasks(self, journal: Journal) -> None:
        plan = self._plan
        task = PythonTask(plan, self._floors(journal))
        self._context.parallelize(range(2), 2).mapPartitions(task).count()

    def _executor_jdbc(self, journal: Journal) -> None:
        floors = self._floors(journal)
        self._context.setLocalProperty(FLOORS, ",".join(f"{path}={value}" for path, value in floors.items()))
        self._readers.connect(self._context._jsc.sc(), 2, self._plan.for_scala, 200, 200, 2)

    def _jdbc_source(self, journal: Journal) -> None:
        """Spark's own data source, whose options hold the references."""
        login = next((path for path in self._plan.paths if path.url), None)
        if login is None:
            return
        floors = self._floors(journal)
        self._context.setLocalProperty(FLOORS, ",".join(f"{path}={value}" for path, value in floors.items()))
        options = {
            "url": f"jdbc:history:{login.number}:{login.url}", "driver": "history.RecordingDriver",
            "dbtable": "orders", "user": login.user, "password": login.password,
            "partitionColumn": "id", "lowerBound": "0", "upperBound": "100", "numPartitions": "2",
        }  # fmt: skip
        self._begin.now()
        frame = self._spark.read.format("jdbc").options(**options).load()
        self._begin.now()
        count = frame.count()
        if count != 100:
            print(f"a table with {count} rows instead of 100", flush=True)
        self.ended.wait(1)


def main() -> None:
    """Run until SIGTERM."""
    application = Application(Plan.load(Path(sys.argv[1])))
    signal.signal(signal.SIGTERM, lambda *_: application.ended.set())
    application.run()


if __name__ == "__main__":
    main()

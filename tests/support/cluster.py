"""A real standalone cluster from the pyspark wheel: a master and workers, authenticated and encrypted."""

from __future__ import annotations

import json
import os
import secrets
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.processes import PATIENCE, Child, Run, wait_until
from support.rpc import protected_rpc
from support.spark_home import spark_environment, spark_home


class SparkCluster:
    """A master and workers as child processes of a run."""

    def __init__(
        self,
        run: Run,
        *,
        workers: int = 2,
        cores: int = 1,
        memory: str = "1g",
        name: str = "spark",
        env: Mapping[str, str] | None = None,
        hosts: Sequence[str] = ("127.0.0.1",),
        master: str = "127.0.0.1",
        within: Mapping[str, Sequence[str]] | None = None,
        conf: Mapping[str, str] | None = None,
        owners: Mapping[str, int] | None = None,
    ) -> None:
        """Start the cluster and wait until all its workers are registered.

        Args:
            cores: of each worker.
            memory: of each worker, for its executors.
            name: of its folder in the run; a second cluster of one run needs another.
            env: added to the processes' environment, for example ``JAVA_HOME``.
            hosts: the workers' addresses in turn; Spark speculates only on another host.
            master: its address.
            within: by address, what the command line of a daemon there begins with.
            conf: of the daemons, beside `security`.
            owners: by address, the number of the user that `within` makes of the daemons there.

        Raises:
            HarnessError: it did not come up; the error names the log.
        """
        self._run = run
        self._name = name
        self.home = run.private_dir(name)
        for folder in ("conf", "local"):
            (self.home / folder).mkdir()
        self.local = self.home / "local"
        self._owners = owners or {}
        # Among the logs: the executors write their standard output and error there.
        self.work = run.private_dir(f"{name}/work" if owners else f"logs/{name}-executors")
        if owners:
            for folder, mode in ((self.home, 0o711), (self.work, 0o711), (self.local, 0o1777)):
                folder.chmod(mode)
        self.auth_secret = secrets.token_hex(24)
        self._within = within or {}
        self._env = {**spark_environment(self.home / "conf", self.local), **(env or {})}
        self._conf = {**self.security(), **(conf or {})}
        self._worker = ("--cores", str(cores), "--memory", memory)
        self.master = self._daemon("master", "master.Master", "--port", "0", host=master)
        start = self.master.wait_for(r"Starting Spark master at (spark://\S+)", timeout=PATIENCE)
        self.url = start[1]
        self.master_ui = _web_address(self.master, "MasterWebUI")
        self.workers: list[Child] = []
        for number in range(1, workers + 1):
            self._start_worker(hosts[number % len(hosts)])
        self.worker_uis = [_web_address(worker, "WorkerWebUI") for worker in self.workers]
        wait_until(
            f"{workers} registered workers", lambda: self._living_workers() == workers, timeout=PATIENCE
        )

    def security(self) -> dict[str, str]:
        """The confs that an application needs to join: hand them over in a 0600 file."""
        return protected_rpc(self.auth_secret)

    def application(self, *, executors: int = 2) -> dict[str, str]:
        """The confs of an application that joins, with so many executors of one core each."""
        return {
            **self.security(),
            "spark.master": self.url,
            "spark.executor.memory": "600m",
            "spark.executor.cores": "1",
            "spark.cores.max": str(executors),
        }

    def submit(
        self,
        name: str,
        application: Sequence[str | Path],
        *,
        properties: Path | None = None,
        conf: Mapping[str, str] | None = None,
        options: Sequence[str | Path] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        without: Sequence[str] = (),
    ) -> Child:
        """Start ``spark-submit``.

        Args:
            name: of its log.
            application: the script or jar, and its arguments.
            properties: ``--properties-file``; without one, a 0600 file with `security`.
            conf: each becomes ``--conf KEY=VALUE``.
            options: further options of spark-submit, such as ``--jars``.
            cwd: its working directory, if not the cluster's.
            without: variables that it must not have: it hands all of its own to a driver in cluster mode.
        """
        if properties is None:
            file = f"{self._name}/{name}.properties"
            properties = self._run.private_file(file, _lines(self.security()))
        confs = [part for key, value in (conf or {}).items() for part in ("--conf", f"{key}={value}")]
        return self._run.start(
            name,
            [
                "env",
                *(f"--unset={each}" for each in without),
                spark_home() / "bin" / "spark-submit",
                "--master",
                self.url,
                "--properties-file",
                properties,
                *confs,
                *options,
                *application,
            ],
            env={**self._env, "PYSPARK_PYTHON": sys.executable, **(env or {})},
            cwd=cwd or self.home,
        )

    def state(self) -> dict[str, Any]:
        """What the master says of itself, its workers and applications, as JSON."""
        with urllib.request.urlopen(f"{self.master_ui}/json/", timeout=60) as answer:
            return dict(json.load(answer))

    def executor_logs(self) -> list[Path]:
        """The files with the standard output and error of all executors so far."""
        return sorted(path for path in self.work.rglob("*") if path.name in ("stdout", "stderr"))

    def stop(self) -> None:
        """Stop the workers, then the master."""
        for worker in self.workers:
            worker.stop()
        self.master.stop()

    def _start_worker(self, host: str) -> Child:
        number = str(len(self.workers) + 1)
        if owner := self._owners.get(host):
            (self.work / number).mkdir()
            os.chown(self.work / number, owner, owner)
        worker = self._daemon(
            f"worker-{number}", "worker.Worker", *self._worker, "--port", "0",
            "--work-dir", str(self.work / number), self.url, host=host,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def _daemon(self, name: str, main: str, *arguments: str, host: str = "127.0.0.1") -> Child:
        # A file, because a command line is visible to every user of the machine.
        properties = self._run.private_file(f"{self._name}/{name}.properties", _lines(self._conf))
        if owner := self._owners.get(host):
            os.chown(properties, owner, owner)
        return self._run.start(
            f"{self._name}-{name}",
            [
                *self._within.get(host, ()),
                spark_home() / "bin" / "spark-class",
                f"org.apache.spark.deploy.{main}",
                "--host",
                host,
                "--webui-port",
                "0",
                "--properties-file",
                properties,
                *arguments,
            ],
            env={
                **self._env,
                "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_LOCAL_IP": host,
                "SPARK_PUBLIC_DNS": host,
            },
        )

    def _living_workers(self) -> int:
        return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])


def _web_address(daemon: Child, what: str) -> str:
    return daemon.wait_for(rf"Bound {what} to .* started at (http://\S+)", timeout=PATIENCE)[1]


def _lines(properties: Mapping[str, str]) -> str:
    return "".join(f"{key} {value}\n" for key, value in properties.items())

"""An application on YARN with HDFS, in client and cluster mode. Part of ``make real``; ``make yarn`` runs it alone."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from real.sources.base import CACHE
from support.crawl import crawl
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import Run
from support.rpc import protected_rpc_without_secret
from support.shim import shim_jar
from support.spark_home import spark_home
from support.yarn import Yarn

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not os.environ.get("REAL"), reason="starts YARN and HDFS, which takes minutes: run make yarn"
    ),
]

APP = Path(__file__).with_name("apps") / "on_yarn.py"


@pytest.fixture(scope="module")
def yarn(harness_run: Run) -> Iterator[Yarn]:
    yarn = Yarn(harness_run, cache=CACHE)
    yarn.hdfs("events", "-mkdir", "-p", "/events")
    yield yarn
    yarn.stop()


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_application(yarn: Yarn, tmp_path: Path, mode: str) -> None:
    store, found = tmp_path / "store.properties", tmp_path / "found"
    values = [new_password(), new_password()]
    store.write_text(f"password={values[0]}\n")
    store.with_suffix(".next").write_text(f"password={values[1]}\n")
    properties = {
        "spark.submit.deployMode": mode,
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.jars": str(shim_jar()),
        # Not one upload of all of Spark for each application.
        "spark.yarn.jars": f"local:{spark_home()}/jars/*",
        "spark.yarn.preserve.staging.files": "true",
        "spark.yarn.submit.waitAppCompletion": "true",
        "spark.hadoop.yarn.timeline-service.enabled": "false",
        **protected_rpc_without_secret(),
        "spark.driver.memory": "700m",
        "spark.executor.memory": "600m",
        "spark.executor.instances": "2",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"{yarn.files}/events",
        "spark.config.agent.python": sys.executable,
        "spark.pyspark.python": sys.executable,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        # Only a push brings a change to the executors before a task does.
        "spark.config.poll.interval": "1h",
        "spark.shop.password": f"${{files:{store}:password}}",
    }
    child = yarn.submit(f"on-yarn-{mode}", [APP, store, f"{yarn.files}/{mode}", found], properties=properties)
    finder = LeakFinder(values)
    ended, said = child.wait(timeout=300), child.output()
    assert finder.count(said.encode()) == 0, "spark-submit's output shows a value"
    assert ended == 0, said[-4000:]
    digests = [hashlib.sha256(value.encode()).hexdigest() for value in values]
    assert found.read_text().split() == [*digests, "pushed"]
    reference = f"${{files:{store}:password}}".encode()
    names, holders = set(), set()
    for name, body in yarn.written():
        assert finder.count(body) == 0, f"{name} shows a value"
        names.add(name.rpartition("/")[2])
        if reference in body.replace(b"\\", b""):
            holders.add(re.sub(r"^node-\d/", "", name).partition("/")[0] + "/" + name.rpartition("/")[2])
    # What was searched: launch scripts and logs of containers; the conf in a container's folder and in the staging
    # folder, and the event log: these two are blocks of HDFS, which are plain files.
    assert {"launch_container.sh", "stderr", "stdout"} <= names
    assert "local/__spark_conf__.properties" in holders
    assert "data/__spark_conf__.properties" in holders
    assert any(holder.startswith("data/blk_") for holder in holders), "no event log was searched"
    assert "__spark_conf__.zip" in yarn.hdfs(f"staging-{mode}", "-ls", "-R", "/user")
    manager = yarn.pages[-1]
    pages = dict(crawl([*yarn.pages, f"{manager}ws/v1/cluster/apps", f"{manager}conf", f"{manager}jmx"]))
    for address, body in pages.items():
        assert finder.count(body) == 0, f"{address} shows a value"
    assert APP.name.encode() in pages[f"{manager}ws/v1/cluster/apps"]

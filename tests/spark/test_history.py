"""A history server, with the jar and without it, loads a log with our event, and logs that were cleaned."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaks.support import jvm_classes
from sparkconfig._spark import driver
from sparkconfig.redaction import MASK
from sparkconfig.scrub import codecs, logs
from sparkconfig.scrub.engine import Engine
from support.crawl import fetch
from support.leaks import LeakFinder
from support.processes import Run, wait_until
from support.session import running_session
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

pytestmark = pytest.mark.spark
SECRETS = ["Canary-first-5810", "Canary-second-5811"]
LEAKED = "Canary-leaked-5812"
#: Logs that were written with that in clear and cleaned since, by the codec of their names, as far as it is installed.
CLEANED = {"leaked-plain": "", "leaked-rolling": "rolling"}
if importlib.util.find_spec("zstandard"):
    CLEANED["leaked-zstd"] = ".zstd"
#: Secrets that are also names which Spark itself gives in its JSON.
NAMES = ["children", "nodeName", "description", "metadata", "Stage Infos"]


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> tuple[Path, str]:
    """The event logs of an application that ended, and its id."""
    folder = tmp_path_factory.mktemp("logged")
    (folder / "events").mkdir()
    store = folder / "shop.properties"
    names = "".join(f"n{i}={name}\n" for i, name in enumerate(NAMES))
    store.write_text(f"password={SECRETS[0]}\n{names}")
    conf = {
        "spark.config.inplace.keys": "spark.names.*",
        **{f"spark.names.n{i}": f"${{files:{store}:n{i}}}" for i in range(len(NAMES))},
        "spark.master": "local[1]",
        "spark.app.name": "logged",
        # On a busy driver the application's end is heard when the plugins have ended.
        "spark.extraListeners": "org.apache.spark.probe.SlowEnd",
        "spark.jars": "",
        "spark.driver.extraClassPath": f"{shim_jar()}:{jvm_classes()}",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.override.policy": "All",
        "spark.shop.password": f"${{files:{store}:password}}",
    }
    with running_session(conf, folder=folder) as spark:
        spark.range(5).count()
        store.write_text(f"password={SECRETS[1]}\n{names}")
        wait_until("the rotation", lambda: driver.generation() == 2, timeout=30)
        driver.query_restarted(
            {"query_id": "orders", "generation": 2, "changed": ["password"], "seconds": 0.5, "attempts": 1}
        )
        application = spark.sparkContext.applicationId
    leak_and_clean(folder / "events", application)
    return folder / "events", application


def leak_and_clean(events: Path, application: str) -> None:
    """Copies of the log as stock Spark would have written it, each cleaned by ``scrub``."""
    (log,) = [
        path for path in events.rglob(f"*{application}") if "appstatus" not in path.name and path.is_file()
    ]
    text = log.read_text()
    hidden = '"spark.shop.password":"*********(redacted)"'
    assert hidden in text
    for name, suffix in CLEANED.items():
        path = events / f"{name}{suffix}"
        if suffix == "rolling":
            path = events / f"eventlog_v2_{name}" / f"events_1_{name}"
            path.parent.mkdir()
            (path.parent / f"appstatus_{name}").touch()
        with path.open("wb") as raw, codecs.writing(raw, codecs.codec_of(path)) as stream:
            stream.write(
                text.replace(application, name)
                .replace(hidden, hidden.replace("*********(redacted)", LEAKED))
                .encode()
            )
    for each in logs.logs_in([events]):
        result = logs.clean(each, Engine({"leaked": LEAKED}, by_shape=False))
        assert not result.unread
        assert result.changed == ("leaked-" in each.path.name and "appstatus" not in each.path.name)


@pytest.fixture(params=["with the jar", "without it"])
def server(request, logged, harness_run: Run) -> Iterator[str]:
    """Its address."""
    has_jar = request.param == "with the jar"
    name = f"history-{has_jar}"
    home = harness_run.private_dir(name)
    (home / "conf").mkdir()
    properties = {
        "spark.history.fs.logDirectory": logged[0].as_uri(),
        "spark.history.ui.port": "0",
        "spark.history.fs.update.interval": "1s",
    }
    lines = "".join(f"{key} {text}\n" for key, text in properties.items())
    child = harness_run.start(
        name,
        [
            spark_home() / "bin" / "spark-class",
            "org.apache.spark.deploy.history.HistoryServer",
            "--properties-file",
            harness_run.private_file(f"{name}.properties", lines),
        ],
        env={
            **spark_environment(home / "conf", home),
            "SPARK_DAEMON_MEMORY": "400m",
            **({"SPARK_DAEMON_CLASSPATH": str(shim_jar())} if has_jar else {}),
            **({"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}),
        },
    )
    yield child.wait_for(r"Bound HistoryServer to .* started at (http://\S+)", timeout=60)[1]
    child.stop()


def test_the_logs_load(server, logged) -> None:
    address = server
    events, application = logged
    wait_until("the application", lambda: application in _applications(address), timeout=60)
    for cleaned in CLEANED:
        wait_until(
            f"the application {cleaned}", lambda id_=cleaned: id_ in _applications(address), timeout=60
        )
        shown = fetch(f"{address}/api/v1/applications/{cleaned}/environment").decode()
        assert f'"spark.shop.password", "{MASK}"' in " ".join(shown.split())
        assert (LEAKED in shown) is False
        assert "Completed Jobs" in fetch(f"{address}/history/{cleaned}/jobs/").decode()
    jobs = fetch(f"{address}/history/{application}/jobs/").decode()
    assert "Completed Jobs" in jobs
    (query,) = json.loads(fetch(f"{address}/api/v1/applications/{application}/sql?details=true"))
    assert "HashAggregate" in {node["nodeName"] for node in query["nodes"]}
    assert query["successJobIds"] == [0]
    assert query["description"].startswith("count at ")
    assert "HashAggregate" in fetch(f"{address}/history/{application}/SQL/execution/?id=0").decode()
    environment = json.loads(fetch(f"{address}/api/v1/applications/{application}/environment"))
    assert "spark.shop.password" in json.dumps(environment)
    log = b"".join(path.read_bytes() for path in events.rglob("*") if path.is_file())
    assert b'"Event":"io.sparkconfig.ui.QueryRestartEvent"' in log
    for shown in (log, jobs.encode()):
        assert LeakFinder(SECRETS).count(shown) == 0


def _applications(address: str) -> list[str]:
    return [each["id"] for each in json.loads(fetch(f"{address}/api/v1/applications"))]

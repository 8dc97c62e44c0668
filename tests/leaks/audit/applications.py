"""The applications of one column, one after the other: each is searched while it runs and after its end."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from leaks.audit.column import Column
from leaks.audit.stage import CORPUS
from leaks.corpus import thrift as thrift_statements
from leaks.corpus.shop import Shop
from leaks.support import jvm_jar
from support import surfaces
from support.crawl import crawl, fetch
from support.processes import Child, wait_until
from support.spark_home import spark_environment, spark_home
from support.sql_servers import CONNECT, CONNECT_CONFS, THRIFT, connect_address, thrift_confs, thrift_port

_WAIT = 900.0


def python_on_cluster(
    column: Column, kinds: tuple[str, ...] = (), more: Mapping[str, str] | None = None, *, together: int = 8
) -> None:
    """Every kind of job in Python, on both workers; ends with an uncaught exception.

    Args:
        kinds: modules of the corpus; all of them if none is named.
        more: confs.
        together: how many secrets are in one text: more of them make fewer jobs and pages.
    """
    end = column.folder / "python.end"
    chosen = ["--kinds", *kinds] if kinds else []
    child = column.submit(
        "python",
        [
            CORPUS / "app.py",
            "--folder",
            column.folder,
            "--jdbc",
            column.stage.jdbc,
            "--end-when",
            end,
            "--together",
            str(together),
            *chosen,
        ],
        more={
            "spark.task.maxFailures": "2",
            "spark.speculation": "true",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.interval": "200ms",
            "spark.sql.streaming.stopTimeout": "60s",
            **(more or {}),
        },
    )
    _search_and_end(column, child, end)
    assert child.wait(_WAIT) != 0, "the crash of this application was not one"
    column.search_logs(child)


def scala_on_cluster(column: Column) -> None:
    """Jobs in Scala; its driver dies of a native fault. Its event log is compressed and rolling."""
    end = column.folder / "scala.end"
    child = column.submit(
        "scala",
        [jvm_jar(), end],
        options=["--class", "shop.Shop"],
        more={
            "spark.eventLog.compress": "true",
            "spark.eventLog.compression.codec": "zstd",
            "spark.eventLog.rolling.enabled": "true",
            "spark.extraListeners": "org.apache.spark.probe.AllEvents",
            "spark.sql.queryExecutionListeners": "org.apache.spark.probe.Queries",
        },
    )
    _search_and_end(column, child, end)
    assert child.wait(_WAIT) != 0, "the crash of this application was not one"
    column.search_logs(child)
    column.search("events and errors that listeners of other products get", surfaces.files([column.told]))
    column.search("report of a crashed JVM", surfaces.files([column.folder / "crash"]))
    # Nobody removed them.
    column.search_files()


def connect(column: Column) -> None:
    """A Connect server and a Python client."""
    server = column.submit(
        "connect-server",
        ["spark-internal"],
        options=["--class", CONNECT],
        more=CONNECT_CONFS,
        master="local[2]",
    )
    order = {
        "remote": connect_address(server),
        "values": column.values,
        "options": column.options,
        "jdbc": column.stage.jdbc,
    }
    client = _client(
        column, "connect-client", [sys.executable, CORPUS / "connect_client.py"], json.dumps(order)
    )
    client.wait(_WAIT)
    column.search_application(_ui(server))
    column.search_files()
    column.search("answers and errors at Connect clients", surfaces.files([client.log]))
    _end(column, server)


def thrift(column: Column) -> None:
    """A Thrift server with a metastore, and beeline."""
    work = column.folder / "work"
    server = column.submit(
        "thrift-server",
        ["spark-internal"],
        options=["--class", THRIFT],
        more=thrift_confs(work),
        master="local[2]",
    )
    port = thrift_port(server)
    shop = Shop(None, column.values, column.options, column.folder, column.stage.jdbc)
    # What a client has written itself comes back as it is: the server's surfaces show whether it is masked there.
    for name, statements in (
        ("written", thrift_statements.written(shop)),
        ("others", thrift_statements.others(shop)),
    ):
        script = column.stage.run.private_file(f"{column.name}-inputs/{name}.sql", "\n".join(statements))
        client = column.stage.run.start(
            f"{column.name}-beeline-{name}",
            [
                spark_home() / "bin" / "beeline", "--silent=true", "--force=true", "-u",
                f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann", "-f", script,
            ],
            env={**spark_environment(work, column.folder / "local"), "LC_ALL": "C.UTF-8"},
            cwd=work,
        )  # fmt: skip
        client.wait(_WAIT)
    column.search_application(_ui(server))
    column.search_files()
    column.search("answers and errors at Thrift clients", surfaces.files([client.log]))
    _end(column, server)


def history(column: Column) -> None:
    """The history server over all event logs of the column, and these themselves."""
    events = column.folder / "events"
    column.search("event logs", surfaces.files([events]))
    properties = column.stage.run.private_file(
        f"{column.name}-inputs/history.properties",
        f"spark.history.fs.logDirectory {events.as_uri()}\nspark.history.ui.port 0\n",
    )
    server = column.stage.run.start(
        f"{column.name}-history",
        [
            spark_home() / "bin" / "spark-class", "org.apache.spark.deploy.history.HistoryServer",
            "--properties-file", properties,
        ],
        env={**spark_environment(column.folder / "work", column.folder / "local"), "SPARK_DAEMON_MEMORY": "1g"},
    )  # fmt: skip
    base = server.wait_for(r"HistoryServer to .* started at (http://\S+)", timeout=120)[1]
    expected = len(list(events.iterdir()))
    wait_until("all applications in the history", lambda: len(_applications(base)) >= expected, timeout=120)
    start = [f"{base}/", f"{base}/?showIncomplete=true"]
    start += [
        f"{base}/history/{name}/{page}/" for name in _applications(base) for page in ("jobs", "environment")
    ]
    rest = [f"{base}/api/v1/applications/{name}/{page}" for name in _applications(base)
            for page in ("environment", "jobs", "stages?details=true", "sql?details=true&length=100000")]  # fmt: skip

    def pages(address: str) -> bool:
        return "/api/v1/" not in address

    for_http = column.sample(column.stage.per_shape_http)
    column.search("history server, over HTTP", ((address, fetch(address)) for address in rest))
    found = crawl(start, within=lambda address: pages(address) and for_http(address), limit=9000, seconds=900)
    column.search("history server, over HTTP", found)
    if column.stage.browser:
        sampled = column.sample(column.stage.per_shape)
        found = crawl(
            start, read=column.stage.browser.read, limit=9000, seconds=1800,
            within=lambda address: pages(address) and sampled(address),
        )  # fmt: skip
        column.search("history server, in Chromium", found)
    server.stop()
    column.search("log of the history server", surfaces.files([server.log]))


ALL: Mapping[str, Callable[[Column], None]] = {
    "python": python_on_cluster,
    "scala": scala_on_cluster,
    "connect": connect,
    "thrift": thrift,
    "history": history,
}


def can_run(name: str) -> bool:
    """Whether this Spark has what an application needs: pyspark 3.5 comes without the Connect server."""
    return name != "connect" or any((spark_home() / "jars").glob("spark-connect_*.jar"))


def _search_and_end(column: Column, child: Child, end: Path) -> None:
    child.wait_for("^READY", timeout=_WAIT)
    column.search_files()
    column.search_application(_ui(child))
    column.search_daemons()
    end.touch()


def _end(column: Column, server: Child) -> None:
    server.stop()
    column.search_logs(server)


def _client(column: Column, name: str, command: list[str | Path], order: str) -> Child:
    """A process that reads its order, which holds secrets, from a private file on standard input."""
    file = column.stage.run.private_file(f"{column.name}-inputs/{name}.json", order + "\n")
    return column.stage.run.start(
        f"{column.name}-{name}", ["sh", "-c", 'file=$1; shift; exec "$@" < "$file"', "sh", file, *command],
        env={"LC_ALL": "C.UTF-8"}, cwd=column.folder / "work",
    )  # fmt: skip


def _ui(child: Child) -> str:
    port = child.wait_for(r"Successfully started service 'SparkUI' on port (\d+)", timeout=5)[1]
    return f"http://127.0.0.1:{port}"


def _applications(base: str) -> list[str]:
    """Applications of a history server, as they are in its addresses."""
    return [re.sub(r"[^\w.-]", "", each["id"]) for each in json.loads(fetch(f"{base}/api/v1/applications"))]

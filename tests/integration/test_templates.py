"""Every document in ``conf`` with the clients that it is for: one server for each template, all its clients against it.

The marker ``templates`` says which documents a test runs with which client; ``docs/templates.md`` is made from it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.redaction import MASK
from support.jdbc import artifact_jar
from support.processes import Run
from support.sql_clients import (
    Answer,
    Client,
    Refused,
    beeline,
    beeline_client,
    jdbc_client,
    pyhive_client,
)
from support.sql_servers import CONNECT as CONNECT_MAIN
from support.sql_servers import CONNECT_CONFS, connect_address, thrift_confs, thrift_port
from support.sql_servers import THRIFT as THRIFT_SERVER
from support.template_site import VALUE, Site
from support.templates import document, load, operator_home, plain_environment

pytestmark = pytest.mark.spark

CACHE = Path(__file__).resolve().parents[2] / ".cache"
KYUUBI = "org.apache.kyuubi:kyuubi-hive-jdbc-shaded:1.9.2"
PARTITIONS = "spark.sql.shuffle.partitions"


@pytest.fixture(scope="module")
def site(harness_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(harness_run, tmp_path_factory.mktemp("templates"))


@pytest.fixture(scope="module")
def shared(site: Site) -> Path:
    """The operator's file of a host with servers, its commented lines about policies put in force."""
    return operator_home(
        site.folder,
        "shared",
        {"spark.config.inplace.keys": "spark.shop.token"},
        force=["override.policy", "create.table.policy", "audit.file"],
        # The one file of this machine that users may read in the place of a lake.
        places={
            '"hdfs://your-namenode/*"': f'"hdfs://your-namenode/*", "file:{site.rows}"',
            # A conf of the server that the operator lets users write into their SQL.
            '"statements": [': (
                '"statements": [{"type": "allow", "statement": "variable", "name": "conf:spark.shop.token"},'
            ),
            # An option that needs no database, and the server's own conf; what ships names options for credentials.
            '"path": "shared/*", "jobTypes": ["connect", "sql"]': (
                '"path": "shared/*", "jobTypes": ["connect", "sql"], "options": ["lineSep", "spark.shop.token"]'
            ),
        },
    )


COUNT = "SELECT count(*) FROM text.`{rows}` WITH (lineSep = '${{sealed:NAME}}')"
STATEMENTS = (
    ("SELECT 'one', X'4142'", [("one", "AB")]),
    (f"SET {PARTITIONS}=50", [(PARTITIONS, "50")]),
    (f"SET {PARTITIONS}=5000", "at most 2000 is allowed"),
    ("SET spark.sql.optimizer.excludedRules=x", "spark.sql.optimizer.excludedRules"),
    ("SET hive.exec.scratchdir=/tmp/x", "hive.exec.scratchdir"),
    (COUNT.replace("NAME", "shared/shop:password"), [("3",)]),
    (COUNT.replace("NAME", "shared/shop:nothing"), "shared/shop:nothing"),
    (COUNT.replace("NAME", "teams/shop:password"), "teams/shop"),
    ("CREATE TEMPORARY VIEW v USING text OPTIONS (path '{rows}.others')", "no rule lets a"),
    ("CREATE TABLE prod.t (id INT) USING csv", "may not be created"),
    (f"SET {PARTITIONS}", [(PARTITIONS, "50")]),
)
"""What a user of a shared server may do and may not do: statement, and its rows or a part of the refusal."""


def check(site: Site, client: Client) -> None:
    """Let a client send :data:`STATEMENTS`."""
    texts = [text.format(rows=site.rows) for text, _ in STATEMENTS]
    answers = client(texts)
    assert len(answers) == len(texts), answers
    for text, (_, expected), answer in zip(texts, STATEMENTS, answers, strict=True):
        shown = site.hide(str(answer))
        if isinstance(expected, str):
            assert isinstance(answer, Refused), f"{text}: {shown}"
            assert expected in answer.text, f"{text}: {shown}"
        else:
            assert answer == expected, f"{text}: {shown}"


# Thrift


@pytest.fixture(scope="module")
def thrift(site: Site, shared: Path) -> Iterator[int]:
    """The port of a server that is started as ``start-thriftserver.sh`` starts it, with confs of its own for Hive."""
    confs = thrift_confs(site.folder / "hive")
    hiveconf = {key.removeprefix("spark.hadoop."): text for key, text in confs.items()}
    server = site.start(
        "thrift-server.conf.template",
        shared,
        [
            "spark-submit", "--class", THRIFT_SERVER, "spark-internal",
            *(word for key, text in hiveconf.items() for word in ("--hiveconf", f"{key}={text}")),
        ],
        **{"spark.shop.token": "${sealed:shared/shop:password}"},
    )  # fmt: skip
    try:
        yield thrift_port(server)
    finally:
        server.stop()
    site.hide(server.output())


THRIFT = ["thrift-server.conf.template", "sparkconfig.conf.template", "shared-server.json", "tables.json"]


class TestThrift:
    @pytest.mark.templates(client="beeline", documents=THRIFT)
    def test_beeline(self, site: Site, thrift: int) -> None:
        check(site, beeline_client(site, thrift))

    def test_errors_that_clients_get_are_masked(self, site: Site, thrift: int) -> None:
        """Spark's own variable brings the value into these texts."""
        failing = [
            "SELEC '${spark.shop.token}' FRM;",
            "SELECT '${spark.shop.token}' + no_such_column FROM range(1);",
            "SELECT raise_error('raised ${spark.shop.token}');",
            "SET spark.shop.token;",
        ]
        told = site.hide(beeline(thrift, site.folder, "\n".join(failing) + "\n", "--verbose=true"))
        assert told.count(MASK) >= len(failing), told[-3000:]
        for sign in ("PARSE_SYNTAX_ERROR", "no_such_column", f"raised {MASK}", "HiveSQLException"):
            assert sign in told, f"{sign}: {told[-3000:]}"

    @pytest.mark.templates(client="Hive JDBC", documents=THRIFT)
    def test_hive_jdbc(self, site: Site, thrift: int) -> None:
        check(
            site, jdbc_client(f"jdbc:hive2://127.0.0.1:{thrift}/default", "org.apache.hive.jdbc.HiveDriver")
        )

    @pytest.mark.templates(client="Kyuubi JDBC", documents=THRIFT)
    def test_kyuubi_jdbc(self, site: Site, thrift: int) -> None:
        jar = artifact_jar(site.run, KYUUBI, cache=CACHE)
        url = f"jdbc:kyuubi://127.0.0.1:{thrift}/default"
        check(site, jdbc_client(url, "org.apache.kyuubi.jdbc.KyuubiHiveDriver", jar))

    @pytest.mark.templates(client="PyHive", documents=THRIFT)
    def test_pyhive(self, site: Site, thrift: int) -> None:
        check(site, pyhive_client(thrift))


# Connect

CONNECT = """
import json, sys, warnings
from pyspark.sql import SparkSession

warnings.simplefilter("ignore")
builder = SparkSession.builder.remote(sys.argv[1]).appName("shop").config("spark.sql.session.timeZone", "UTC")
spark = builder.getOrCreate()

def answer(ask):
    try:
        rows = ask()
        return [[cell.decode() if isinstance(cell, (bytes, bytearray)) else str(cell) for cell in row] for row in rows]
    except Exception as error:
        return f"{type(error).__name__}: " + str(error).partition("JVM stacktrace")[0]

def pandas():
    import pyspark.pandas as ps
    return [[ps.DataFrame({"a": [1, 2]})["a"].sum()], [len(ps.range(3))]]

def others():
    frame = spark.createDataFrame([(1, "a")], ["id", "name"])
    return [[len(frame.toPandas())], [frame.filter("id = 1").count()], [spark.newSession().range(2).count()]]

asked = json.load(sys.stdin)
found = [answer(lambda: spark.sql(text).collect()) for text in asked["statements"]]
print("ANSWERS", json.dumps({"statements": found, "pandas": answer(pandas), "others": answer(others)}))
spark.stop()
"""

CONNECT_SERVER = [
    "connect-server.conf.template",
    "sparkconfig.conf.template",
    "shared-server.json",
    "tables.json",
]


@pytest.fixture(scope="module")
def connect(site: Site, shared: Path) -> Iterator[dict[str, Any]]:
    server = site.start(
        "connect-server.conf.template",
        shared,
        ["spark-submit", "--class", CONNECT_MAIN, "spark-internal"],
        **CONNECT_CONFS,
    )
    try:
        yield connect_answers(site, connect_address(server))
    finally:
        server.stop()
    site.hide(server.output())


def connect_answers(site: Site, address: str) -> dict[str, Any]:
    asked = {"statements": [text.format(rows=site.rows) for text, _ in STATEMENTS]}
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, address], input=json.dumps(asked),
        env=plain_environment(), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    text = site.hide(done.stdout + done.stderr)
    assert done.returncode == 0, text[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS ")]
    found: dict[str, Any] = json.loads(line.removeprefix("ANSWERS "))
    return found


class TestConnect:
    @pytest.mark.templates(client="PySpark Connect", documents=CONNECT_SERVER)
    def test_pyspark_connect(self, site: Site, connect: dict[str, Any]) -> None:
        answers: list[Answer] = [
            Refused(each) if isinstance(each, str) else [tuple(row) for row in each]
            for each in connect["statements"]
        ]
        check(site, lambda _: answers)
        assert connect["others"] == [["1"], ["1"], ["2"]]

    @pytest.mark.templates(client="pandas API on Connect", documents=CONNECT_SERVER)
    def test_pandas(self, connect: dict[str, Any]) -> None:
        assert connect["pandas"] == [["3"], ["3"]]


# Programs of their own


@pytest.fixture(scope="module")
def programs(site: Site) -> dict[str, tuple[int, str]]:
    """What ``spark-submit`` and ``spark-sql`` end with; they start together, since each takes its time."""
    events = site.folder / "events"
    events.mkdir()
    home = operator_home(
        site.folder,
        "programs",
        {"spark.config.override.policy.sql.param.file": "policies/minimal.json"},
        force=["override.policy", "create.table.policy", "defaults.file"],
        places={"hdfs:///spark-history": f"file:{events}"},
    )
    defaults = load(document("spark-defaults.conf.template"), site.folder)
    (home / "spark-defaults.conf").write_text("".join(f"{key} {text}\n" for key, text in defaults.items()))
    app = site.folder / "app.py"
    app.write_text(
        "from pyspark.sql import SparkSession\n"
        "from sparkconfig import current\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        f"assert current('${{sealed:shop:password}}').reveal() == {VALUE[:9]!r} + {VALUE[9:]!r}\n"
        "limit = spark.conf.get('spark.dynamicAllocation.maxExecutors')\n"
        "print(f'RAN {spark.range(3).count()} {limit}')  # as one: the log is written between two\n"
        "spark.stop()\n"
    )
    script = site.folder / "script.sql"
    script.write_text(
        "SELECT 'one', X'4142';\nSET spark.sql.catalog.mine=x.Y;\nCREATE TABLE prod.t (id INT) USING csv;\n"
        "SELECT 'end';\n"
    )
    limits = {
        "spark.acme.team": "sales",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{events}",
    }
    memory = {"spark.sql.catalogImplementation": "in-memory"}
    options = ["--hiveconf", "hive.cli.errors.ignore=true", "-f", script]
    template = "spark-defaults.conf.template"
    children = {
        "spark-submit": site.start(template, home, ["spark-submit", app], name="spark-submit", **limits),
        "spark-sql": site.start(template, home, ["spark-sql", *options], name="spark-sql", **memory),
    }
    return {name: (child.wait(240), site.hide(child.output())) for name, child in children.items()}


DEFAULTS = ["spark-defaults.conf.template", "sparkconfig.conf.template"]


class TestPrograms:
    @pytest.mark.templates(client="spark-submit", documents=[*DEFAULTS, "batch-limits.json"])
    def test_spark_submit(self, programs: dict[str, tuple[int, str]]) -> None:
        code, output = programs["spark-submit"]
        assert code == 0, output[-3000:]
        assert "RAN 3 10" in output
        assert "the operator's file sets confs that Spark reads" not in output

    @pytest.mark.templates(client="spark-sql", documents=[*DEFAULTS, "minimal.json", "tables.json"])
    def test_spark_sql(self, programs: dict[str, tuple[int, str]]) -> None:
        _, output = programs["spark-sql"]
        assert re.search(r"^one\tAB$", output, re.MULTILINE), output[-3000:]
        assert "catalogs are the operator's; ask for one" in output
        assert re.search(r"the table \S*prod\.t may not be created", output), output[-3000:]
        assert re.search(r"^end$", output, re.MULTILINE), output[-3000:]

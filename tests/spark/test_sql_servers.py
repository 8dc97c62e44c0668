"""Spark Thrift server and `spark-sql`: JDBC tables whose password is a reference, in one metastore that both use."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sparkconfig.redaction import MASK
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import Child, Run
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

pytestmark = pytest.mark.spark

ROLE = "teller"
#: A secret that is the name of a table, of a column and of a partition too.
WORD = "inventory"
#: A secret of which clients send a part.
LONG = "".join(f"{number * number * 7919:06x}kQzR" for number in range(1, 20))
SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


@dataclass
class Bank:
    """The folder that both front ends share: metastore, event logs, and the file with the password."""

    folder: Path
    run: Run
    postgres: object
    driver: Path
    passwords: list[str] = field(default_factory=list, repr=False)
    outputs: list[str] = field(default_factory=list, repr=False)

    @property
    def reference(self) -> str:
        return f"${{files:{self.folder}/store.properties:pw}}"

    def rotate(self) -> None:
        self.passwords.append(new_password())
        self.postgres.set_password(ROLE, self.passwords[-1])
        part = self.folder / "store.part"
        part.write_text(f"pw={self.passwords[-1]}\nword={WORD}\nlong={LONG}\n")
        part.replace(self.folder / "store.properties")

    def create(self, table: str) -> str:
        options = {"url": self.postgres.jdbc_url(ROLE), "driver": "org.postgresql.Driver", "user": ROLE,
                   "password": self.reference, "dbtable": "accounts"}  # fmt: skip
        listed = ", ".join(f"{key} '{text}'" for key, text in options.items())
        return f"CREATE TABLE {table} USING jdbc OPTIONS ({listed});\n"

    def confs(self) -> Path:
        folder = self.folder
        confs = {
            **QUIET,
            "spark.master": "local[1]",
            "spark.ui.enabled": "false",
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.config.agent.python": sys.executable,
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.shop.word": self.reference.replace(":pw}", ":word}"),
            "spark.shop.long": self.reference.replace(":pw}", ":long}"),
            "spark.config.inplace.keys": "spark.shop.long",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.server2.thrift.port": "0",
            "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
            "spark.hadoop.hive.server2.logging.operation.log.location": f"{folder}/operations",
            "spark.hadoop.hive.exec.scratchdir": f"{folder}/scratch",
            "spark.hadoop.hive.exec.local.scratchdir": f"{folder}/local-scratch",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={folder}/metastore;create=true"
            ),
        }
        path = folder / "spark.properties"
        path.write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
        return path

    @property
    def environment(self) -> dict[str, str]:
        # spark_environment hides the user's own; the metastore's log is written where the process stands.
        return self.run.environment({
            **spark_environment(self.folder, self.folder / "local"), "PYSPARK_PYTHON": sys.executable,
        })  # fmt: skip

    def jars(self) -> list[str]:
        return ["--jars", f"{shim_jar()},{self.driver}", "--properties-file", str(self.confs())]

    def server(self, *options: str) -> Child:
        command = [
            spark_home() / "bin" / "spark-submit",
            "--class",
            SERVER,
            *self.jars(),
            *options,
            "spark-internal",
        ]
        # Classes of another build must stand before Spark's own: see support/class_archive.py.
        asis = {"SPARKCONFIG_CLASS_PATH": "asis"} if "--driver-class-path" in options else {}
        return self.run.start("bank-server", command, env=self.environment | asis, cwd=self.folder)

    def finish(self, command: list[object], statements: str) -> str:
        """Run a client over these statements and return what it printed, of which no password is a part."""
        script = self.folder / "statements.sql"
        script.write_text(statements)
        done = subprocess.run(
            [*map(str, command), "-f", str(script)],
            env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        self.outputs.append(done.stdout + done.stderr)
        self.assert_hidden(self.outputs[-1].encode())
        assert done.returncode == 0, self.outputs[-1][-3000:]
        return done.stdout

    def assert_hidden(self, *contents: bytes) -> None:
        finder = LeakFinder(self.passwords)
        for content in contents:
            assert finder.count(content) == 0, "a password is shown"


@pytest.fixture(scope="module")
def bank(harness_run, postgres, pg_driver, tmp_path_factory) -> Iterator[Bank]:
    folder = tmp_path_factory.mktemp("bank")
    for name in ("events", "local"):
        (folder / name).mkdir()
    bank = Bank(folder, harness_run, postgres, pg_driver)
    postgres.create(role=ROLE, password=new_password(), database=ROLE)
    bank.rotate()
    postgres.sql(
        "create table accounts(id int); insert into accounts values (41), (42);"
        f'alter table accounts owner to "{ROLE}"',
        database=ROLE,
    )
    return bank


def numbers(output: str) -> list[int]:
    """The rows that a client printed: beeline frames them, spark-sql does not."""
    return sorted(int(found) for found in re.findall(r"^\|?\s*(\d+)\s*\|?$", output, re.MULTILINE))


LOOK = """
SHOW CREATE TABLE {table};
DESCRIBE EXTENDED {table};
SHOW TBLPROPERTIES {table};
EXPLAIN EXTENDED SELECT * FROM {table};
"""


TRUE_ANSWERS = f"""
CREATE TABLE {WORD} ({WORD} INT, region STRING) USING parquet PARTITIONED BY (region)
  COMMENT 'kept in {WORD}' TBLPROPERTIES ('note' = 'kept in {WORD}');
INSERT INTO {WORD} VALUES (1, '{WORD}');
SHOW TABLES;
SHOW COLUMNS IN {WORD};
SHOW PARTITIONS {WORD};
DESCRIBE FORMATTED {WORD};
SHOW TBLPROPERTIES {WORD} ('note');
SELECT concat('{WORD}=', {WORD}) FROM {WORD};
EXPLAIN SELECT concat('kept in {WORD} ', region) FROM {WORD};
SET shop.mine=mine is {WORD};
SET shop.mine;
SET shop.conf;
SET shop.variable;
SET shop.substituted;
"""
#: Parts of a secret, and a whole one: a mask would say that a guess is right.
GUESSES = [LONG[:8] + "...", LONG[:30] + "\u2026", LONG[:64], LONG[64:128], LONG]
#: Of a right guess and a wrong one; some stand beside the true value.
PAIRS = """
EXPLAIN EXTENDED SELECT concat('{0}', id), hex('{0}'), reverse('{1}') FROM range(2);
EXPLAIN EXTENDED SELECT '{0}', '${{spark.shop.long}}';
SELECT raise_error('it is {0}');
SELECT raise_error(concat('it is ', reverse('{1}'), id)) FROM range(2);
SELECT raise_error(concat('{0}', '${{spark.shop.long}}'));
SELECT '{0}' + no_such FROM range(1);
SELECT cast(reverse('{1}') AS INT);
SELEC '{0}';
CREATE OR REPLACE TEMP VIEW mine AS SELECT reverse('{1}') AS it;
EXPLAIN EXTENDED SELECT * FROM mine;
SET shop.guess={0};
SET shop.guess;
RESET shop.guess;
SET shop.guess;
"""


def test_thrift_server(bank: Bank) -> None:
    server = bank.server()
    try:
        port = server.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)[1]
        beeline = [spark_home() / "bin" / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann"]
        first = bank.finish(beeline, bank.create("through_thrift") + "SELECT * FROM through_thrift;\n")
        assert numbers(first) == [41, 42]
        bank.rotate()
        statements = "INSERT INTO through_thrift SELECT 43;\nSELECT * FROM through_thrift;\n"
        second = bank.finish(beeline, statements + LOOK.format(table="through_thrift"))
        assert numbers(second) == [41, 42, 43]
        assert "Physical Plan" in second
        # The client's own confs and variables; what refers to one of the server's is not its own text.
        url = f"{beeline[2]}/default?shop.conf=conf-is-{WORD}#shop.variable=variable-is-{WORD}"
        foreign = ["--hiveconf", "shop.substituted=got-${hiveconf:spark.shop.word}"]
        listed = bank.finish([*beeline[:2], url, *beeline[3:], *foreign], TRUE_ANSWERS)
        for told in (f"| {WORD} ", f"region={WORD} ", f"{bank.folder}/warehouse/{WORD} ", f"{WORD}=1 "):
            assert told in listed, f"what programs act on: {told}"
        assert listed.count(f"kept in {WORD}") >= 4, "a comment, a property, the statements with them, a plan"
        assert listed.count(f"mine is {WORD}") == 2, (
            "what the client has set, when it sets it and when it asks"
        )
        assert listed.count(f"conf-is-{WORD}") == 1, "a conf that the client has set in its URL"
        assert listed.count(f"variable-is-{WORD}") == 1, "a variable that the client has set in its URL"
        assert f"got-{WORD}" not in listed
        texts = "".join(f"EXPLAIN SELECT concat('{guess}', region) FROM {WORD};\n" for guess in GUESSES)
        texts += "".join(
            f"ALTER TABLE {WORD} SET TBLPROPERTIES ('guess{number}' = '{guess}');\n"
            for number, guess in enumerate(GUESSES)
        )
        looks = "".join(
            f"{look} {WORD};\n" for look in ("SHOW TBLPROPERTIES", "DESCRIBE FORMATTED", "SHOW CREATE TABLE")
        )
        answered = bank.finish(beeline, texts + looks)
        assert all(answered.count(guess) >= 4 for guess in GUESSES), "a client's own text"
        told = []
        for guess in (LONG, LONG.replace("kQzR", "wYxT")):
            bank.finish([*beeline, "--force=true"], PAIRS.format(guess, guess[::-1]))
            found = bank.outputs[-1]
            assert found.count(guess) > PAIRS.count(";"), "its statements, and their answers"
            assert found.count(MASK) == told[0].count(MASK) if told else MASK in found, (
                "what the variable holds"
            )
            found = (
                found.replace(guess.encode().hex().upper(), "HEX")
                .replace(guess, "GUESS")
                .replace(guess[::-1], "SSEUG")
            )
            told.append(
                re.sub(r"#\d+L?|[0-9.]+ seconds|[0-9a-f]{8}-[0-9a-f-]{27}|\+?-{9,}\+?| {9,}", "", found)
            )
        assert told[0] == told[1], "a right guess and a wrong one"
    finally:
        server.stop()
    bank.outputs.append(server.output())
    bank.assert_hidden(server.output().encode())


def test_spark_sql_reads_that_table_and_its_own(bank: Bank) -> None:
    bank.rotate()
    command = [spark_home() / "bin" / "spark-sql", *bank.jars()]
    statements = "SELECT * FROM through_thrift;\n" + bank.create("through_sql")
    output = bank.finish(
        command, statements + "SELECT * FROM through_sql;\n" + LOOK.format(table="through_sql")
    )
    assert numbers(output) == [41, 41, 42, 42, 43, 43]
    assert "Physical Plan" in output


def test_event_logs_and_metastore_hold_the_reference_alone(bank: Bank) -> None:
    events = [path.read_bytes() for path in (bank.folder / "events").rglob("*") if path.is_file()]
    assert any(b"through_thrift" in content for content in events)
    assert any(b"through_sql" in content for content in events)
    metastore = [path.read_bytes() for path in (bank.folder / "metastore").rglob("*") if path.is_file()]
    assert any(bank.reference.encode() in content for content in metastore)
    bank.assert_hidden(*events, *metastore)


@pytest.fixture(scope="module")
def other_build(tmp_path_factory) -> Path:
    """The server's own classes, with another name for the one field through which its errors are reached."""
    (jar,) = (spark_home() / "jars").glob("spark-hive-thriftserver_*.jar")
    folder, field_name = tmp_path_factory.mktemp("other-build"), b"\x01\x00\x0acliService"
    with zipfile.ZipFile(jar) as classes:
        users = {name: data for name in classes.namelist() if field_name in (data := classes.read(name))}
    assert users
    for name, data in users.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data.replace(field_name, b"\x01\x00\x0acliBackend"))
    return folder


def test_a_thrift_server_whose_errors_cannot_be_reached_ends(bank: Bank, other_build: Path) -> None:
    server = bank.server("--driver-class-path", str(other_build))
    try:
        wrong = server.wait_for(r"errors for Thrift clients cannot be redacted: .*", timeout=240)[0]
        server.process.wait(60)
    finally:
        server.stop()
    assert "no field cliService in this Spark version" in wrong
    assert "Set spark.config.redaction.require=false to go on without it." in wrong
    assert server.process.returncode == 1


def test_it_serves_with_a_warning_if_redaction_is_not_required(bank: Bank, other_build: Path) -> None:
    bank.rotate()
    options = ["--driver-class-path", str(other_build), "--conf", "spark.config.redaction.require=false"]
    server = bank.server(*options)
    try:
        port = server.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)[1]
        server.wait_for(r"errors for Thrift clients cannot be redacted.*going on", timeout=60)
        beeline = [spark_home() / "bin" / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann"]
        assert numbers(bank.finish(beeline, "SELECT * FROM through_thrift;\n")) == [41, 42, 43]
    finally:
        server.stop()
    bank.assert_hidden(server.output().encode())

"""docs/shared-servers.md is true: its files, commands and statements make a server with two teams.

Only places differ from the page: folders, the database's and the server's ports, and the lake, which is a folder here.
The step that installs the package is left out, and so are the lines about LDAP.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.policies import of_event
from support.postgres import PostgresServer, free_port
from support.processes import Child
from support.spark_home import spark_environment, spark_home
from support.sql_servers import hive

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "shared-servers.md").read_text(encoding="utf-8")
PASSWORDS = {team: f"Canary-{team}-8d20c4-login" for team in ("shop", "risk")}
ROWS = {"shop": 3, "risk": 2}


class Section:
    """What the section says, with this machine's places in the place of the page's."""

    def __init__(self, places: Mapping[str, str]) -> None:
        text = PAGE.split("## From nothing to two teams\n")[1].split("\n## ")[0]
        text = re.sub(r"<!-- not run:.*?-->\n```.*?```", "", text, flags=re.DOTALL)
        for there, here in places.items():
            assert there in text, f"the page does not name {there}"
            text = text.replace(there, here)
        self.blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)

    def files(self, kind: str) -> list[str]:
        return [text for name, text in self.blocks if name == kind]

    def commands(self) -> list[str]:
        """Each command once, with its continued lines."""
        text = "".join(self.files("console"))
        return [command.strip() for command in re.split(r"(?m)^\$ ", text) if command.strip()]


class Machine:
    """A shell in the operator's folder."""

    def __init__(self, folder: Path) -> None:
        self.etc = folder / "etc"
        programs = f"{ROOT}/.venv/bin:{spark_home()}/bin:{os.environ['PATH']}"
        self.env = {
            **spark_environment(self.etc, folder),
            "PATH": programs,
            "SPARKCONFIG_SOURCES": str(ROOT),
        }

    def run(self, command: str, answers: str = "", code: int | None = 0) -> str:
        done = subprocess.run(
            ["bash", "-ec", command], cwd=self.etc, env={**os.environ, **self.env}, input=answers,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert not any(secret in done.stdout for secret in PASSWORDS.values()), command
        assert code is None or done.returncode == code, f"{command}\n{done.stdout[:3000]}"
        return done.stdout


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> PostgresServer:
    for team, table in (("shop", "orders"), ("risk", "limits")):
        postgres.create(role=team, password=PASSWORDS[team], database=team)
        numbers = f"SELECT n AS id FROM generate_series(1, {ROWS[team]}) n"
        postgres.sql(f"CREATE TABLE {table} AS {numbers}; ALTER TABLE {table} OWNER TO {team}", database=team)
    return postgres


@pytest.fixture(scope="module")
def server(harness_run, database, pg_driver, tmp_path_factory) -> Iterator[tuple[Machine, Section, Child]]:
    folder = tmp_path_factory.mktemp("page").resolve()
    for name in ("etc", "log", "lake"):
        (folder / name).mkdir(mode=0o755)
    machine, port = Machine(folder), free_port()
    section = Section({
        "/etc/spark": str(machine.etc),
        "/var/log/spark": str(folder / "log"),
        "/opt/jdbc/postgresql.jar": str(pg_driver),
        "/opt/sparkconfig/bin/python": f"{ROOT}/.venv/bin/python",
        "db.example.com": f"{database.host}:{database.port}",
        "10000": str(port),
        "localhost": "127.0.0.1",
        "s3a://lake": f"file:{folder}/lake",
    })  # fmt: skip
    operator, thrift = section.files("properties")
    lists, cases = section.files("json")
    (machine.etc / "sparkconfig.conf").write_text(operator)
    (machine.etc / "thrift-server.conf").write_text(
        "".join(line for line in thrift.splitlines(keepends=True) if "authentication" not in line)
        + "".join(f"{key} {text}\n" for key, text in local(folder).items())
    )
    # The shipped rule wants a lake that is not on the disk; "paths" decides about the folder that is the lake here.
    here = {"key": "path", "type": "unlimited", "scopes": ["source", "sink"]}
    (machine.etc / "policies").mkdir()
    (machine.etc / "policies" / "teams.json").write_text(json.dumps({**json.loads(lists), "rules": [here]}))
    (machine.etc / "policies" / "teams-cases.json").write_text(cases)
    for name, text in zip(("ana.sql", "rita.sql"), section.files("sql"), strict=True):
        (machine.etc / name).write_text(text)
    for command in section.commands():
        if command.startswith("spark-submit"):
            program = ["bash", "-c", f"exec {command}"]
            child = harness_run.start("page-thrift", program, env=machine.env, cwd=machine.etc)
            child.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)
            yield machine, section, child
            child.stop()
            return
        team = re.search(r"seal set .*teams/(\w+):", command)
        machine.run(command, answers=PASSWORDS[team[1]] if team else "")


def local(folder: Path) -> dict[str, str]:
    """What this machine needs beside the page's own lines."""
    return {
        **hive(folder / "hive"),
        "spark.master": "local[1]",
        "spark.driver.memory": "700m",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.server2.logging.operation.log.location": f"{folder}/operations",
    }


def beeline(section: Section, user: str) -> str:
    (command,) = (each for each in section.commands() if f"-n {user} " in each)
    return command


def test_the_page_makes_a_server_with_two_teams(server):
    machine, section, child = server
    shown = machine.run(beeline(section, "ana"))
    assert re.search(rf"\| {ROWS['shop']} +\|", shown), shown[-3000:]

    statements = [each for each in section.files("sql")[1].split(";\n") if each.strip()]
    shown = machine.run(beeline(section, "rita"), code=None)
    refusals = re.findall(r"operator's policy does not allow", shown)
    assert len(refusals) >= len(statements) == 4, shown[-5000:]
    assert "use your team's connection" in shown

    # What the text says beside: her own connection works, and a table of the catalog is everybody's.
    own = "CREATE TABLE own USING jdbc OPTIONS (sparkconfig.connection 'risk', dbtable 'limits'); "
    (machine.etc / "rita.sql").write_text(
        own + "SELECT count(*) + 40 FROM own; SELECT count(*) + 50 FROM daily;"
    )
    shown = machine.run(beeline(section, "rita"), code=None)
    for number in (40 + ROWS["risk"], 50 + ROWS["shop"]):
        assert re.search(rf"\| {number} +\|", shown), shown[-3000:]

    audit = of_event((machine.etc.parent / "log" / "policy.jsonl").read_text().splitlines(), "policy")
    denied = [record for record in audit if record["decision"] == "denied"]
    assert {record["user"] for record in denied} == {"rita"}
    everything = child.output() + json.dumps(audit)
    assert not any(secret in everything for secret in PASSWORDS.values())

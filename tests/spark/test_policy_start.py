"""Policies at the start of an application: whatever way a conf takes, one message lists all violations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

pytestmark = pytest.mark.spark
NOBODY = 65534

APP = Path(__file__).parent / "apps" / "start_cases.py"
SECRET = "Canary-9c41de-value"
PLUGIN = "io.sparkconfig.ConfigPlugin"
BASE = {**QUIET, "spark.master": "local[1]", "spark.app.name": "start", "spark.ui.enabled": "false"}
RULES = {
    "rules": [
        {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": "50"},
        {"key": "spark.shop.zone", "type": "allowlist", "values": ["a", "b"]},
    ],
    "references": [{"type": "forbid", "provider": "files", "key": "admin"}],
}


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> dict[str, dict[str, object]]:
    """How each start ended; all of them in one JVM, whose system properties come from SPARK_SUBMIT_OPTS."""
    folder = tmp_path_factory.mktemp("policy")
    (folder / "shop.properties").write_text(f"admin={SECRET}\nzone=a\n")
    operator = folder / "operator"
    operator.mkdir(mode=0o755)
    (operator / "rules.json").write_text(json.dumps(RULES))
    (operator / "sparkconfig.conf").write_text(
        "spark.config.override.policy=Rules\nspark.config.override.policy.param.file=rules.json\n"
        "spark.config.providers=files\nspark.config.providers.files.class=file\n"
        f"spark.config.providers.files.param.allowed.paths={folder}\n"
        f"spark.config.agent.python={sys.executable}\n"
        "spark.shop.owner=operator\nspark.hadoop.fs.s3a.endpoint=s3.shop\n"
    )
    (folder / "job.conf").write_text("spark.shop.from.file b\nspark.shop.owner thief\n")
    file = folder / "shop.properties"
    cases = {
        "allowed": {"spark.shop.zone": f"${{files:{file}:zone}}", "spark.shop.owner": "operator"},
        "many": {
            "spark.sql.shuffle.partitions": "51",
            "spark.shop.zone": "c",
            "spark.config.providers": "mine",
            "spark.extraListeners": "com.acme.Listener",
            "spark.hadoop.fs.s3a.endpoint": "elsewhere",
        },
        "by reference": {"spark.shop.zone": f"${{files:{file}:admin}}"},
    }
    base = {**BASE, "spark.jars": str(shim_jar()), "spark.plugins": PLUGIN}
    done = subprocess.run(
        [sys.executable, str(APP)],
        input=json.dumps([{**base, **case} for case in cases.values()]),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "SPARK_CONF_DIR": str(operator),
            "PYSPARK_SUBMIT_ARGS": f"--jars {shim_jar()} pyspark-shell",
        },
    )
    answers = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("CASE ")]
    assert len(answers) == len(cases), done.stderr[-3000:].replace(SECRET, "(value)")
    found = dict(zip(cases, answers, strict=True))
    for way, arguments, environment in (
        ("--conf", ["--conf", "spark.shop.owner=thief"], {}),
        ("--properties-file", ["--properties-file", str(folder / "job.conf")], {}),
        ("system property", [], {"SPARK_SUBMIT_OPTS": "-Dspark.shop.owner=thief"}),
    ):
        done = subprocess.run(
            [sys.executable, str(APP)],
            input=json.dumps([base]),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=folder,
            env={
                **os.environ,
                **environment,
                "SPARK_CONF_DIR": str(operator),
                "PYSPARK_SUBMIT_ARGS": " ".join(["--jars", str(shim_jar()), *arguments, "pyspark-shell"]),
            },
        )
        lines = [line[5:] for line in done.stdout.splitlines() if line.startswith("CASE ")]
        assert lines, done.stderr[-3000:].replace(SECRET, "(value)")
        found[way] = json.loads(lines[0])
    return found


def test_what_is_allowed_starts_with_the_operators_values(ends):
    assert ends["allowed"]["started"], ends["allowed"]["message"]


def test_one_message_lists_all_violations(ends):
    end = ends["many"]
    assert not end["started"]
    words = [
        "5 problems",
        "spark.sql.shuffle.partitions",
        "spark.shop.zone",
        "spark.config.providers",
        "spark.extraListeners",
        "spark.hadoop.fs.s3a.endpoint",
    ]
    assert [word for word in words if word not in str(end["message"])] == [], end["message"]


def test_a_forbidden_reference_is_named_and_its_value_is_not(ends):
    end = ends["by reference"]
    assert not end["started"]
    assert "admin" in str(end["message"])
    assert SECRET not in json.dumps(end)


@pytest.mark.parametrize("way", ["--conf", "--properties-file", "system property"])
def test_ways_to_set_a_conf(ends, way):
    assert not ends[way]["started"]
    assert "spark.shop.owner" in str(ends[way]["message"])


@pytest.fixture(scope="class")
def starts() -> Iterator[dict[str, tuple[str, bool]]]:
    """By the file's case: what spark-sql said, and whether the interpreter that the file names has run."""
    program = spark_home() / "bin" / "spark-sql"
    reached = subprocess.run(["test", "-r", program], user=NOBODY, group=NOBODY, extra_groups=[], check=False)
    if reached.returncode != 0:
        pytest.skip(f"other users cannot reach {program}")
    # Not below pytest's own folder, which only root may enter.
    folder = Path(tempfile.mkdtemp(prefix="sparkconfig-another-user-"))
    folder.chmod(0o755)
    try:
        running = {case: _start(program, folder, case) for case in ("root", "own", "writable", "folder")}
        outputs = {case: child.communicate(timeout=240)[0] for case, child in running.items()}
        yield {case: (text, (folder / f"{case}-home" / "ran").exists()) for case, text in outputs.items()}
    finally:
        shutil.rmtree(folder)


def _start(program: Path, folder: Path, case: str) -> subprocess.Popen[str]:
    home, conf = folder / f"{case}-home", folder / case
    for made in (home, conf):
        made.mkdir(mode=0o755)
    os.chown(home, NOBODY, NOBODY)
    python = folder / f"{case}-python"
    python.write_text(f"#!/bin/sh\ntouch '{home}/ran'\n")
    python.chmod(0o755)
    file = conf / "sparkconfig.conf"
    file.write_text(f"spark.config.agent.python={python}\n")
    file.chmod(0o666 if case == "writable" else 0o644)
    if case in ("own", "folder"):
        os.chown(file if case == "own" else conf, NOBODY, NOBODY)
    confs = {**BASE, "spark.jars": str(shim_jar()), "spark.plugins": PLUGIN}
    return subprocess.Popen(
        [
            program,
            *(part for key, text in confs.items() for part in ("--conf", f"{key}={text}")),
            "-e",
            "SELECT 1",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env={**os.environ, **spark_environment(conf, home), "HOME": str(home)},
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start jobs of other users")
class TestAnotherUser:
    """The file of an operator names the interpreter that evaluates it: who could write the file must not choose it."""

    def test_roots_file_is_trusted(self, starts):
        text, ran = starts["root"]
        assert ran, text[-3000:]

    @pytest.mark.parametrize(
        ("case", "words"),
        [
            ("own", ("belongs to the user that runs the job", "chown root")),
            ("folder", ("belongs to the user that runs the job", "chown root")),
            ("writable", ("can write", "take that permission away")),
        ],
    )
    def test_a_file_that_the_job_could_write_does_not_even_choose_its_interpreter(self, starts, case, words):
        text, ran = starts[case]
        assert not ran
        assert [word for word in (*words, f"/{case}") if word not in text] == [], text[-3000:]

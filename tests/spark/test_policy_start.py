"""Policies at the start of an application: whatever way a conf takes, one message lists all violations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.session import QUIET
from support.shim import shim_jar

pytestmark = pytest.mark.spark

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

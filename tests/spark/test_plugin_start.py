"""Starts that must fail, each with one message that lists every problem and holds no value; and some that must not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from support.rpc import protected_rpc
from support.session import QUIET
from support.shim import shim_jar

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "start_cases.py"
SPARK_3 = pyspark.__version__.startswith("3.")
SECRET = "Canary-71b2c9-value"
BASE = {**QUIET, "spark.master": "local[1]", "spark.app.name": "start", "spark.ui.enabled": "false"}
FILES = {"spark.config.providers": "files", "spark.config.providers.files.class": "file"}


def _cases(folder: Path) -> dict[str, dict[str, str]]:
    good = folder / "good.properties"
    unreadable = folder / "forbidden.properties"
    return {
        "good": {**FILES, "spark.shop.token": f"${{files:{good}:token}}"},
        "in place": {
            **FILES,
            "spark.config.inplace.keys": "spark.shop.*",
            "spark.shop.token": f"${{files:{good}:token}}",
        },
        "foreign": {**FILES, "spark.shop.home": "${env:HOME}", "spark.shop.name": "${name}"},
        "unknown class": {
            "spark.config.providers": "a",
            "spark.config.providers.a.class": "no.such.Provider",
        },
        "configure fails": {
            "spark.config.providers": "sealed",
            "spark.config.providers.sealed.class": "sealed",
            "spark.config.providers.sealed.param.file": str(folder / "missing.sealed"),
            "spark.config.providers.sealed.param.key.file": str(folder / "missing.key"),
        },
        "missing file": {**FILES, "spark.shop.token": f"${{files:{folder}/none.properties:token}}"},
        "missing key": {**FILES, "spark.shop.token": f"${{files:{good}:tokn}}"},
        "reference without key": {**FILES, "spark.shop.token": "${files:}"},
        "forbidden path": {
            **FILES,
            "spark.config.providers.files.param.allowed.paths": str(folder / "allowed"),
            "spark.shop.token": f"${{files:{unreadable}:token}}",
        },
        "reserved name": {"spark.config.providers": "env", "spark.config.providers.env.class": "envvar"},
        "no param prefix": {**FILES, "spark.config.providers.files.allowed.paths": "/x"},
        "read early": {**FILES, "spark.local.dir": f"/tmp/${{files:{good}:token}}"},
        "executor environment": {**FILES, "spark.executorEnv.TOKEN": f"${{files:{good}:token}}"},
        "connector": {**FILES, "spark.es.net.http.auth.pass": f"${{files:{good}:token}}"},
        "tags": {**FILES, "spark.yarn.tags": f"${{files:{good}:token}}"},
        "unknown provider": {**FILES, "spark.shop.token": "${valut:db:password}"},
        "unknown setting": {**FILES, "spark.config.provders": "x"},
        "expanded by spark": {**FILES, "spark.metrics.namespace": f"${{files:{good}:tricky}}"},
        "many": {
            **FILES,
            "spark.shop.one": f"${{files:{good}:nope}}",
            "spark.shop.two": "${vautl:a:b}",
            "spark.local.dir": f"/tmp/${{files:{good}:token}}",
        },
        "single pass": {"spark.sql.analyzer.singlePassResolver.enabled": "true"},
        "another process": {"spark.master": "local-cluster[1,1,700]"},
        "sasl": {
            "spark.master": "local-cluster[1,1,700]",
            "spark.authenticate": "true",
            "spark.authenticate.secret": "x",
            "spark.authenticate.enableSaslEncryption": "true",
        },
        # Spark 3.5 ignores it; later ones miss the keys.
        "tls": {
            "spark.master": "local-cluster[1,1,700]",
            "spark.authenticate": "true",
            "spark.authenticate.secret": "x",
            "spark.ssl.rpc.enabled": "true",
        },
        "served to everybody": {
            **FILES,
            "spark.master": "local-cluster[1,1,700]",
            **protected_rpc(),
            "spark.files": str(unreadable),
        },
        "wrong python": {**FILES, "spark.config.agent.python": "/nonexistent/python3"},
        "bare python": {**FILES, "spark.config.agent.python": "/usr/bin/env"},
    }


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> dict[str, dict[str, object]]:
    """How each start ended; all of them in one JVM, one after the other."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "good.properties").write_text(f"token={SECRET}\ntricky=a${{spark.app.name}}{SECRET}\n")
    (folder / "forbidden.properties").write_text(f"token={SECRET}\n")
    (folder / "forbidden.properties").chmod(0o600)
    (folder / "allowed").mkdir()
    cases = _cases(folder)
    base = {**BASE, "spark.jars": str(shim_jar()), "spark.plugins": "io.sparkconfig.ConfigPlugin"}
    done = subprocess.run(
        [sys.executable, str(APP)],
        input=json.dumps([{**base, **case} for case in cases.values()]),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": f"--jars {shim_jar()} pyspark-shell"},
    )
    answers = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("CASE ")]
    assert len(answers) == len(cases), done.stderr[-3000:].replace(SECRET, "(value)")
    streams = done.stdout.replace(json.dumps(SECRET), "") + done.stderr
    return {**dict(zip(cases, answers, strict=True)), "streams": {"text": streams}}


def test_a_good_start_answers_values_and_lists_references(ends) -> None:
    end = ends["good"]
    assert end["started"]
    assert end["values"]["spark.shop.token"] == SECRET
    assert end["listed"]["spark.shop.token"].startswith("${files:")


def test_in_place_keys_hold_the_value_and_join_sparks_redaction(ends) -> None:
    end = ends["in place"]
    assert end["started"]
    assert end["listed"]["spark.shop.token"] == SECRET
    assert "spark.shop.token" in end["redaction"]


def test_what_spark_or_hadoop_expand_is_left_alone(ends) -> None:
    end = ends["foreign"]
    assert end["started"]
    assert end["values"] == {"spark.shop.home": "${env:HOME}", "spark.shop.name": "${name}"}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("unknown class", ["providers.a.class", "no.such"]),
        ("configure fails", ["sealed", "missing."]),
        ("missing file", ["spark.shop.token", "files", "none.properties"]),
        ("missing key", ["spark.shop.token", "files", "tokn"]),
        ("reference without key", ["spark.shop.token", "files"]),
        ("forbidden path", ["spark.shop.token", "files", "allowed.paths"]),
        ("reserved name", ["env", "envvar"]),
        ("no param prefix", ["spark.config.providers.files.param.allowed.paths"]),
        ("read early", ["spark.local.dir", "before plugins"]),
        ("executor environment", ["spark.executorEnv.TOKEN", "starts no executors"]),
        ("connector", ["spark.es.net.http.auth.pass", "spark.config.inplace.keys"]),
        ("tags", ["spark.yarn.tags"]),
        ("unknown provider", ["spark.shop.token", "valut"]),
        ("unknown setting", ["spark.config.provders", "spark.config.providers"]),
        ("expanded by spark", ["spark.metrics.namespace", "expand"]),
        ("many", ["spark.shop.one", "spark.shop.two", "spark.local.dir", "3 problems"]),
        ("single pass", ["spark.sql.analyzer.singlePassResolver.enabled", "Unset it"]),
        ("another process", ["unprotected RPC", "spark.network.crypto.enabled=true"]),
        ("sasl", ["unprotected RPC", "spark.network.crypto.enabled=true"]),
        ("tls", ["unprotected RPC", "ignores spark.ssl.rpc.enabled"] if SPARK_3 else ["SSL"]),
        ("served to everybody", ["spark.files", "forbidden.properties", "for its owner alone"]),
        ("wrong python", ["/nonexistent/python3", "spark.config.agent.python"]),
        ("bare python", ["/usr/bin/env", "spark.config.agent.python"]),
    ],
)
def test_a_bad_start_is_not_a_start_and_says_what_to_do(ends, case: str, words: list[str]) -> None:
    end = ends[case]
    assert not end["started"]
    assert [word for word in words if word not in str(end["message"])] == [], end["message"]
    assert SECRET not in str(end["all"])


def test_no_value_reached_the_driver_log_or_standard_output(ends) -> None:
    shown = [
        line
        for line in ends["streams"]["text"].splitlines()
        if SECRET in line and not line.startswith("CASE ")
    ]
    assert len(shown) == 0

"""Starts that must fail, each with one message that lists every problem and holds no value; and some that must not.

What the side process finds wrong is tested without Spark: unit/resolution/test_declared.py, unit/agent/test_service.py.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from support.rpc import protected_rpc
from support.shim import ROOT
from support.starts import FILES, started

pytestmark = pytest.mark.spark

SPARK_3 = pyspark.__version__.startswith("3.")
SECRET = "Canary-71b2c9-value"


_SURFACE = '{"sparks": "3.5-4.3", "groups": [{"verdict": "harmless", "reason": "a", "fields": {"3.5-4.3": ["Own"]}}]}'
#: What else can be wrong in such a file is tested without Spark, in SurfaceSuite.scala.
SURFACES = {"a surface": _SURFACE, "a name of ours": _SURFACE.replace("Own", "reflect()")}


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
        "another version": {**FILES, "spark.config.agent.python": str(_another_version(folder))},
        **{name: _judged(folder, number, text) for number, (name, text) in enumerate(SURFACES.items())},
    }


def _judged(folder: Path, number: int, surface: str) -> dict[str, str]:
    """A policy about statements, and a surface file of the operator's."""
    rules = folder / "rules.json"
    rules.write_text('{"statements": [{"type": "allow", "statement": "show-*"}]}')
    file = folder / f"surface{number}.json"
    file.write_text(surface)
    policy = "spark.config.override.policy"
    return {policy: "Rules", f"{policy}.param.file": str(rules), "spark.config.surface.files": str(file)}


def _another_version(folder: Path) -> Path:
    """A Python that imports a package of another version than the jar's."""
    package = folder / "other" / "sparkconfig"
    shutil.copytree(ROOT / "python" / "sparkconfig", package, ignore=shutil.ignore_patterns("jars"))
    (package / "_base" / "version.py").write_text('__version__ = "9.9.9"\n')
    python = folder / "python-of-another-version"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={package.parent} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return python


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("start")
    (folder / "good.properties").write_text(f"token={SECRET}\ntricky=a${{spark.app.name}}{SECRET}\n")
    (folder / "forbidden.properties").write_text(f"token={SECRET}\n")
    (folder / "forbidden.properties").chmod(0o600)
    answers, printed = started(_cases(folder), folder, secret=SECRET)
    return {**answers, "printed": printed}


def test_a_good_start_answers_values_and_lists_references(ends) -> None:
    end = ends["good"]
    assert end["started"]
    assert end["values"]["spark.shop.token"] == SECRET
    assert end["listed"]["spark.shop.token"].startswith("${files:")


def test_an_operators_surface_file_is_read(ends) -> None:
    assert ends["a surface"]["started"], ends["a surface"]["message"]


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
        ("expanded by spark", ["spark.metrics.namespace", "expand"]),
        ("many", ["spark.shop.one", "spark.shop.two", "spark.local.dir", "3 problems"]),
        ("single pass", ["spark.sql.analyzer.singlePassResolver.enabled", "Unset it"]),
        ("another process", ["unprotected RPC", "spark.network.crypto.enabled=true"]),
        ("sasl", ["unprotected RPC", "spark.network.crypto.enabled=true"]),
        ("tls", ["unprotected RPC", "ignores spark.ssl.rpc.enabled"] if SPARK_3 else ["SSL"]),
        ("served to everybody", ["spark.files", "forbidden.properties", "for its owner alone"]),
        ("wrong python", ["/nonexistent/python3", "spark.config.agent.python"]),
        ("bare python", ["/usr/bin/env", "spark.config.agent.python"]),
        ("another version", ["sparkconfig jar has version 0.1.0", "9.9.9"]),
        ("a name of ours", ["surface1.json", "reflect()"]),
    ],
)
def test_a_bad_start_is_not_a_start_and_says_what_to_do(ends, case: str, words: list[str]) -> None:
    end = ends[case]
    assert not end["started"]
    assert [word for word in words if word not in str(end["message"])] == [], end["message"]
    assert SECRET not in str(end["all"])


def test_no_value_reached_the_driver_log_or_standard_output(ends) -> None:
    assert ends["printed"].count(SECRET) == 0

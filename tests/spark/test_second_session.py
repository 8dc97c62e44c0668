"""Several sessions in one process: what a stopped one has left in the JVM does not stop the next."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from spark.test_plugin_launch import _run

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "second_session.py"
READ = len("value-of-a-x")


def results(case: str, folder: Path) -> list[object]:
    done = _run([sys.executable, APP, case, folder], folder)
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert found, (done.stdout + done.stderr)[-3000:]
    return json.loads(found[0].removeprefix("RESULT "))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("other_provider", [READ]),
        ("other_provider_without_configure", [READ]),
        ("other_params", [READ]),
        ("file_gone", [READ, None, False]),
        ("file_gone_without_configure", [READ, None, False]),
        ("same_again", [READ]),
        ("as_pytest_spark_does", [READ, READ]),
        ("as_pyspark_test_does", [READ, READ, READ]),
        ("without_plugin_afterwards", [5]),
        ("sockets_stay_as_many", [True]),
    ],
)
def test_the_next_session_starts_whatever_the_one_before_it_has_left(case, expected, tmp_path) -> None:
    assert results(case, tmp_path) == expected


def test_configure_refuses_providers_that_a_running_application_would_not_get(tmp_path) -> None:
    first, second, third, fourth = results("while_one_runs", tmp_path)
    assert "spark.config.providers.b.class" in str(first)
    assert "spark.config.providers.a.param.allowed.paths" in str(second)
    assert all("spark.stop()" in str(text) for text in (first, second))
    assert (third, fourth) == (READ, READ)

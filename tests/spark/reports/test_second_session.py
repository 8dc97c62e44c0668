"""Several sessions in one process: what a stopped one has left in the JVM does not stop the next."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.starts import run

pytestmark = pytest.mark.spark

APP = Path(__file__).parents[1] / "apps" / "second_session.py"
READ = len("value-of-a-x")


#: Each is one process: what its first session was given stays in the JVM, as system properties.
PROCESSES = (
    {
        "same_again": [READ],
        "other_provider_without_configure": [READ],
        "as_pyspark_test_does": [READ, READ, READ],
        "without_plugin_afterwards": [5],
        # What a running application would not get is refused.
        "while_one_runs": [
            ["providers.b.class", "spark.stop()"],
            ["providers.a.param.allowed.paths", "spark.stop()"],
            READ,
            READ,
        ],
        "sockets_stay_as_many": [True],
    },
    {"as_pytest_spark_does": [READ, READ], "other_params": [READ]},
    {"file_gone_without_configure": [READ, None, False], "file_gone": [READ, None, False]},
)


@pytest.mark.parametrize("expected", PROCESSES, ids=lambda process: next(iter(process)))
def test_second_session(expected, tmp_path) -> None:
    done = run([sys.executable, APP, tmp_path, *expected], tmp_path)
    found = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert found, (done.stdout + done.stderr)[-3000:]
    assert json.loads(found[0].removeprefix("RESULT ")) == expected

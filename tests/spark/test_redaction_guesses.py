"""A mask in an answer to a client tells nothing about what he wrote himself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from spark.options.conftest import has_connect
from support.fronts import SECRET, Fronts, running_fronts

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def application(tmp_path_factory) -> Iterator[Fronts]:
    with running_fronts(tmp_path_factory.mktemp("guesses")) as fronts:
        yield fronts


@pytest.mark.skipif(not has_connect(), reason="this environment has no Spark Connect")
class TestGuesses:
    """What a client writes himself comes back alike, whether it begins a secret of somebody or not."""

    STATEMENTS = (
        "EXPLAIN SELECT '{}…' AS a",
        "EXPLAIN EXTENDED SELECT '<1>{}...' AS a",
        "EXPLAIN FORMATTED SELECT concat('{}', '...') AS a",
        "SELECT raise_error('{}...')",
        "SELECT assert_true(false, '{}…')",
        "SELECT * FROM `{}...`",
    )

    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_a_beginning_answers_no_guess(self, application, statement):
        spark = application.sessions["connect"]
        shown = []
        for guess in (SECRET[:10], "Zebra-9.e2"[:10]):
            try:
                found = str(spark.sql(statement.format(guess)).collect())
            except Exception as error:
                found = str(error)
            assert guess in found, found
            shown.append(
                re.sub(
                    r"#\d+L?|[0-9a-f]{8}-[0-9a-f-]{27}|\d{2}:\d{2}:\d{2}", "", found.replace(guess, "GUESS")
                )
            )
        assert shown[0] == shown[1]

"""A mask in an answer to a client tells nothing about what he wrote himself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spark.options.conftest import has_connect
from sparkconfig.redaction import MASK
from support.fronts import FRONTS, LONG, SECRET, Fronts, running_fronts, shown

pytestmark = pytest.mark.spark


#: Texts of a client that are a part of a secret, by what they try: the same without an end would be found nowhere.
PARTS = {
    "eight letters before dots": LONG[:8] + "...",
    "twelve letters before dots": LONG[:12] + "...",
    "before an ellipsis": LONG[:40] + "\u2026",
    "before more dots": SECRET[:11] + ".....",
    "a block": LONG[:64],
    "a block in the middle": LONG[64:128],
    "two blocks": LONG[:128],
    "a block before dots": LONG[:64] + "...",
    "a block in hex": LONG[:64].encode().hex(),
    "all but the last letter": LONG[:-1],
    "all but the first letter": LONG[1:],
}


def wrong(part: str) -> str:
    """Another text of the same shape, which no secret begins with."""
    return part.translate(str.maketrans("kQzRc7abCn", "wYxTd8efDm"))


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


@pytest.fixture(params=FRONTS)
def spark(request, application):
    return application.sessions[request.param]


def explained(spark: Any, guess: str) -> str:
    return shown(spark.sql(f"EXPLAIN EXTENDED SELECT '{guess}' AS it, id FROM range(2)"))


def explained_frame(spark: Any, guess: str) -> str:
    frame = spark.sql(f"SELECT id FROM range(2) WHERE concat(id, '') = '{guess}'")
    return frame._explain_string() if hasattr(frame, "_explain_string") else explained(spark, guess)


def commented(spark: Any, guess: str) -> str:
    spark.sql("DROP TABLE IF EXISTS guesses")
    spark.sql(
        f"CREATE TABLE guesses (id INT COMMENT '{guess}') USING parquet COMMENT 'x {guess}'"
        f" TBLPROPERTIES ('note'='{guess}')"
    )
    looks = ["SHOW CREATE TABLE guesses", "DESCRIBE EXTENDED guesses", "SHOW TBLPROPERTIES guesses"]
    if spark.version >= "4":
        looks.append("DESCRIBE EXTENDED guesses AS JSON")
    # Not the times at which the table was made.
    return "\n".join(
        line for look in looks for line in shown(spark.sql(look)).split("}") if "reated" not in line
    )


def conf(spark: Any, guess: str) -> str:
    spark.sql(f"SET spark.shop.guess = {guess}").collect()
    return shown(spark.sql("SET spark.shop.guess"))


def failed(spark: Any, guess: str) -> str:
    if hasattr(spark, "_jsparkSession"):
        return guess  # the driver's own Python is no client: what it prints is masked as a log is
    texts = []
    for statement in (
        f"SELECT raise_error('{guess}')",
        f"SELECT '{guess}' + no_such FROM range(1)",
        f"SELEC '{guess}'",
    ):
        with pytest.raises(Exception) as caught:
            spark.sql(statement).collect()
        texts.append(str(caught.value))
    return "\n".join(texts)


ANSWERS: list[Callable[[Any, str], str]] = [explained, explained_frame, commented, conf, failed]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.__name__)
def test_a_part_of_a_secret_is_answered_as_any_other_text_is(spark, answer):
    for name, part in PARTS.items():
        right, other = answer(spark, part), answer(spark, wrong(part))
        assert MASK not in right, name
        assert right.replace(part, "GUESS").count("GUESS") == other.replace(wrong(part), "GUESS").count(
            "GUESS"
        ), name


@pytest.mark.skipif(not has_connect(), reason="this environment has no Spark Connect")
def test_a_streams_status_answers_no_guess_about_a_part(application, tmp_path):
    spark = application.sessions["connect"]
    told = []
    for number, part in enumerate((PARTS["twelve letters before dots"], PARTS["a block"])):
        query = (
            spark.readStream.format("rate").load().selectExpr(f"raise_error('{part}')")
            .writeStream.format("noop").option("checkpointLocation", str(tmp_path / str(number))).start()
        )  # fmt: skip
        with pytest.raises(Exception):  # noqa: B017 - what its status says is the matter
            query.awaitTermination(60)
        told.append(part in str(query.exception()))
    assert told == [True, True]


def test_the_whole_secret_is_masked(spark):
    assert MASK in explained(spark, LONG)
    assert LONG not in explained(spark, LONG)

"""A mask in an answer to a client tells nothing about what he wrote himself."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from queue import Queue
from typing import Any

import pytest
from pyspark.sql.streaming.listener import StreamingQueryListener

from sparkconfig.redaction import MASK
from support.fronts import LITERAL, LONG, SECRET, VARIABLE, WORDS, shown

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


def explained(spark: Any, guess: str) -> str:
    plans = (f"'{guess}' AS it, id", f"'<1>{guess}', concat('{guess}', '...')")
    return "\n".join(shown(spark.sql(f"EXPLAIN EXTENDED SELECT {plan} FROM range(2)")) for plan in plans)


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
        f"SELECT assert_true(false, '{guess}')",
        f"SELECT * FROM `{guess}`",
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


class Ends(StreamingQueryListener):
    """Of a client: with what errors streams end."""

    def __init__(self) -> None:
        self.errors: Queue[str] = Queue()

    def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802 - as Spark calls it

    def onQueryProgress(self, event: Any) -> None: ...  # noqa: N802 - as Spark calls it

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        self.errors.put(str(event.exception))


@pytest.mark.sparks(since="4.0")
def test_a_streams_status_and_its_listener_answer_no_guess_about_a_part(application, tmp_path):
    spark = application.sessions["connect"]
    ends = Ends()
    spark.streams.addListener(ends)
    told = []
    for number, part in enumerate((PARTS["twelve letters before dots"], PARTS["a block"])):
        query = (
            spark.readStream.format("rate").load().selectExpr(f"raise_error('{part}')")
            .writeStream.format("noop").option("checkpointLocation", str(tmp_path / str(number))).start()
        )  # fmt: skip
        with pytest.raises(Exception):  # noqa: B017 - what its status says is the matter
            query.awaitTermination(60)
        told += [part in str(query.exception()), part in ends.errors.get(timeout=60)]
    spark.streams.removeListener(ends)
    assert told == [True] * 4


def test_this_applications_own_code_is_no_client(application):
    spark = application.sessions["classic"]
    assert MASK in explained(spark, LONG)
    assert LONG not in explained(spark, LONG)


def quoted(text: str) -> str:
    return text.replace("'", "\\'")


#: Whole secrets as a client writes them in SQL: %s is one, or a wrong guess in the same letters.
GUESSES = {
    "long": LONG,
    "signs": quoted(SECRET),
    "signs, doubled": SECRET.replace("'", "''"),
    "in hex": LONG.encode().hex(),
    "in base64": base64.b64encode(LONG.encode()).decode(),
    "among others": f"<{LONG}> {WORDS['five']}",
}
WRONG = LONG.replace("kQzR", "wYxT")


def composed(guess: str) -> dict[str, str]:
    """Expressions that make a text of parts, so that the statement does not hold it."""
    parts = (each.encode().hex() for each in (guess[:9], guess[9:]))
    return {
        "joined": f"concat('{guess[:20]}', '{guess[20:]}')",
        "side by side": f"'{guess[:20]}' '{guess[20:]}'",
        "reversed": f"reverse('{guess[::-1]}')",
        "decoded": "decode(unhex('{}' || '{}'), 'UTF-8')".format(*parts),
    }


#: Statements, alone and beside a place where the true value stands.
STATEMENTS = {
    "explain": "EXPLAIN EXTENDED SELECT {} AS it, id FROM range(2)",
    "explain what Spark computes": "EXPLAIN EXTENDED SELECT hex({0}), concat('x', {0})",
    "explain a filter": "EXPLAIN FORMATTED SELECT id FROM range(2) WHERE concat(id, 'x') IN ({0}, 'other')",
    "explain a command": "EXPLAIN CREATE TABLE never AS SELECT {} AS it; SHOW TABLES LIKE 'never'",
    "explain beside": "EXPLAIN EXTENDED SELECT {} AS it, '$LONG' AS other",
    "raised": "SELECT raise_error(concat('it is ', {}))",
    "raised beside": "SELECT raise_error(concat({}, ' is ', '$LONG'))",
    "raised of a row": "SELECT raise_error(concat('it is ', {}, id)) FROM range(1)",
    "analysis": "SELECT {} + no_such FROM range(1)",
    "analysis beside": "SELECT {} + '$LONG' + no_such FROM range(1)",
    "parser": "SELEC {}",
    "parser beside": "SELEC {} '$LONG'",
    "cast": "SELECT CAST({} AS INT)",
    "a row too many": "SELECT (SELECT {} FROM range(2))",
    "a subquery where none may be": "SELECT transform(array(1), x -> (SELECT {}))",
    "location": "SELECT * FROM parquet.`/no/such/place` WHERE x = {}",
    "name": "SELECT * FROM identifier(concat('a', {}))",
    "set": "SET shop.guess = {}",
    "set to what it cannot be": "SET spark.sql.shuffle.partitions = {}",
    "set and shown": "SET shop.guess = {}; SET shop.guess",
    "set and listed": "SET shop.guess = {}; SET",
    "comments": "COMMENT ON TABLE guessed IS {}; DESCRIBE EXTENDED guessed",
    "properties": "ALTER TABLE guessed SET TBLPROPERTIES ('a' = {}); SHOW TBLPROPERTIES guessed",
    "show create": "ALTER TABLE guessed SET TBLPROPERTIES ('a' = {}); SHOW CREATE TABLE guessed",
    "a view": "CREATE OR REPLACE TEMP VIEW seen AS SELECT {} AS it; EXPLAIN EXTENDED SELECT * FROM seen",
    "a view's text": "CREATE OR REPLACE VIEW kept AS SELECT {} AS it; SHOW CREATE TABLE kept; DROP VIEW kept",
    "a variable": "DECLARE OR REPLACE mine = {}; EXPLAIN EXTENDED SELECT mine",
    "its own again": "SET shop.guess = {}; RESET shop.guess; SET shop.guess",
}
#: Statements in which an expression may stand for a literal.
COMPOSABLE = (
    "explain",
    "explain what Spark computes",
    "raised",
    "raised of a row",
    "analysis",
    "cast",
    "a view",
)


def answered(spark: Any, statements: str) -> str:
    """The answers, or errors with their details, without what differs from call to call."""
    found = []
    for statement in statements.split("; "):
        try:
            found.append(shown(spark.sql(statement)))
        except Exception as error:
            # Not the frames, in which methods of reflection are counted.
            found.append(re.sub(r"(?m)^\s+at .*$", "", f"{error} {getattr(error, '_stacktrace', '')}"))
            found.append(str(error.getMessageParameters()))
            found += [f"{each.fragment()} {each.summary()}" for each in error.getQueryContext() or ()]
    text = "\n".join(found)
    return re.sub(
        r"#\d+L?|[0-9a-f]{8}-[0-9a-f-]{27}|(?<=_)\d+\b|Lambda\S+|\w+ \w+ \d+ \d\d:\d\d:\d\d \w+ \d+|=\d{10}\b",
        "",
        text,
    )


#: A wrong guess has the same letters but these.
LETTERS = str.maketrans("kQ7abCn", "wYzd8ef")


def pair(statement: str, guess: str) -> list[tuple[str, str]]:
    """The statement with a right guess and with a wrong one, and what stands for the guess in the answer."""
    variable = VARIABLE.replace("token", "long")
    return [
        (statement.format(text).replace("$LONG", variable), text)
        for text in (guess, guess.translate(LETTERS))
    ]


def without(text: str, guess: str) -> str:
    """The answer as it is to any guess: Spark shows it as it is, in parts, and what it computes of it."""
    written = guess.strip("'")
    for each in (written, written.replace("\\'", "'").replace("''", "'")):
        text = text.replace(each.encode().hex().upper(), "COMPUTED")
    return text.translate(LETTERS)


@pytest.fixture
def connect(application) -> Any:
    spark = application.sessions["connect"]
    spark.conf.set("spark.sql.connect.serverStacktrace.enabled", "true")
    spark.sql("CREATE TABLE IF NOT EXISTS guessed (id INT) USING parquet")
    return spark


@pytest.mark.sparks(since="4.0")
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_right_guess_and_a_wrong_one_get_the_same_answer(connect, statement):
    for name, guess in GUESSES.items():
        (right, text), (other, wrong) = pair(STATEMENTS[statement], f"'{guess}'")
        found = without(answered(connect, right), text)
        assert found == without(answered(connect, other), wrong), name
        assert (MASK.translate(LETTERS) in found) == ("beside" in statement or "listed" in statement), name


@pytest.mark.sparks(since="4.0")
@pytest.mark.parametrize("statement", COMPOSABLE)
def test_a_guess_of_parts_gets_the_same_answer(connect, statement):
    right, other = composed(LONG), composed(WRONG)
    for name in right:
        found, also = (answered(connect, STATEMENTS[statement].format(each[name])) for each in (right, other))
        assert MASK not in found, name
        assert LONG in found or statement == "analysis", name
        assert found.count(LONG) == also.count(WRONG), name


@pytest.mark.sparks(since="4.0")
def test_a_conf_that_a_client_could_not_set_is_not_its_own(connect):
    key = "spark.shop.apikey"
    connect.conf.set(key, LITERAL)
    assert connect.conf.get(key) == LITERAL, "its own"
    connect.sql(f"RESET {key}").collect()
    assert connect.conf.get(key) == MASK
    for default in (LITERAL, "other"):
        assert connect.conf.get(key, default) == MASK
        assert connect.conf.get("shop.no.such", default) == default
    with pytest.raises(Exception, match=re.escape(LITERAL)):
        connect.conf.set("spark.sql.shuffle.partitions", LITERAL)
    refused = "spark.ui.strictTransportSecurity"
    with pytest.raises(Exception, match="CANNOT_MODIFY"):
        connect.conf.set(refused, LITERAL)
    assert connect.conf.get(refused) == MASK


@pytest.mark.sparks(since="4.0")
def test_frames_and_streams_answer_no_guess(connect, tmp_path):
    told = []
    for number, guess in enumerate((LONG, WRONG)):
        frame = connect.range(2).where(f"concat(id, '') = '{guess}'")
        query = (
            connect.readStream.format("rate").load().selectExpr(f"raise_error('{guess}')")
            .writeStream.format("noop").option("checkpointLocation", str(tmp_path / str(number))).start()
        )  # fmt: skip
        with pytest.raises(Exception) as caught:
            query.awaitTermination(60)
        texts = [frame._explain_string(extended=True), str(caught.value), str(query.exception())]
        assert all(guess in text and MASK not in text for text in texts)
        told.append(re.sub(r"#\d+L?|\d+", "", texts[0].replace(guess, "GUESS")))
    assert told[0] == told[1]

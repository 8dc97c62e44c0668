"""`$[...]` (KIP-269) in confs and option maps, beside `${...}` in the same value, and what has no value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

from spark.options.conftest import EACH_FRONT
from spark.options.doors import SUBSTITUTED, TEXTS
from sparkconfig._spark.driver import configs
from sparkconfig.errors import UnresolvedReferenceError
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark


def test_csv(doors):
    folder = Path(doors.path("csv"))
    folder.mkdir()
    doors.put(middle="+~+")
    (folder / "a.csv").write_text("1|+~+|x\n2|+~+|y\n")
    options = {"sep": f"$[keyValue=my.edge]{doors.ref('middle')}$[keyValue=my.edge]", "my.edge": "|"}

    def read():
        frame = doors.spark.read.options(**options).csv(str(folder), schema="id int, name string")
        doors.assert_hidden(str(frame.columns))
        return sorted(map(tuple, frame.collect()))

    assert read() == [(1, "x"), (2, "y")]
    doors.put(middle="-~-")
    (folder / "a.csv").write_text("3|-~-|z\n")
    assert read() == [(3, "z")]
    out = doors.path("out")
    doors.spark.sql("SELECT 1 a, 'x' b").write.options(**options).csv(out)
    assert "".join(path.read_text() for path in Path(out).glob("part-*")) == "1|-~-|x\n"


def with_parts(doors) -> dict[str, str]:
    """The password in three pieces: of a reference, of a file, and of another option."""
    password = doors.passwords[-1]
    doors.put(first=password[:12])
    (doors.folder / "second").write_text(password[12:30])
    return {
        "password": f"{doors.ref('first')}$[file={doors.folder}/second]$[keyValue=my.rest]",
        "my.rest": password[30:],
    }


@EACH_FRONT
@pytest.mark.parametrize("source", ["storev1", "storev2"])
def test_a_source_and_a_sink(doors, source):
    doors.fill(1)
    for number in (2, 3):
        options = with_parts(doors)
        frame = doors.spark.read.format(source).options(**options).load()
        assert sorted(row[0] for row in frame.collect()) == list(range(1, number))
        written = doors.spark.range(number, number + 1)
        written.write.format(source).options(**options).mode("append").save()
        doors.rotate()
    assert doors.stored() == [1, 2, 3]
    assert doors.store.refusals() == ""


def test_a_table_keeps_the_text(doors):
    doors.fill(1)
    table = doors.table()
    texts = with_parts(doors)
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS {doors.sql_options(texts)}")
    assert doors.ids(doors.spark.table(table)) == [1]
    doors.rotate()
    with_parts(doors)
    with pytest.raises(Exception, match="another password"):  # what is in the catalog is the old rest
        doors.spark.table(table).collect()
    for statement in (
        "DESCRIBE EXTENDED {}",
        "SHOW CREATE TABLE {}",
        "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')",
        "DROP TABLE {}",
    ):
        doors.spark.sql(statement.format(table)).collect()  # they read nothing


def test_what_has_no_value_is_named(doors):
    with pytest.raises(AnalysisException, match=r"my\.nowhere") as error:
        doors.spark.read.format("storev2").option("password", "$[keyValue=my.nowhere]").load().collect()
    assert "storev2" in str(error.value)
    assert doors.store.refusals() == ""


def test_confs_show_their_texts_and_give_their_values(application):
    conf = application.classic._jsc.sc().conf()
    values = ["eu1", "eu9", "ada@eu1", *SUBSTITUTED.values(), TEXTS["spark.shop.not"]]
    assert [conf.get(key) for key in TEXTS] == values
    assert [application.classic.conf.get(key) for key in TEXTS] == list(TEXTS.values())


def test_a_redacted_result_is_a_secret_and_another_is_plain(application):
    """Of the secret, which is not in the event log either: the fixture `application`."""
    context = application.classic.sparkContext
    context.setJobDescription("with " + " and ".join(SUBSTITUTED.values()))
    try:
        context.parallelize([1], 1).count()
    finally:
        context.setJobDescription(None)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    written = "".join(
        path.read_text() for path in (application.folder / "events").rglob("*") if path.is_file()
    )
    assert f" and {SUBSTITUTED['SHOP_OPEN']}" in written


#: No part of these has a value.
NO_VALUES = [
    "$[x=y]", "a$[x=y]b", "$[", "$[envVar=SHOP_OPEN", "$[[[[[[envVar=SHOP_OPEN]]]]]]", "${env:HOME}", "${spark:x.y}",
    "jdbc:${HOME}", "${files:a", "USER@${HOME}", "USER@${files:a", "${", "",
]  # fmt: skip


def test_who_asks_for_a_value_gets_a_value_or_an_error(application):
    """Twice: the second answer may come from memory. A value that spells a reference is a value."""
    odd = "${files:/nowhere:none}$[envVar=SHOP_PASSWORD]"
    application.put(odd=odd, user="ada")
    text_of_odd, user = application.ref("odd"), application.ref("user")
    nothing = [text.replace("USER", user) for text in NO_VALUES]

    def asked(texts: list[str]) -> Iterator[str | None]:
        """What each gives; None: the one error."""
        from sparkconfig.errors import UnresolvedReferenceError
        from sparkconfig.worker import current

        for text in texts:
            try:
                yield current(text).reveal()
            except UnresolvedReferenceError:
                yield None

    texts = [*nothing, text_of_odd, *nothing]
    expected = [*[None] * len(nothing), odd, *[None] * len(nothing)]
    assert list(asked(texts)) == expected, "the driver's Python"
    rows = application.classic.sparkContext.parallelize([0], 1)
    assert rows.mapPartitions(lambda _: asked(texts)).collect() == expected, "a Python worker"
    api = scala_object(application.classic._jvm, "io.sparkconfig.driver.DriverApi")
    assert api.current(text_of_odd) == odd
    for text in nothing:
        with pytest.raises(Exception, match=r"write one, such as \$\{vault:db/prod:password\}"):
            api.current(text)


def test_a_reference_that_is_not_closed_is_no_password(application):
    """In a map, too; what others expand is text there."""
    texts = {"user": "x", "home": "${HOME}", "other": "${env:HOME}", "odd": "qw$[asd_4Q!]uH6"}
    assert configs(texts) == texts
    for text in ("${files:a", "a${files:", f"{application.ref()}${{files:a", "${files.pw}"):
        with pytest.raises(UnresolvedReferenceError, match="is text, not a reference"):
            configs({"password": text})
        with pytest.raises(Exception, match="is text, not a reference"):
            application.classic.read.format("storev1").option("password", text).load()

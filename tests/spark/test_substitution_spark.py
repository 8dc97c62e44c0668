"""`$[...]` (KIP-269) beside `${...}` in a running Spark: confs, option maps, system properties, redaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkconfig._spark.driver import configs
from sparkconfig.errors import UnresolvedReferenceError
from support.jdbc import DERBY
from support.scala_objects import scala_object
from support.session import running_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    # Spark 3.5 and 4.0 leave the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PASSWORD = "Canary-269-correct-horse"
PLAIN = "Visible-269-by-choice"
ENVIRONMENT = {
    "SHOP_USER": "ada",
    "SHOP_PASSWORD": PASSWORD,
    "SHOP_PLAIN": PLAIN,
    "SHOP_ODD": "${envvar:SHOP_PASSWORD}$[envVar=SHOP_PASSWORD]",
}
TEXTS = {
    "spark.shop.region": "$[sysProp=shop.region]",
    "spark.shop.default": "$[sysProp/defaultValue=eu9/=shop.no.such.property]",
    "spark.shop.login": "${envvar:SHOP_USER}@$[keyValue=spark.shop.region]",
    "spark.shop.password": "$[envVar/redact/=SHOP_PASSWORD]",
    "spark.shop.open": "$[envVar=SHOP_PLAIN]",
    "spark.shop.odd": "$[envVar=SHOP_ODD]",
    "spark.shop.odd.reference": "${envvar:SHOP_ODD}",
    "spark.shop.not": "qw$[asd_4Q!]uH6",
}
VALUES = {
    "spark.shop.region": "eu1",
    "spark.shop.default": "eu9",
    "spark.shop.login": "ada@eu1",
    "spark.shop.password": PASSWORD,
    "spark.shop.open": PLAIN,
    "spark.shop.odd": ENVIRONMENT["SHOP_ODD"],
    "spark.shop.odd.reference": ENVIRONMENT["SHOP_ODD"],
    "spark.shop.not": "qw$[asd_4Q!]uH6",
}
#: One map with both languages. Derby asks for the password, so a connection proves that it got there.
OPTIONS = {
    "url": "jdbc:derby:memory:shop_$[sysProp=shop.region]",
    "dbtable": "$[keyValue=shop.table]",
    "shop.table": "$[keyValue=shop.schema].orders",
    "shop.schema": "APP",
    "user": "${envvar:SHOP_USER}",
    "password": "$[envVar/redact/=SHOP_PASSWORD]",
    "driver": DERBY,
}


@dataclass
class Shop:
    """The application, and where it writes its event log."""

    spark: SparkSession
    events: Path

    def value(self, key: str) -> str:
        """What JVM code reads from the conf."""
        return self.spark._jsc.sc().conf().get(key)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("substitution")
    (folder / "events").mkdir()
    conf = {
        "spark.master": "local[1]",
        "spark.app.name": "substitution",
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.driver.extraJavaOptions": f"-Dshop.region=eu1 -Dderby.system.home={folder}",
        "spark.config.providers": "envvar",
        "spark.config.substitution.enabled": "true",
        "spark.config.worker.references": "*:*",
        **TEXTS,
    }
    with running_session(conf, folder=folder, env=ENVIRONMENT) as spark:
        _make_database(spark)
        yield Shop(spark, folder / "events")


def _make_database(spark: SparkSession) -> None:
    jvm = spark._jvm
    properties = {
        "derby.connection.requireAuthentication": "true",
        "derby.authentication.provider": "BUILTIN",
        "derby.user.ada": PASSWORD,
    }
    for name, value in properties.items():
        jvm.java.lang.System.setProperty(name, value)
    jvm.java.lang.Class.forName(OPTIONS["driver"])
    connection = jvm.java.sql.DriverManager.getConnection(
        "jdbc:derby:memory:shop_eu1;create=true", "ada", PASSWORD
    )
    statement = connection.createStatement()
    statement.execute("CREATE TABLE APP.orders (id INT, item VARCHAR(20))")
    statement.execute("INSERT INTO APP.orders VALUES (1, 'tea'), (2, 'cups')")
    connection.close()


def test_confs_show_their_texts_and_give_their_values(shop: Shop) -> None:
    assert {key: shop.value(key) for key in TEXTS} == VALUES
    assert {key: shop.spark.conf.get(key) for key in TEXTS} == TEXTS
    listed = dict(shop.spark.sparkContext.getConf().getAll())
    assert {key: listed[key] for key in TEXTS} == TEXTS


def test_an_option_map_with_both_languages_reads_and_writes(shop: Shop) -> None:
    read = shop.spark.read.format("jdbc").options(**OPTIONS)
    frame = read.load()
    assert sorted(row.ITEM for row in frame.collect()) == ["cups", "tea"]
    more = shop.spark.createDataFrame([(3, "spoons")], "id int, item string")
    more.write.format("jdbc").options(**OPTIONS).mode("append").save()
    assert sorted(row.ITEM for row in read.load().collect()) == ["cups", "spoons", "tea"]
    assert PASSWORD not in frame._jdf.queryExecution().toString()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"password": "$[envVar/redact/=SHOP_NONE]"},
            "no default for identifier that does not exist: SHOP_NONE",
        ),
        ({"user": "$[enVar/=${envvar:SHOP_USER}]"}, "malformed or of an unknown type"),
        ({"shop.table": "$[keyValue=dbtable]"}, "Circular reference"),
        (
            {
                "user": "$[shout=ada]${envvar:SHOP_USER}",
                "spark.config.substitution.shoutSubstituterType": "os:path",
            },
            "java.sql.SQL",  # it stays text, and Derby knows no such user
        ),
    ],
    ids=["no value", "inert reference", "circle", "a type that the map defines"],
)
def test_what_has_no_value_in_a_map_stops_the_read(shop: Shop, changed: dict[str, str], said: str) -> None:
    with pytest.raises(Exception) as caught:
        shop.spark.read.format("jdbc").options(**{**OPTIONS, **changed}).load().collect()
    told = _told(caught.value)
    assert said in told
    assert PASSWORD not in told


def test_the_references_of_kafkas_own_providers_stay_kafkas(shop: Shop) -> None:
    own = {
        "kafka.config.providers": "broker",
        "kafka.config.providers.broker.class": "com.example.BrokerProvider",
        "kafka.ssl.key.password": "${broker:k}",
        "user": "${envvar:SHOP_USER}",
    }
    configs = shop.spark._jvm.io.sparkconfig.driver.DriverApi.configs(own)
    assert dict(configs) == {**own, "user": "ada"}


#: No part of these has a value.
NO_VALUES = [
    "$[x=y]", "a$[x=y]b", "$[", "$[envVar=SHOP_USER", "$[[[[[[envVar=SHOP_USER]]]]]]", "${env:HOME}", "${spark:x.y}",
    "jdbc:${HOME}", "${envvar:SHOP_USER", "${envvar:SHOP_USER}@${HOME}", "${envvar:SHOP_USER}@${envvar:SHOP", "${", "",
]  # fmt: skip


def test_who_asks_for_a_value_gets_a_value_or_an_error(shop: Shop) -> None:
    """Twice: the second answer may come from memory. A value that spells a reference is a value."""

    def asked(texts: list[str]) -> Iterator[str | None]:
        """What each gives; None: the one error."""
        from sparkconfig.errors import UnresolvedReferenceError
        from sparkconfig.worker import current

        for text in texts:
            try:
                yield current(text).reveal()
            except UnresolvedReferenceError:
                yield None

    texts = [*NO_VALUES, "${envvar:SHOP_ODD}", *NO_VALUES]
    expected = [*[None] * len(NO_VALUES), ENVIRONMENT["SHOP_ODD"], *[None] * len(NO_VALUES)]
    assert list(asked(texts)) == expected, "the driver's Python"
    rows = shop.spark.sparkContext.parallelize([0], 1)
    assert rows.mapPartitions(lambda _: asked(texts)).collect() == expected, "a Python worker"
    api = scala_object(shop.spark._jvm, "io.sparkconfig.driver.DriverApi")
    for text in texts:
        if text == "${envvar:SHOP_ODD}":
            assert api.current(text) == ENVIRONMENT["SHOP_ODD"]
            continue
        with pytest.raises(Exception, match=r"write one, such as \$\{vault:db/prod:password\}"):
            api.current(text)


def test_a_reference_that_is_not_closed_is_no_password(shop: Shop) -> None:
    """In a map, too; what others expand is text there."""
    assert configs({"user": "x", "home": "${HOME}", "other": "${env:HOME}", "odd": "qw$[asd_4Q!]uH6"}) == {
        "user": "x", "home": "${HOME}", "other": "${env:HOME}", "odd": "qw$[asd_4Q!]uH6"
    }  # fmt: skip
    for text in (
        "${envvar:SHOP_PASSWORD",
        "a${envvar:",
        "${envvar:SHOP_USER}${envvar:SHOP_PASSWORD",
        "${envvar.SHOP}",
    ):
        with pytest.raises(UnresolvedReferenceError, match="is text, not a reference"):
            configs({"password": text})
        with pytest.raises(Exception, match="is text, not a reference"):
            shop.spark.read.format("jdbc").options(**{**OPTIONS, "password": text}).load()


def _told(error: BaseException | None) -> str:
    """All that Spark says: the message, the causes and the stack traces."""
    parts: list[str] = []
    while error is not None:
        parts += [str(error), str(getattr(error, "_stackTrace", ""))]
        error = getattr(error, "_cause", None) or error.__cause__
    return "\n".join(parts)


def test_a_redacted_result_is_a_secret_and_another_is_plain(shop: Shop) -> None:
    context = shop.spark.sparkContext
    context.setJobDescription(f"with {PASSWORD} and {PLAIN}")
    try:
        context.parallelize([1], 1).count()
    finally:
        context.setJobDescription(None)
    shop.spark._jsc.sc().listenerBus().waitUntilEmpty()
    shop.spark.stop()
    written = b"".join(path.read_bytes() for path in shop.events.rglob("*") if path.is_file())
    assert b"with " in written
    assert PLAIN.encode() in written
    assert PASSWORD.encode() not in written

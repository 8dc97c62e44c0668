"""Sessions of different configurations, one after the other in one process, as test suites and notebooks make them.

Arguments: a folder, and the names of the functions here that run one after the other.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark_test import assert_pyspark_df_equal

import sparkconfig
from sparkconfig.errors import SparkConfigError
from sparkconfig.session import configure

FOLDER = Path(sys.argv[1])
QUIET = {"spark.master": "local[1]", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
         "spark.sql.warehouse.dir": str(FOLDER / "warehouse"), "spark.driver.memory": "600m"}  # fmt: skip
STORES = {name: FOLDER / name / "s.properties" for name in ("a", "b")}


def ref(provider: str, store: str) -> str:
    return f"${{{provider}:{STORES[store]}:p}}"


def length(reference: str) -> object:
    try:
        return len(sparkconfig.current(reference).reveal())
    except SparkConfigError as error:
        return str(error)


def configured(**providers: dict[str, str]) -> SparkSession:
    return configure(SparkSession.builder.config(map=QUIET), providers=providers).getOrCreate()


def plain(**confs: str) -> SparkSession:
    builder = SparkSession.builder.config(map=QUIET)
    for key, text in confs.items():
        builder = builder.config("spark.config.providers" + key.replace("__", "."), text)
    return builder.getOrCreate()


def other_provider_without_configure():
    configured(a={"class": "file"}).stop()
    plain(__b__class="file", **{"": "b"})
    yield length(ref("b", "b"))


def other_params():
    configured(f={"class": "file", "allowed.paths": str(FOLDER / "a")}).stop()
    configured(f={"class": "file"})
    yield length(ref("f", "b"))


def file_gone(make=configured):
    builder = SparkSession.builder.config(map=QUIET).config("spark.hadoop.shop.p", ref("f", "a"))
    builder = builder.config("spark.shop.p", ref("f", "a"))
    configure(builder, providers={"f": {"class": "file"}}).getOrCreate().stop()
    STORES["a"].unlink()
    second = make(f={"class": "file"}) if make is configured else make()
    yield length(ref("f", "b"))
    yield second.sparkContext._jsc.hadoopConfiguration().get("shop.p")
    yield second.sparkContext._jsc.sc().conf().contains("spark.shop.p")


def file_gone_without_configure():
    yield from file_gone(plain)


def same_again():
    configured(a={"class": "file"}).stop()
    plain()
    yield length(ref("a", "a"))


def as_pytest_spark_does():
    """Its fixtures build a SparkConf of `spark_options` once, and each session from it."""
    conf = SparkConf(loadDefaults=False)
    for key, text in QUIET.items():
        conf.set(key, text)
    configure(SparkSession.builder, providers={"a": {"class": "file"}})
    builder = SparkSession.builder.config(conf=conf)
    for _ in range(2):
        session = configure(builder, providers={"a": {"class": "file"}}).getOrCreate()
        yield length(ref("a", "a"))
        session.stop()


def as_pyspark_test_does():
    """A class of tests each: `setUpClass` builds, `tearDownClass` stops."""
    for name in ("a", "b", "a"):
        session = configured(**{name: {"class": "file"}})
        yield length(ref(name, name))
        assert_pyspark_df_equal(session.range(3), session.range(3))
        session.stop()


def while_one_runs():
    configured(a={"class": "file"})
    for providers in ({"b": {"class": "file"}}, {"a": {"class": "file", "allowed.paths": "/"}}):
        try:
            configure(SparkSession.builder, providers=providers)
            yield "accepted"
        except SparkConfigError as error:
            named = ("providers.b.class", "providers.a.param.allowed.paths", "spark.stop()")
            yield [word for word in named if word in str(error)]
    again = configured(a={"class": "file"})
    yield length(ref("a", "a"))
    again.newSession()
    yield length(ref("a", "a"))


def without_plugin_afterwards():
    configured(a={"class": "file"}).stop()
    yield SparkSession.builder.config(map=QUIET | {"spark.plugins": ""}).getOrCreate().range(5).count()


def sockets_stay_as_many():
    """Those of the JVM after each stop; a start of Spark's own keeps none."""
    yield sockets[-1] - sockets[0] < 3


def held_sockets() -> int:
    jvm = SparkContext._jvm.java.lang.ProcessHandle.current().pid()
    return sum("/socket:" in os.path.realpath(each) for each in Path(f"/proc/{jvm}/fd").iterdir())


found, sockets = {}, []
for name in sys.argv[2:]:
    for store, file in STORES.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"p=value-of-{store}-{'x' * len(store)}\n")
    found[name] = list(globals()[name]())
    if SparkSession.getActiveSession() is not None:
        SparkSession.getActiveSession().stop()
    SparkSession.builder._options.clear()
    sockets.append(held_sockets())
print("RESULT " + json.dumps(found))

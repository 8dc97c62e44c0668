"""An application whose secret spells a reference: each way to data says what it made of it, and nobody resolves it.

The secret is the ``nullValue`` of files of CSV with the rows 1 and 2, of which the first holds that very text.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from sparkconfig.session import configure

folder, secrets, jar, conf = sys.argv[1:]
builder = configure(SparkSession.builder, providers={"files": {"class": "file"}}, jar=jar)
for key, value in json.loads(conf).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()

REFERENCE = f"${{files:{secrets}:looks}}"
SCHEMA = "id int, name string"
ROWS = f"{folder}/rows"
WRAPPER = {"sparkconfig.format": "csv", "nullValue": REFERENCE}
LISTS = {"V1": "avro,csv,json,kafka,orc,parquet,text", "V2": ""}


def read(frame: DataFrame) -> list[list[object]]:
    """The rows in the order of their ids, where an id of null comes first."""
    return sorted(([row.id, row.name] for row in frame.collect()), key=str)


def written(name: str) -> list[str]:
    """The lines of the files that were written."""
    return sorted(
        line for path in Path(folder, name).glob("part-*") for line in path.read_text().splitlines()
    )


def load() -> object:
    """By a reader."""
    return read(spark.read.schema(SCHEMA).option("nullValue", REFERENCE).csv(ROWS))


def view() -> object:
    """By a temporary view."""
    options = f"path '{ROWS}', nullValue \"{REFERENCE}\""
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW looks ({SCHEMA}) USING csv OPTIONS ({options})")
    return read(spark.table("looks"))


def table() -> object:
    """By a table of the session catalog."""
    options = f"path '{ROWS}', nullValue \"{REFERENCE}\""
    spark.sql("DROP TABLE IF EXISTS looks_table")
    spark.sql(f"CREATE TABLE looks_table ({SCHEMA}) USING csv OPTIONS ({options})")
    return read(spark.table("looks_table"))


def write() -> object:
    """By a writer."""
    rows().write.option("nullValue", REFERENCE).mode("overwrite").csv(f"{folder}/write")
    return written("write")


def wrapper_write() -> object:
    """By a writer of the wrapper format."""
    rows().write.format("sparkconfig").options(**WRAPPER).mode("overwrite").save(f"{folder}/wrapper-write")
    return written("wrapper-write")


def stream() -> object:
    """By a stream of files into files."""
    return streamed("stream", spark.readStream.schema(SCHEMA).option("nullValue", REFERENCE).csv(ROWS), "csv",
                    {"nullValue": REFERENCE})  # fmt: skip


def wrapper_stream() -> object:
    """Into a sink of the wrapper format."""
    frame = spark.readStream.schema(SCHEMA).option("nullValue", REFERENCE).csv(ROWS)
    return streamed("wrapper-stream", frame, "sparkconfig", WRAPPER)


def batches() -> object:
    """By ``foreachBatch``."""
    frame = spark.readStream.schema(SCHEMA).option("nullValue", REFERENCE).csv(ROWS)
    found: list[list[object]] = []
    query = frame.writeStream.foreachBatch(lambda batch, _: found.extend(read(batch)))
    query.option("checkpointLocation", f"{folder}/batches-{kind}").trigger(
        availableNow=True
    ).start().awaitTermination()
    return sorted(found, key=str)


def rows() -> DataFrame:
    """A row whose name is null, and another."""
    return spark.createDataFrame([(1, None), (2, "x")], SCHEMA).coalesce(1)


def streamed(name: str, frame: DataFrame, sink: str, options: dict[str, str]) -> list[str]:
    """Run a stream to its end: what it wrote."""
    name = f"{name}-{kind}"
    query = frame.writeStream.format(sink).options(**options).option("path", f"{folder}/{name}")
    query.option("checkpointLocation", f"{folder}/{name}-log").trigger(
        availableNow=True
    ).start().awaitTermination()
    return written(name)


def outcome(way: Callable[[], object]) -> object:
    """What came of it, or the error."""
    try:
        return way()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:600]


seen = {}
ways = [load, view, table, write, wrapper_write, stream, wrapper_stream, batches]
for kind, listed in LISTS.items():
    spark.sql(f"SET spark.sql.sources.useV1SourceList={listed}")
    seen.update({f"{way.__name__} {kind}": outcome(way) for way in ways})
jdbc = {"url": f"${{files:{secrets}:url}}", "dbtable": "t"}
seen["url"] = outcome(spark.read.format("jdbc").options(**jdbc).load)
spark.stop()
Path(os.environ["SEEN"]).write_text(json.dumps(seen), encoding="utf-8")

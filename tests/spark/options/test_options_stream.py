"""Streams: sources resolve at each start, sinks at each micro-batch, and checkpoints hold no password."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

from spark.options.conftest import EACH_FRONT

pytestmark = pytest.mark.spark


def run(writer, doors, checkpoint: str) -> None:
    """Run a query over everything that is there, to its end."""
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(60), "the stream did not end"
    finally:
        query.stop()
    files = [path.read_text(errors="replace") for path in Path(checkpoint).rglob("*") if path.is_file()]
    assert files
    doors.assert_hidden(*files)


def stream(doors, source: str = "storev2"):
    return doors.spark.readStream.format(source).option("password", doors.ref()).load()


@EACH_FRONT
def test_v2_source_follows_at_its_restart(doors):
    out, checkpoint = doors.path("out"), doors.path("checkpoint")
    frame = stream(doors)
    for number in (1, 2):
        doors.store.put(number)
        run(frame.writeStream.format("parquet").option("path", out), doors, checkpoint)
        doors.rotate()
    assert doors.ids(doors.spark.read.parquet(out)) == [1, 2]


@EACH_FRONT
def test_v2_sink_follows_within_a_query(doors):
    source, checkpoint = Path(doors.path("source")), doors.path("checkpoint")
    source.mkdir()
    doors.fill()
    frame = doors.spark.readStream.schema("id bigint").json(str(source))
    writer = frame.writeStream.format("storev2").option("password", doors.ref())
    query = writer.option("checkpointLocation", checkpoint).trigger(processingTime="200 milliseconds").start()
    try:
        for number in (1, 2):
            part = source / f".{number}"
            part.write_text(f'{{"id": {number}}}\n')
            part.rename(source / f"{number}.json")
            deadline = time.monotonic() + 60
            while number not in doors.stored():
                assert query.exception() is None, str(query.exception())
                assert time.monotonic() < deadline, "the row did not arrive"
                time.sleep(0.05)
            doors.rotate()
    finally:
        query.stop()
    assert doors.stored() == [1, 2]


def test_file_source_and_sink_options(doors):
    source, out, checkpoint = Path(doors.path("source")), doors.path("out"), doors.path("checkpoint")
    source.mkdir()
    for number, separator in ((1, "|+|"), (2, "~#~")):
        doors.put(separator=separator)
        (source / f"{number}.csv").write_text(f"{number}{separator}x\n")
        frame = doors.spark.readStream.schema("id int, name string").option("sep", doors.ref("separator"))
        writer = frame.csv(str(source)).writeStream.format("csv").option("sep", doors.ref("separator"))
        run(writer.option("path", out), doors, checkpoint)
        written = "".join(path.read_text() for path in Path(out).glob("part-*.csv"))
        assert f"{number}{separator}x\n" in written


def test_files_with_a_text_that_only_looks_like_a_reference(doors):
    """In the value, or in the option itself: Spark made the sink anew until its analyzer gave up."""
    doors.put(looks="${x}")
    source, checkpoint = Path(doors.path("source")), doors.path("checkpoint")
    source.mkdir()
    (source / "1.csv").write_text("1,${x}\n2,x\n")
    frame = doors.spark.readStream.schema("id int, name string").option("nullValue", doors.ref("looks"))
    for number, text in enumerate((doors.ref("looks"), "${x}")):
        out = doors.path(f"out{number}")
        writer = frame.csv(str(source)).writeStream.format("csv").option("nullValue", text)
        run(writer.option("path", out), doors, f"{checkpoint}{number}")
        written = "".join(path.read_text() for path in Path(out).glob("part-*.csv"))
        assert sorted(written.splitlines()) == ["1,${x}", "2,x"]


@EACH_FRONT
def test_foreach_batch(doors):
    doors.fill(1, 2)
    out = doors.path("out")
    reference = doors.ref()

    def write(batch, number):
        joined = batch.sparkSession.read.format("storev1").option("password", reference).load()
        batch.join(joined, "id").write.mode("append").parquet(out)

    checkpoint = doors.path("checkpoint")
    try:
        run(stream(doors).writeStream.foreachBatch(write), doors, checkpoint)
    except PySparkException as error:
        # Spark gives a worker of a Connect server ten seconds to start, whatever else the machine does.
        if "worker to connect back" not in str(error):
            raise
        run(stream(doors).writeStream.foreachBatch(write), doors, checkpoint)
    assert doors.ids(doors.spark.read.parquet(out)) == [1, 2]


@EACH_FRONT
def test_to_table(doors):
    table = f"store.ns.{doors.table()}"
    doors.spark.sql(f"CREATE TABLE {table} (id bigint) USING anything")
    doors.fill(1)
    source = doors.spark.range(0)
    assert doors.ids(source) == []
    checkpoint = doors.path("checkpoint")
    out = doors.path("out")
    doors.spark.range(5, 6).write.parquet(out)
    frame = doors.spark.readStream.schema("id bigint").parquet(out)
    writer = frame.writeStream.option("password", doors.ref()).option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).toTable(table)
    assert query.awaitTermination(60)
    assert doors.stored() == [1, 5]
    again = doors.spark.readStream.option("password", doors.ref()).table(table)
    read = doors.path("read")
    run(again.writeStream.format("parquet").option("path", read), doors, doors.path("checkpoint"))
    assert doors.ids(doors.spark.read.parquet(read)) == [1, 5]
    doors.spark.sql(f"DROP TABLE {table}")


def test_a_v1_sink_that_has_the_text_is_an_error(doors):
    writer = doors.spark.readStream.format("rate").load().writeStream.format("sparkconfigtest.LateV1Sink")
    writer = writer.option("password", doors.ref()).option("checkpointLocation", doors.path("checkpoint"))
    with pytest.raises(Exception, match=r"sparkconfig\.format") as error:
        writer.start()
    assert "'password'" in str(error.value)
    assert doors.store.refusals() == ""


@EACH_FRONT
def test_v1_sink_through_the_wrapper_format(doors):
    doors.fill(1)
    out = doors.path("in")
    doors.spark.range(8, 9).write.parquet(out)
    frame = doors.spark.readStream.schema("id bigint").parquet(out)
    writer = frame.writeStream.format("sparkconfig").option("sparkconfig.format", "storev1")
    run(writer.option("password", doors.ref()), doors, doors.path("checkpoint"))
    assert doors.stored() == [1, 8]


@EACH_FRONT
def test_a_missing_secret_ends_the_query_with_its_name(doors):
    doors.fill(1)
    writer = stream(doors).writeStream.format("storev2").option("password", doors.ref("nobody"))
    with pytest.raises(StreamingQueryException, match="nobody"):
        run(writer, doors, doors.path("checkpoint"))

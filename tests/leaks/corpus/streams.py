"""Streaming queries with secrets in names, options, batches and errors."""

from pyspark.sql import functions as F  # noqa: N812

from leaks.corpus.shop import Shop, failing


def run(shop: Shop) -> None:
    spark = shop.spark
    folder = shop.folder / "stream"
    folder.mkdir()
    (folder / "rows.txt").write_text("one\ntwo\n")
    for number, text in enumerate(shop.texts):
        lines = spark.readStream.format("text").option("lineSep", shop.options["plain"]).load(str(folder))
        query = (
            lines.withColumn("secret", F.lit(text))
            .groupBy(F.length("secret").alias("size"))
            .count()
            .writeStream.queryName(f"stream {text}")
            .outputMode("complete")
            .option("checkpointLocation", str(shop.folder / "checkpoint" / f"good-{number}"))
            .foreachBatch(lambda frame, _, secret=text: _batch(frame, secret))
            .start()
        )
        query.processAllAvailable()
        print(query.lastProgress)
        query.explain(extended=True)
        query.stop()
        broken = (
            lines.writeStream.queryName(f"broken {text}")
            .option("checkpointLocation", str(shop.folder / "checkpoint" / f"bad-{number}"))
            .foreachBatch(lambda frame, _, secret=text: _fail(secret))
            .start()
        )
        with failing():
            broken.processAllAvailable()
        print(broken.exception())


def _batch(frame, secret):
    frame.sparkSession.sparkContext.setJobDescription(f"batch {secret}")
    frame.count()


def _fail(secret):
    raise ValueError(f"this batch failed with {secret}")

"""An application whose builder is configured by sparkconfig: reads rows that only the secret between them separates."""

import json
import os
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from sparkconfig.session import configure

rows, secrets, jar, conf = sys.argv[1:]
builder = configure(SparkSession.builder, providers={"files": {"class": "file"}}, jar=jar)
for key, value in json.loads(conf).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()


def read() -> list[str]:
    """Read the rows with the secret of the moment."""
    frame = spark.read.format("text").option("lineSep", f"${{files:{secrets}:between}}").load(rows)
    return sorted(row.value for row in frame.collect())


seen = {"kind": type(spark).__module__, "first": read()}
new, old = json.loads(Path(secrets).with_suffix(".next").read_text(encoding="utf-8"))
Path(rows).write_text(Path(rows).read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
Path(secrets).write_text(f"between={new}\n", encoding="utf-8")
until = time.monotonic() + 12  # a change is used as soon as it has arrived
while (second := read()) != seen["first"] and time.monotonic() < until:
    pass
seen["second"] = second
try:
    spark.read.format("text").option("lineSep", f"${{files:{secrets}:nothing}}").load(rows).collect()
except Exception as error:
    seen["refused"] = [type(error).__name__, str(error)]
spark.stop()
Path(os.environ["SEEN"]).write_text(json.dumps(seen), encoding="utf-8")

"""A small application, with the plugin or as stock Spark alone: ``smoke.py FOLDER [JAR]``.

Prints one JSON object: what each step ended with, ``ok`` or the name of the error. It imports nothing of the tests: its
environments have only what a user installs.
"""

from __future__ import annotations

import hashlib
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
JAR = sys.argv[2] if len(sys.argv) > 2 else None
STORE = FOLDER / "store.properties"
REFERENCE = f"${{files:{STORE}:password}}"
VALUES = ["first-value-7301", "second-value-7302"]
QUIET = {
    "spark.master": "local[2]",
    "spark.driver.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
}
PLUGIN = {
    "spark.plugins": "io.sparkconfig.ConfigPlugin",
    "spark.jars": JAR or "",
    "spark.config.providers": "files",
    "spark.config.providers.files.class": "file",
    "spark.config.worker.references": "files:*",
    "spark.shop.password": REFERENCE,
}


def digest(text: str) -> str:
    """What a task may return instead of a value."""
    return hashlib.sha256(text.encode()).hexdigest()


def start() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in {**QUIET, **(PLUGIN if JAR else {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def uses(spark: Any) -> None:
    """Values in Python workers, and in an option of a data source, before and after a rotation."""
    import sparkconfig

    for value in VALUES:
        STORE.write_text(f"password={value}\ndatabase=shop\n")
        assert sparkconfig.current(REFERENCE, fresh=True).reveal() == value

        def ask(_rows: Iterable[object]) -> Iterator[str]:
            from sparkconfig.worker import current

            yield digest(current(REFERENCE).reveal())

        assert spark.sparkContext.parallelize([1, 2], 2).mapPartitions(ask).collect() == [digest(value)] * 2
    url = f"jdbc:derby:memory:${{files:{STORE}:database}};create=true"
    options = {"url": url, "dbtable": "sysibm.sysdummy1", "user": "shop", "password": REFERENCE}
    options["driver"] = "org.apache.derby.jdbc.EmbeddedDriver"
    assert spark.read.format("jdbc").options(**options).load().count() == 1


def frames(spark: Any) -> None:
    """What brings pandas and pyarrow in."""
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    def longer(texts: pd.Series) -> pd.Series:
        return texts + "!"

    longer.__annotations__ = {"texts": pd.Series, "return": pd.Series}
    made = spark.createDataFrame(pd.DataFrame({"n": [1, 2], "t": ["a", "b"]}))
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    found = made.select(pandas_udf(longer, "string")("t").alias("t")).toPandas()
    assert sorted(found["t"]) == ["a!", "b!"]


def outcome(step: Callable[[Any], None], spark: Any) -> str:
    """Run a step; the traceback goes to standard error."""
    try:
        step(spark)
    except Exception as error:  # the caller compares with stock Spark
        traceback.print_exc()
        return type(error).__name__
    return "ok"


def main() -> None:
    """Run the steps, and print what each ended with."""
    STORE.write_text(f"password={VALUES[0]}\ndatabase=shop\n")
    try:
        spark = start()
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"start": type(error).__name__}))
        return
    found = {
        "start": "ok",
        **({"uses": outcome(uses, spark)} if JAR else {}),
        "frames": outcome(frames, spark),
    }
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()

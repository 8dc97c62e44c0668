"""A job with Delta, Iceberg, OpenLineage and what a user brings along; it prints what each of them did."""

from __future__ import annotations

import json
import logging
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = SparkSession.builder.getOrCreate()
jvm: Any = spark.sparkContext._jvm
context: Any = spark.sparkContext._jsc.sc()
found: dict[str, Any] = {}


def plain(value: object) -> str:
    """Without what differs in each run: folders, ids, times, sizes."""
    text = str(value).replace(str(folder), "FOLDER")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*Z?", "TIME", text)
    text = re.sub(r"file_tmp_\w*", "FOLDER", re.sub(r"#\d+L?", "#N", text))
    text = re.sub(r"\bo\d+\.", "oN.", re.sub(r"@[0-9a-f]{5,}", "@N", text))
    return re.sub(r"\d{13,}", "N", text)


def sql(name: str, *statements: str) -> None:
    """Run statements, and keep the rows of the last one with the plan that Spark made."""
    print("doing", name, flush=True)
    try:
        for statement in statements[:-1]:
            spark.sql(statement)
        frame = spark.sql(statements[-1])
        rows = sorted(plain(tuple(row)) for row in frame.collect())
    except Exception as error:  # the comparison shows it
        found[name] = plain(f"{type(error).__name__}: {str(error)[:300]}")
        return
    plan = frame._jdf.queryExecution().executedPlan().toString()
    nodes = re.findall(r"^[\s:+*()\d-]*(\w+)", plan, re.MULTILINE)
    found[name] = {"columns": frame.dtypes, "rows": rows, "plan": nodes}


def failed(name: str, statement: str) -> None:
    """Run a statement that fails, and keep what it says."""
    try:
        spark.sql(statement).collect()
        found[name] = "did not fail"
    except Exception as error:
        found[name] = plain(f"{type(error).__name__}: {str(error).splitlines()[0]}")


def classes(of: Any) -> list[str]:
    """The classes of a Java collection's elements, without ours."""
    names = [each.getClass().getName() for each in of]
    return [
        name for name in names if not name.startswith(("io.sparkconfig", "org.apache.spark.sql.sparkconfig"))
    ]


def lakehouses() -> None:
    """Delta and Iceberg."""
    # Delta
    sql("delta: create", "CREATE TABLE sales (id INT, city STRING) USING delta", "SELECT * FROM sales")
    sql(
        "delta: insert",
        "INSERT INTO sales VALUES (1, 'Oslo'), (2, 'Rome'), (3, 'Bern')",
        "SELECT * FROM sales",
    )
    sql("delta: update", "UPDATE sales SET city = 'Paris' WHERE id = 2")
    sql("delta: delete", "DELETE FROM sales WHERE id = 3")
    spark.createDataFrame([(1, "Lima"), (9, "Baku")], "id int, city string").createOrReplaceTempView("fresh")
    sql(
        "delta: merge",
        "MERGE INTO sales s USING fresh f ON s.id = f.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    )
    sql("delta: rows", "SELECT * FROM sales")
    sql("delta: earlier", "SELECT * FROM sales VERSION AS OF 1")
    sql(
        "delta: constraint",
        "ALTER TABLE sales ADD CONSTRAINT small CHECK (id < 100)",
        "SHOW TBLPROPERTIES sales",
    )
    failed("delta: against the constraint", "INSERT INTO sales VALUES (100, 'Graz')")
    sql("delta: path", f"SELECT count(*) FROM delta.`{folder}/warehouse/sales`")
    failed("delta: ddl", "SHOW CREATE TABLE sales")
    query = (
        spark.readStream.table("sales").writeStream.format("delta").trigger(availableNow=True)
        .option("checkpointLocation", f"{folder}/checkpoint").toTable("copied")
    )  # fmt: skip
    query.awaitTermination()
    progress = query.recentProgress[0]
    found["delta: stream"] = [
        progress["numInputRows"], progress["sink"]["numOutputRows"], plain(progress["sink"]["description"])
    ]  # fmt: skip
    sql("delta: streamed", "SELECT * FROM copied")

    # Iceberg
    sql(
        "iceberg: create",
        "CREATE TABLE ice.shop.sales (id INT, city STRING) USING iceberg",
        "SHOW TABLES IN ice.shop",
    )
    sql(
        "iceberg: insert",
        "INSERT INTO ice.shop.sales VALUES (1, 'Oslo'), (2, 'Rome')",
        "SELECT * FROM ice.shop.sales",
    )
    sql(
        "iceberg: field",
        "ALTER TABLE ice.shop.sales ADD PARTITION FIELD bucket(4, id)",
        "DESCRIBE ice.shop.sales",
    )
    sql(
        "iceberg: branch",
        "ALTER TABLE ice.shop.sales CREATE BRANCH audit",
        "SELECT name, type FROM ice.shop.sales.refs",
    )
    sql(
        "iceberg: merge",
        "MERGE INTO ice.shop.sales s USING fresh f ON s.id = f.id "
        "WHEN MATCHED THEN UPDATE SET s.city = f.city WHEN NOT MATCHED THEN INSERT *",
        "SELECT * FROM ice.shop.sales",
    )
    sql("iceberg: delete", "DELETE FROM ice.shop.sales WHERE id = 2", "SELECT * FROM ice.shop.sales")
    sql("iceberg: of the branch", "SELECT * FROM ice.shop.sales VERSION AS OF 'audit'")
    sql("iceberg: snapshots", "SELECT operation FROM ice.shop.sales.snapshots")
    sql("iceberg: procedure", "CALL ice.system.ancestors_of('shop.sales')")
    sql("iceberg: ddl", "SHOW CREATE TABLE ice.shop.sales")
    failed("iceberg: no such procedure", "CALL ice.system.nothing(table => 'shop.sales')")


lakehouses()

# The user's own
sql("own: function", "SELECT shop_answer()")
failed("own: no such table", "SELECT * FROM nothing_here")
found["own: python"] = sorted(
    spark.sparkContext.parallelize(range(8), 2).map(lambda each: each * each).collect()
)
logging.getLogger("shop").warning("to nobody")
jvm.org.apache.logging.log4j.LogManager.getLogger("shop.till").info("till 7 opened")
appenders = jvm.org.apache.logging.log4j.LogManager.getContext(False).getConfiguration().getAppenders()
found["own: appenders"] = sorted(f"{name} {appenders[name].getClass().getName()}" for name in appenders)
found["own: confs"] = {
    key: [
        each for each in spark.conf.get(key, "").split(",") if each and not each.startswith("io.sparkconfig")
    ]
    for key in ("spark.sql.extensions", "spark.extraListeners", "spark.plugins", "spark.ui.filters")
}

# Everybody has heard of it
context.listenerBus().waitUntilEmpty()
found["listeners"] = sorted(classes(context.listenerBus().listeners()))
found["query listeners"] = sorted(classes(spark._jsparkSession.listenerManager().listListeners()))
page = spark.sparkContext.uiWebUrl or ""
pages = {}
for path in ("/jobs/", "/SQL/", "/environment/", "/api/v1/applications"):
    with urllib.request.urlopen(page + path) as answer:
        text = answer.read().decode()
        pages[path] = [
            answer.status,
            answer.headers["X-Shop"],
            re.findall(r"<title>[^<]*?- (.*)</title>", text),
        ]
found["pages"] = pages
# Delta's own queries carry numbers; how many there are differs between two runs of stock Spark.
found["seen"] = sorted(set(plain(jvm.shop.Seen.all()).splitlines()))
spark.stop()

lineage = set()
for line in (folder / "lineage").read_text().splitlines():
    event = json.loads(line)
    sets = [sorted(plain(each["name"]) for each in event.get(kind, [])) for kind in ("inputs", "outputs")]
    facets = sorted([*event["run"].get("facets", {}), *event["job"].get("facets", {})])
    # How many events there are of a kind differs between two runs of stock Spark.
    lineage.add(plain(json.dumps([event["eventType"], event["job"]["name"], sets, facets])))
found["lineage"] = sorted(lineage)
if (folder / "measures").exists():
    stages = json.loads((folder / "measures").read_text())
    found["measures"] = sorted({field for stage in stages for field in stage})
found["log"] = [line for line in (folder / "till.log").read_text().splitlines() if line]
(folder / "found.json").write_text(json.dumps(found, indent=1, sort_keys=True))

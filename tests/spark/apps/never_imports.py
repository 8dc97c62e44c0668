"""A ``python -u app.py`` that only writes references, and never imports sparkconfig; the test reads what it shows.

Arguments: folder, jar. Values are in the folder's ``shop.properties``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import sys
import traceback
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

folder, jar = Path(sys.argv[1]), sys.argv[2]
logging.getLogger().addHandler(logging.FileHandler(folder / "driver.log"))
at = f"{folder}/shop.properties"
confs = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "700m",
    "spark.driver.extraClassPath": jar,
    "spark.plugins": "io.sparkconfig.ConfigPlugin",
    "spark.config.agent.python": sys.executable,
    "spark.config.providers": "files",
    "spark.config.providers.files.class": "file",
    "spark.config.inplace.keys": "spark.shop.*",
    "spark.config.files.text": "files:*:ca",
    "spark.shop.token": f"${{files:{at}:token}}",
    "spark.shop.address": f"https://shop:${{files:{at}:token}}@mail.example/?from=${{files:{at}:other}}!",
    "spark.shop.ca": f"${{files:{at}:ca}}",
    "spark.sql.pyspark.worker.logging.enabled": "true",
    "spark.sql.warehouse.dir": str(folder / "warehouse"),
}
builder = SparkSession.builder
for key, text in confs.items():
    builder = builder.config(key, text)
spark = builder.getOrCreate()

print("file", Path(spark.conf.get("spark.shop.ca")).read_text())
token = spark.conf.get("spark.shop.token")
print("in place", token)
print("composed in place", spark.conf.get("spark.shop.address"))
# It writes in pieces, each of which shows at once here.
if importlib.util.find_spec("yaml"):
    importlib.import_module("yaml").dump({"from yaml": token}, sys.stdout)
spark.createDataFrame([(token * 2,)], "text string").show()
in_bytes = spark.createDataFrame([(bytearray(token, "utf-8"),)], "bytes binary")
in_bytes.show(truncate=False)
spark._jvm.System.out.println(in_bytes._jdf.showString(20, 0, False))
logging.error("into a file %s", token)


DETAILS = ("getMessage", "getMessageParameters", "getErrorClass", "getCondition", "getSqlState")


def failing(action, *arguments: object) -> None:
    try:
        action(*arguments)
    except Exception as error:
        print("error", error)
        logging.exception("into a file with its traceback")
        texts = [str(error), repr(error), traceback.format_exc()]
        texts += [str(getattr(error, name)()) for name in DETAILS if hasattr(error, name)]
        try:
            raise RuntimeError(f"the job failed: {error}") from error
        except RuntimeError:
            traceback.print_exc()
            texts.append(traceback.format_exc())
        (folder / "errors.txt").open("a").write("\n".join([*texts, ""]))
    else:
        raise AssertionError("this should have failed")


failing(spark.read.parquet, f"/no/such/{token}")
failing(spark.sql, f"SELEC '{token}' FRM")
failing(spark.sql, f"SELECT '{token}' + nothing FROM range(1)")
failing(spark.sql(f"SELECT raise_error('it is {token}') FROM range(1)").collect)
failing(spark.sparkContext.textFile(f"/no/such/{token}").count)
failing(spark.sparkContext.parallelize([1], 1).map(lambda _: int(token)).collect)
jdbc = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver", "dbtable": "x", "user": "app"}
reference = f"${{files:{at}:token}}"
failing(
    spark.read.format("jdbc").options(url=f"jdbc:derby:memory:none;databaseName={reference}", **jdbc).load
)


@udf("string")
def chatty(number: int) -> str:
    from sparkconfig.worker import current

    held = current(f"${{files:{at}:token}}").reveal()
    handler = logging.FileHandler(folder / "worker.log")
    logger = logging.getLogger("shop")
    logger.addHandler(handler)
    logger.warning("worker warns %s", held)
    logger.removeHandler(handler)
    handler.close()
    sys.stdout.write(f"worker prints {token}\n")
    return str(number)


spark.range(2).repartition(1).select(chatty("id")).collect()
total = spark.sparkContext.accumulator(0)
spark.sparkContext.parallelize([1, 2], 2).foreach(total.add)
table = None
if hasattr(spark, "tvf") and hasattr(spark.tvf, "python_worker_logs"):
    table = [row.asDict(recursive=True) for row in spark.sql("SELECT * FROM python_worker_logs()").collect()]
texts = json.dumps(table, default=str)
(folder / "never.json").write_text(
    json.dumps(
        {
            "logs": texts.replace(token, "LEAKED"),
            "total": total.value,
            "imported": "sparkconfig" in sys.modules,
        }
    )
)
assert SparkContext._active_spark_context is not None
# A terminal's IPython prints in this process, as a plain shell does.
if importlib.util.find_spec("IPython"):
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(user_ns={"spark": spark, "token": token})
    shell.run_cell("f'IPython shows {token}'")
    shell.run_cell("spark.read.parquet(f'/no/such/IPython-{token}')")
    shell.run_cell("raise ValueError(f'IPython raises {token}')")
# What the JVM has learned since the last line.
last = (folder / "shop.properties").read_text().partition("late=")[2].partition("\n")[0]
spark.read.option("nullValue", f"${{files:{at}:late}}").csv(str(folder / "shop.properties")).count()
spark.stop()
print(f"after stop {last}")
# Its accumulators work in the next application too, whose Python is the same.
spark = builder.getOrCreate()
total = spark.sparkContext.accumulator(0)
spark.sparkContext.parallelize([1, 2], 2).foreach(total.add)
(folder / "second").write_text(f"{total.value} {spark.conf.get('spark.shop.token') == token}")
raise ValueError(f"uncaught {token}")

"""A ``python app.py`` that shows its secrets in every way of Python; stdout and stderr are what the test reads.

Arguments: folder, jar. Writes what its errors say to ``errors.txt`` by a file of its own, which nothing redacts.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import json
import logging
import multiprocessing
import sys
import threading
import warnings
from pathlib import Path

# Whoever waits for ever says where.
faulthandler.dump_traceback_later(200, exit=True)
folder, jar = Path(sys.argv[1]), sys.argv[2]
early_handler = logging.StreamHandler()  # holds sys.stderr before anything is hooked
# Py4J writes all that it receives.
logging.basicConfig(level=logging.DEBUG, handlers=[early_handler], format="LOG %(message)s")

from pyspark.errors import PySparkException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import sparkconfig  # noqa: E402
from sparkconfig.session import configure  # noqa: E402

builder = configure(
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.memory", "700m")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.config.inplace.keys", "spark.shop.token")
    .config("spark.shop.token", f"${{files:{folder}/shop.properties:token}}")
    .config("spark.shop.other", f"${{files:{folder}/shop.properties:other}}"),
    providers={"files": {"class": "file"}},
    jar=jar,
)
spark = builder.getOrCreate()
context = spark.sparkContext

# In place: the value that the job reads from its own conf, though the builder was given the reference.
token = spark.conf.get("spark.shop.token")
assert token.startswith("Canary-in-place")
assert builder.getOrCreate().conf.get("spark.shop.token") == token
assert context.getConf().get("spark.shop.token") == token
(folder / "token-is-real").write_text("yes")
print("printed in place", token)

revealed = sparkconfig.current(f"${{files:{folder}/shop.properties:revealed}}").reveal()
assert revealed.startswith("Canary-revealed")
for value in (token, revealed):
    print("printed", value, sep=" ", flush=True)
    sys.stdout.write(f"written {value}\n")
    sys.stdout.writelines([f"lines {value}\n"])
    sys.stdout.buffer.write(f"bytes {value}\n".encode())
    # In one write: Py4J's thread that frees objects logs there too.
    sys.stderr.write(f"on stderr {value}\n")
    warnings.warn(f"warned {value}", stacklevel=1)
    logging.error("logged %s", value)
print("untouched line äöü \N{SNOWMAN}")
sys.stdout.buffer.write(b"\xff\xfe raw bytes\n")

spark.sql(f"SELECT '{revealed}' AS it FROM range(1)").explain(extended=True)
spark.sql("SET spark.shop.token").show(truncate=False)

errors: list[str] = []


def failing(action, *arguments: object) -> None:
    try:
        action(*arguments)
    except PySparkException as error:
        errors.extend([str(error), repr(error), str(error.getMessageParameters()), str(vars(error))])
        errors.extend(
            f"{part.fragment()} {part.summary()}" for part in getattr(error, "getQueryContext", list)()
        )
    except Exception as error:
        errors.extend([str(error), repr(error)])
    else:
        raise AssertionError("this should have failed")


def raising(text: str):
    def inner(_: object) -> None:
        raise ValueError(f"in a worker {text}")

    return inner


# By Spark's own variable: the text of the job does not hold it.
variable = "${spark.shop.token}"
for text in (variable, revealed):
    failing(spark.sql, f"SELEC '{text}' FRM")
    failing(spark.sql, f"SELECT '{text}' + nothing FROM range(1)")
    failing(spark.sql(f"SELECT raise_error('it is {text}') FROM range(1)").collect)
    failing(spark.read.parquet, f"/no/such/{text}")
failing(lambda: context.parallelize([1], 1).map(raising(revealed)).collect())
failing(lambda: spark.range(1).foreach(raising(revealed)))
failing(lambda: context._jvm.java.lang.Integer.parseInt(token))
(folder / "errors.txt").write_text("\n".join(errors), encoding="utf-8")


def chatty(number: int) -> int:
    # Each in one write: two threads of the JVM read a worker's two streams, and may mix their parts.
    sys.stdout.write(f"worker prints {revealed}\n")
    sys.stderr.write(f"worker complains {revealed}\n")
    return number


context.parallelize([1], 1).map(chatty).collect()


def fail() -> None:
    raise RuntimeError("thread " + revealed)


thread = threading.Thread(target=fail)
thread.start()
thread.join()


class Bad:
    def __del__(self) -> None:
        raise OSError("unraisable " + revealed)


Bad()
gc.collect()
# The JVM masks a value that this process has never asked for.
other = (folder / "shop.properties").read_text().partition("other=")[2].partition("\n")[0]
print("an unknown value", other)
for cut in range(1, len(other)):
    for part in ("in pieces ", other[:cut], other[cut:], ".\n"):
        sys.stdout.write(part)
        sys.stdout.flush()
(folder / "reach.json").write_text(json.dumps({"other": len(other)}))


def without_jvm(where: str) -> None:
    print(f"{where}\nvalue {other} there", flush=True)


child = multiprocessing.get_context("fork").Process(target=without_jvm, args=("in a forked child",))
child.start()
child.join()


@atexit.register
def after_the_end() -> None:
    gateway = context._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    without_jvm("after the JVM's end")


logging.info("the last line of the log")
spark.sql(f"SELECT raise_error('uncaught {variable}') FROM range(1)").collect()

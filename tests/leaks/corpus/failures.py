"""Jobs that fail with a secret in the error: in Python workers, in executors' JVMs, in the driver's threads."""

import logging
import os
import threading

from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812

from leaks.corpus.shop import Shop, failing


def run(shop: Shop) -> None:
    spark = shop.spark
    context = spark.sparkContext
    for text in shop.texts:
        with failing():
            context.parallelize([text], 1).map(int).collect()
        with failing():
            spark.range(2).select(F.udf(lambda _, secret=text: {}[secret])("id")).collect()
        # The traceback of this one goes through exception chains, and its class is the job's own.
        with failing():
            context.parallelize([text], 1).foreachPartition(_chained)
        with failing():
            context._jvm.java.lang.Integer.parseInt(text)
        # Succeeds at its second attempt: the first failure stays on the pages.
        context.parallelize([text], 1).map(_at_second_attempt).count()
        thread = threading.Thread(target=_raise, args=(text,), name="shop")
        thread.start()
        thread.join()
        logging.getLogger("shop").error("failed with %s", text)
    with failing():
        context.parallelize([1], 1).map(lambda _: os._exit(3)).collect()


def _chained(rows):
    try:
        raise KeyError(next(iter(rows)))
    except KeyError as error:
        raise RuntimeError(f"shop failed: {error.args[0]}") from error


def _at_second_attempt(secret):
    if TaskContext.get().attemptNumber() == 0:
        raise ConnectionError(f"cannot connect with {secret}")
    return 1


def _raise(text):
    raise ValueError(f"in a thread: {text}")

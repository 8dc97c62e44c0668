"""A straggler whose copy on another host wins: both attempts carry a secret, and so does the killed one's page."""

import time

from pyspark import TaskContext

from leaks.corpus.shop import Shop


def run(shop: Shop) -> None:
    text = shop.texts[0]
    context = shop.spark.sparkContext
    context.setJobDescription(f"speculated {text}")
    context.parallelize(range(8), 8).map(lambda x, secret=text: _slow(x, secret)).count()
    context.setLocalProperty("spark.job.description", None)


def _slow(number, secret):
    if number == 7 and TaskContext.get().attemptNumber() == 0:
        print(f"slow with {secret}")
        time.sleep(20)
    return len(secret)

"""RDDs with secrets in names, accumulators and closures."""

from leaks.corpus.shop import Shop


def run(shop: Shop) -> None:
    context = shop.spark.sparkContext
    for text in shop.texts:
        rdd = context.parallelize(range(8), 2).setName(f"rdd {text}").cache()
        rdd.map(lambda x, secret=text: (x % 2, len(secret))).reduceByKey(max).collect()
        counter = context._jvm.org.apache.spark.util.LongAccumulator()
        context._jsc.sc().register(counter, f"counter {text}")
        context.setLocalProperty("shop.endpoint", text)
        rdd.map(lambda x: x + 1).sum()
        context.setLocalProperty("shop.endpoint", None)

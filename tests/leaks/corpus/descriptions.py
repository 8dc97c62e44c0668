"""Secrets that a caller sets as description, group, tag or call site of jobs."""

from leaks.corpus.shop import Shop


def run(shop: Shop) -> None:
    context = shop.spark.sparkContext
    for text in shop.texts:
        context.setJobGroup(f"group {text}", f"description {text}", interruptOnCancel=False)
        context._jsc.sc().setCallSite(f"call site {text}")
        context.addJobTag(text.replace(",", ";"))
        context.parallelize(range(4), 2).map(lambda x: (x % 2, x)).groupByKey().collect()
        shop.spark.range(4).selectExpr("sum(id)").collect()
        context.clearJobTags()
        context._jsc.sc().clearCallSite()
        context.setLocalProperty("spark.job.description", None)
        context.setLocalProperty("spark.jobGroup.id", None)

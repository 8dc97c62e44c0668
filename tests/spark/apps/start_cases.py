"""Starts one application after another in one JVM, each with its own confs, and prints how each start ended.

Reads a JSON list of confs from standard input; writes one JSON line per case.
"""

import json
import sys

from pyspark import SparkConf, SparkContext


def attempt(confs: dict[str, str]) -> dict[str, object]:
    conf = SparkConf()
    for key, value in confs.items():
        conf.set(key, value)
    try:
        context = SparkContext(conf=conf)
    except Exception as error:
        java = getattr(error, "java_exception", None)
        message = str(java.getMessage()) if java is not None else str(error)
        kind = java.getClass().getName() if java is not None else type(error).__name__
        return {"started": False, "type": kind, "message": message, "all": str(error)}
    shown = {key: context._jsc.sc().conf().get(key, None) for key in confs if key.startswith("spark.shop.")}
    redaction = context._jsc.sc().conf().get("spark.redaction.regex", "")
    listed = {key: value for key, value in context.getConf().getAll() if key.startswith("spark.shop.")}
    context.stop()
    return {"started": True, "values": shown, "listed": listed, "redaction": redaction}


# The confs of the context that starts the JVM become its system properties: start it without any.
SparkContext._ensure_initialized()
for case in json.load(sys.stdin):
    sys.stdout.write("CASE " + json.dumps(attempt(case)) + "\n")
    sys.stdout.flush()

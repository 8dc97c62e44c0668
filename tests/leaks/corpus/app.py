"""The Python application of the audit: runs every kind of job, waits, and crashes with a secret in its last words."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from leaks.corpus.shop import open_shop

KINDS = ("sql", "bad_sql", "dataframes", "rdds", "kept", "descriptions", "failures", "speculation", "streams",
         "jdbc", "logs")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--jdbc", required=True)
    parser.add_argument("--end-when", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--together", type=int, default=8, help="secrets in one text")
    arguments = parser.parse_args()

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("audit").getOrCreate()
    shop = open_shop(spark, arguments.folder, arguments.jdbc, arguments.together)
    for kind in arguments.kinds:
        began = time.monotonic()
        importlib.import_module(f"leaks.corpus.{kind}").run(shop)
        print(f"KIND {kind} took {time.monotonic() - began:.1f} s", flush=True)
    print("READY", flush=True)
    while not arguments.end_when.exists():
        time.sleep(0.1)
    raise RuntimeError("the application crashes: " + " ".join(shop.values.values()))


if __name__ == "__main__":
    main()

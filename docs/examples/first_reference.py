"""The README's tour: a reference in a conf, its value where it is used, and a rotation without a restart."""

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import sparkconfig
from sparkconfig.session import configure

here = Path(sys.argv[1])
sealed = {"class": "sealed", "file": here / "shop.sealed", "key.file": here / "shop.key"}
builder = SparkSession.builder.master("local[2]").config("spark.shop.password", "${sealed:shop:password}")
spark = configure(builder, providers={"sealed": sealed}).getOrCreate()


def show(moment: str) -> None:
    """Print what the conf shows, and as much of the value as may be printed: its length."""
    # Asks the store; without "fresh" a change of a file is used within a tenth of a second.
    password = sparkconfig.current(spark.conf.get("spark.shop.password"), fresh=True)
    print(
        f"{moment}: the conf shows {spark.conf.get('spark.shop.password')}, "
        f"the value is {password!r} with {len(password.reveal())} characters"
    )


show("start")

# The password is rotated while the application runs.
subprocess.run(
    [sys.executable, "-m", "sparkconfig", "seal", "set",
     "--key-file", sealed["key.file"], "--file", sealed["file"], "shop:password"],
    input=b"a-new-and-longer-password\n", check=True,
)  # fmt: skip

show("after the rotation")
spark.stop()

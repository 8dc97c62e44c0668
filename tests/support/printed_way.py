"""From secrets in clear to a job that uses them, by the lines that the commands themselves print and by no others."""

from __future__ import annotations

import hashlib
import shlex
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

#: What the file says before: lists of its own, which our lines must not replace.
BEFORE = """\
spark.master local[1]
spark.ui.enabled false
spark.log.level WARN
spark.shop.password {value}
spark.shop.url jdbc:postgresql://db/shop?user=a&password={value}
spark.driver.extraClassPath {folder}/driver.jar
spark.config.providers files
spark.config.providers.files.class directory
spark.config.providers.files.param.allowed.paths {folder}
"""
JOB = """
import hashlib
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
conf = spark.conf
from sparkconfig import current

assert spark._jvm.ClassLoader.getSystemResource("driver.txt") is not None
assert "job.jar" in spark.sparkContext.getConf().get("spark.jars")
seen = [current(text).reveal() for text in (conf.get("spark.shop.password"), "${files:%s/words:word}")]
seen.append(current(conf.get("spark.shop.url")).reveal().rpartition("=")[2])
print("DIGEST", *(hashlib.sha256(value.encode()).hexdigest() for value in seen), "COUNT", spark.range(10).count())
spark.stop()
"""


def walk(run: Callable[[Sequence[str]], str], submit: Path, folder: Path, value: str) -> None:
    """Walk it.

    Args:
        run: starts a program in ``folder`` as a user would, and returns what it printed; it has to succeed.
        submit: ``spark-submit``.
        folder: where the user works.
        value: the secret.
    """
    conf = folder / "walk.conf"
    before = BEFORE.format(value=value, folder=folder)
    conf.write_text(before)
    (folder / "words").mkdir()
    (folder / "words" / "word").write_text("of-a-file")
    for name in ("driver", "job"):
        with zipfile.ZipFile(folder / f"{name}.jar", "w") as jar:
            jar.writestr(f"{name}.txt", "x")
    target = ["--sealed-file", "walk.sealed", "--key-file", "walk.key"]
    shown = run(["sparkconfig", "migrate", "walk.conf", "--apply", "--new-key", *target])
    # What is left to declare is what migrate says; nothing else is written by hand but what init prints.
    turn_on = shlex.split(shown.split("to turn it on: ")[1].splitlines()[0])
    lines = run(turn_on).split("# or conf/spark-defaults.conf")[1].partition("\n")[2].split("\n\n")[0]
    with conf.open("a") as stream:
        stream.write(f"{lines}\n")
    checked = run(["sparkconfig", "doctor", "--file", "walk.conf"])
    assert "0 errors" in checked, checked
    (folder / "walk.py").write_text(JOB.replace("%s", str(folder)))
    done = run([str(submit), "--jars", "job.jar", "--properties-file", "walk.conf", "walk.py"])
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (value, "of-a-file", value)]
    assert f"DIGEST {' '.join(digests)} COUNT 10" in done, done[-2000:]
    run(["sparkconfig", "migrate", "--undo", *target])
    assert (conf.read_text() == f"{before}{lines}\n") is True

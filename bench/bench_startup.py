"""What the plugin costs at the start of an application: whole spark-submits of an empty job, stock and ours in turn.

    python bench/bench_startup.py [--pairs 5] [--cds] [--jars]

Prints seconds without the plugin and with the jar on Spark's class path (``sparkconfig install``), the medians of the
ratios, the time from the launch of the side process to its first answer, and the side process's memory. Aims: at most
1.03, and no more than 27 MB. With ``--cds`` also from an archive of classes, as ``sparkconfig install --cds`` writes
it; with ``--jars`` also with the jar by Spark's ``--jars``.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from sparkconfig._spark import class_archive  # noqa: E402
from sparkconfig._spark.jars import find_spark  # noqa: E402
from support.shim import shim_jar  # noqa: E402
from support.spark_home import spark_home  # noqa: E402

EMPTY = "from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate().stop()\n"


def submit(script: Path, conf: dict[str, str], home: Path) -> float:
    """Seconds of one spark-submit, from the shell's view."""
    confs = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    started = time.perf_counter()
    subprocess.run(
        [str(home / "bin" / "spark-submit"), "--master", "local[2]", *confs, str(script)],
        check=True,
        capture_output=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    return time.perf_counter() - started


def installed(folder: Path) -> Path:
    """A Spark of its own, with the jar in its folder of jars; its files are links to those of pyspark."""
    home = folder / "spark"
    (home / "jars").mkdir(parents=True)
    for path in spark_home().iterdir():
        if path.name != "jars":
            (home / path.name).symlink_to(path)
    for path in [*(spark_home() / "jars").iterdir(), shim_jar()]:
        if path.is_dir():
            (home / "jars" / path.name).symlink_to(path)
            continue
        try:
            os.link(path, home / "jars" / path.name)
        except OSError:
            shutil.copyfile(path, home / "jars" / path.name)
    return home


def first_answer() -> tuple[float, float, int]:
    """Seconds to hello and to the first resolved value, and resident memory in bytes, of one side process."""
    token = secrets.token_urlsafe(32)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "sparkconfig.agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "BENCH_VALUE": "not-a-secret"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"token": token}).encode() + b"\n")
    process.stdin.flush()
    hello = json.loads(process.stdout.readline())
    said_hello = time.perf_counter() - started
    with socket.create_connection(("127.0.0.1", hello["port"])) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rwb")

        def command(*lines: str) -> str:
            stream.write(("\n".join(lines) + "\n").encode())
            stream.flush()
            return stream.readline().decode()

        assert "v" in command("A", token, "e")
        confs = {"spark.config.providers": "envvar", "spark.shop.x": "${envvar:BENCH_VALUE}"}
        request = json.dumps({"confs": confs}).replace("\\", "\\\\")
        assert "true" in command("c", "t", "call", "sstart", f"s{request}", "e")
        answered = time.perf_counter() - started
        status = Path(f"/proc/{process.pid}/status").read_text()
    resident = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))
    process.stdin.close()
    process.wait()
    return said_hello, answered, resident


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--cds", action="store_true", help="also from an archive of classes")
    parser.add_argument("--jars", action="store_true", help="also with the jar by --jars")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs = options.pairs
    jar = shim_jar()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY)
        stock: dict[str, str] = {"spark.ui.port": "0"}
        plugin = {
            **stock,
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.config.providers": "envvar",
            "spark.shop.home": "${envvar:HOME}",
        }
        ways = {"installed": {**plugin, "spark.driver.extraClassPath": str(jar)}}
        if options.jars:
            ways["--jars"] = {**plugin, "spark.jars": str(jar)}
            # What Spark itself takes for any one jar of --jars: to copy it, serve it and load from it.
            ways["--jars, no plugin"] = {**stock, "spark.jars": str(jar)}
        homes = dict.fromkeys(ways, spark_home())
        if options.cds:
            homes["--cds"] = installed(Path(folder))
            spark, archive = find_spark(homes["--cds"]), Path(folder) / "classes.jsa"
            print(f"archive of classes: {class_archive.write(spark, archive) / 1e6:.0f} MB")
            ways["--cds"] = {**plugin, **class_archive.confs(spark, archive)}
        submit(script, stock, spark_home())  # warms the disk cache
        ratios: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(1, pairs + 1):
            without = submit(script, stock, spark_home())
            print(f"round {number}: stock {without:.2f} s", end="")
            for way, conf in ways.items():
                seconds = submit(script, conf, homes[way])
                ratios[way].append(seconds / without)
                print(f", {way} {seconds:.2f} s", end="", flush=True)
            print()
        for way, found in ratios.items():
            print(
                f"start-up, {way}: median ratio {statistics.median(found):.3f} of {pairs} (aim: at most 1.03)"
            )
    hellos, answers, sizes = zip(*(first_answer() for _ in range(5)), strict=True)
    print(
        f"side process: hello after {statistics.median(hellos) * 1000:.0f} ms, first answer after "
        f"{statistics.median(answers) * 1000:.0f} ms, {max(sizes) / 1e6:.1f} MB resident (aim: at most 27 MB)"
    )
    if options.json:
        options.json.write_text(json.dumps({"ratios": ratios, "resident": max(sizes)}) + "\n")


if __name__ == "__main__":
    main()

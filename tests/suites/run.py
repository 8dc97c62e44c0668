"""Run Spark's published suites with sparkconfig and without it, and print what differs.

``python -m suites.run [GROUP...]`` runs the named groups of `plan.GROUPS` (all without a name); ``--write`` puts the
outcome into docs/compatibility.md. The exit code is 1 if a test ends otherwise with sparkconfig, and nothing in
`plan.EXPLAINED` says why.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from suites import plan, report
from support.maven import maven_jars
from support.processes import Run
from support.shim import shim_jar
from support.spark_home import java

CACHE = Path(__file__).resolve().parents[2] / ".cache"
#: What Spark's own build gives the JVM of its tests (`JavaModuleOptions`).
OPENED = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent "
    "java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
)
#: In seconds, for one group on one side.
LIMIT = 1500


@dataclass(frozen=True)
class Outcome:
    """How the tests of some suites ended: ``suite: test`` to ``passed``, ``failed`` or ``ignored``."""

    tests: Mapping[str, str]
    seconds: float
    #: Of failures: the first line of what was thrown.
    why: Mapping[str, str] = field(default_factory=dict)


def spark_jars(run: Run) -> list[Path]:
    """Spark of `plan.SPARK` with its tests and their libraries."""
    spark = [f"org.apache.spark:spark-{module}_{plan.SCALA}:{plan.SPARK}" for module in plan.MODULES]
    tests = [f"org.apache.spark:spark-{module}_{plan.SCALA}:{plan.SPARK}:tests" for module in plan.TESTED]
    name, every = f"spark-suites-{plan.SPARK}", [*spark, *tests, *plan.LIBRARIES]
    return maven_jars(
        run, name, every, cache=CACHE, without=[f"org.apache.spark:spark-connect-shims_{plan.SCALA}"]
    )


def settings(folder: Path) -> dict[str, str]:
    """The plugin on, with a secret that no test contains; by system properties, which reach every SparkConf."""
    secret = folder / "secrets.properties"
    secret.write_text("word=Canary-of-the-suites-7731\n")
    return {
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": sys.executable,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.inplace.keys": "spark.suites.word",
        "spark.suites.word": f"${{files:{secret}:word}}",
        # The suites of core start clusters on this host without a secret between them.
        "spark.config.rpc.insecure": "true",
    }


def run_suites(run: Run, name: str, suites: Sequence[str], jars: Sequence[Path], *, plugin: bool) -> Outcome:
    """Run suites in one JVM after each other.

    Raises:
        subprocess.TimeoutExpired: they took longer than `LIMIT`.
    """
    folder = run.private_dir(f"suites-{name}-{'on' if plugin else 'off'}")
    (folder / "tmp").mkdir()
    properties = {
        "spark.testing": "true",
        "spark.test.home": str(folder),
        "java.io.tmpdir": str(folder / "tmp"),
        "derby.system.home": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.master.rest.enabled": "false",
        "spark.memory.debugFill": "true",
        "io.netty.tryReflectionSetAccessible": "true",
        **(settings(folder) if plugin else {}),
    }
    class_path = ":".join(map(str, [*([shim_jar()] if plugin else []), *jars]))
    command = [
        java(), "-Xmx2g", "-Xss4m", "-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED.split()),
        *(f"-D{key}={text}" for key, text in properties.items()),
        "-cp", class_path, "org.scalatest.tools.Runner", "-oW", "-u", str(folder / "reports"),
        *(part for suite in suites for part in ("-s", suite)),
    ]  # fmt: skip
    begin = time.monotonic()
    with (folder / "output").open("wb") as output:
        # What fails is in the reports.
        subprocess.run(command, cwd=folder, stdout=output, stderr=output, timeout=LIMIT, check=False)
    found = dict(results(folder / "reports"))
    text = (folder / "output").read_text(errors="replace")
    if plugin and "redacted by value" not in text:
        raise RuntimeError(f"the plugin was not on: {text[-2000:]}")
    if not found:
        raise RuntimeError(f"the suites did not run: {text[-2000:]}")
    return Outcome(
        {test: state for test, (state, _) in found.items()},
        time.monotonic() - begin,
        {test: why for test, (_, why) in found.items() if why},
    )


def results(reports: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """The tests of JUnit's XML: name, how it ended, and the first line of what was thrown."""
    seen: Counter[tuple[str, str]] = Counter()
    for path in sorted(reports.glob("TEST-*.xml")):
        for case in ET.parse(path).iter("testcase"):
            wrong = next((case.find(tag) for tag in ("failure", "error") if case.find(tag) is not None), None)
            state = (
                "failed" if wrong is not None else "ignored" if case.find("skipped") is not None else "passed"
            )
            why = (wrong.get("message") or "").split("\n")[0] if wrong is not None else ""
            # A lambda that a test is named after has another number in each JVM.
            name = re.sub(r"\$\$Lambda\S*", "(lambda)", case.get("name") or "")
            number = seen[path.name, name] = seen[path.name, name] + 1
            yield f"{case.get('classname')}: {name}{f' ({number})' if number > 1 else ''}", (state, why)


def main(arguments: Sequence[str]) -> int:
    """Run, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(plan.GROUPS))
    parser.add_argument("--write", action="store_true", help="write docs/compatibility.md")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.groups) - set(plan.GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    rows = []
    with Run() as run:
        jars = spark_jars(run)
        for group in chosen.groups or plan.GROUPS:
            off, on = (
                run_suites(run, group, plan.GROUPS[group], jars, plugin=plugin) for plugin in (False, True)
            )
            row = report.compare(group, off, on)
            print(report.line(row), flush=True)
            for test, how in row.differences.items():
                print(f"  {test}: {how}{explanation(test)}", flush=True)
            rows.append(row)
    if chosen.write:
        report.write(rows)
    return int(any(not plan_explains(test) for row in rows for test in row.differences))


def plan_explains(test: str) -> str:
    """Why a difference is meant; empty if nobody has said so."""
    return next((why for known, why in plan.EXPLAINED.items() if test.startswith(known)), "")


def explanation(test: str) -> str:
    """The same for a line of output."""
    why = plan_explains(test)
    return f" (as it should be: {why})" if why else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Run Spark's published suites with sparkconfig, and what does not pass there without it too.

``python tests/assurance/suites/run.py [GROUP...]`` runs the named groups of `plan.GROUPS` (all without a name);
``--write`` puts the outcome into tests/assurance/suites/results.json and docs/compatibility.md. The exit code is 1 if a
test ends otherwise with sparkconfig, and nothing in `plan.EXPLAINED` says why, or if no suite of a group ended in time.

A suite whose tests all pass with sparkconfig shows no difference and runs once. Each other suite runs again without
sparkconfig, for the comparison, unless it is known how its tests end there (`plan.FAILING`); ``--both`` runs all suites
on both sides. Some of Spark's tests end now one way, now the other: a suite with a difference that nothing explains
runs once more on both sides, and what does not differ there in the same way is listed as unstable.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree as ET

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from suites import plan, pyspark_own, report
from suites.outcome import WHOLE, Outcome, settings
from suites.relocate import relocated
from support.maven import maven_jars
from support.processes import Run
from support.shim import shim_jar
from support.spark_home import java

ROOT = Path(__file__).resolve().parents[3]
#: What Spark's own build gives the JVM of its tests (`JavaModuleOptions`).
OPENED = (
    "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent "
    "java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"
)
#: In seconds, for one group on one side.
LIMIT = 3600
#: What Spark logs costs a third of the time; suites that look at the log set the level that they need.
LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
logger.ours.name = io.sparkconfig
logger.ours.level = info
"""


class DidNotRunError(Exception):
    """The suites of a group did not run as they should."""


class Suites:
    """The suites of one release of Spark."""

    def __init__(
        self, run: Run, release: plan.Release, *, connect: bool = False, limit: float = LIMIT
    ) -> None:
        self.run = run
        self.release = release
        self.limit = limit
        wanted = hashlib.sha256("\n".join(release.coordinates).encode()).hexdigest()[:8]
        name = f"spark-suites-{release.version}-{wanted}"
        jars = maven_jars(run, name, release.coordinates, cache=ROOT / ".cache", without=release.without)
        if connect:
            connect_jars = f"spark-connect-suites-{release.version}"
            jars += maven_jars(
                run, connect_jars, release.connect_coordinates, cache=ROOT / ".cache", transitive=False
            )
            wheel = next((ROOT / ".venvs" / f"pyspark-{release.connect}").glob("lib/*/site-packages/pyspark"))
            jars += sorted(wheel.glob("jars/spark-mllib*.jar")) + sorted(wheel.glob("jars/spark-graphx*.jar"))
        self.jars = [self._relocated(jar) for jar in jars]

    def _relocated(self, jar: Path) -> Path:
        for module, packages in self.release.relocated.items():
            if jar.name == f"spark-{module}_{self.release.scala}-{self.release.version}-tests.jar":
                return relocated(jar, self.run.dir / "relocated", packages)
        return jar

    @cached_property
    def ours(self) -> Path:
        """Our jar for this Spark."""
        if self.release.scala == "2.13":
            return shim_jar()
        spark = next(
            (ROOT / ".venvs" / f"pyspark-{self.release.version}").glob("lib/*/site-packages/pyspark")
        )
        command = [sys.executable, str(ROOT / "tools" / "jars" / "build.py"), "--pyspark", str(spark)]
        out = ROOT / "build" / f"suites-{self.release.version}"
        done = subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.PIPE, text=True)
        return Path(done.stdout.strip().splitlines()[-1]).absolute()

    @cached_property
    def _classes(self) -> frozenset[str]:
        jars = (jar for jar in self.jars if jar.name.endswith("-tests.jar"))
        return frozenset(name for jar in jars for name in zipfile.ZipFile(jar).namelist())

    def of(self, group: str) -> list[str]:
        """The suites of a group that this release has."""
        return [suite for suite in plan.GROUPS[group] if suite.replace(".", "/") + ".class" in self._classes]

    def outcome(self, name: str, suites: Sequence[str], *, plugin: bool, turn: int = 1) -> Outcome:
        """Run suites one after the other in one JVM."""
        folder = self.run.private_dir(f"suites-{name}-{'on' if plugin else 'off'}-{turn}")
        (folder / "tmp").mkdir()
        (folder / "log4j2.properties").write_text(LOGGING)
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
            "log4j2.configurationFile": str(folder / "log4j2.properties"),
            **(settings(folder) if plugin else {}),
        }
        class_path = ":".join(map(str, [*([self.ours] if plugin else []), *self.jars]))
        command = [
            java(), "-Xmx2g", "-Xss4m", "-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED.split()),
            *(f"-D{key}={text}" for key, text in properties.items()),
            "-cp", class_path, "org.scalatest.tools.Runner", "-oW", "-u", str(folder / "reports"),
            *(part for suite in suites for part in ("-s", suite)),
        ]  # fmt: skip
        begin = time.monotonic()
        env = dict(os.environ)
        # The quick group does without: see `plan.FAILING`.
        if name != plan.QUICK:
            # As Spark's build has it: from these a worker makes the command lines of its executors.
            env |= {
                "SPARK_TESTING": "1",
                "SPARK_SCALA_VERSION": self.release.scala,
                "SPARK_DIST_CLASSPATH": class_path,
            }
        # What fails is in the reports.
        with (folder / "output").open("wb") as output, _Limited(self.limit):
            subprocess.run(
                command, cwd=folder, stdout=output, stderr=output, timeout=self.limit, check=False,
                env=env,
            )  # fmt: skip
        text = (folder / "output").read_text(errors="replace")
        if "*** RUN ABORTED ***" in text:
            raise DidNotRunError(text[-2000:])
        if plugin and name not in plan.WITHOUT_APPLICATION and "redacted by value" not in text:
            raise DidNotRunError(f"the plugin was not on: {text[-2000:]}")
        found = dict(results(folder / "reports", text))
        tests = {test: state for test, (state, _) in found.items()}
        limited = time.monotonic() - begin >= self.limit
        left = []
        for suite in suites:
            if not any(test.startswith(f"{suite}: ") for test in tests):
                if limited:
                    left.append(suite)
                else:
                    tests[f"{suite}: {WHOLE}"] = "missing"
            elif re.search(rf"^{suite.rpartition('.')[2]} \*\*\* ABORTED", text, re.MULTILINE):
                tests[f"{suite}: {WHOLE}"] = "aborted"
        return Outcome(
            tests, time.monotonic() - begin, {test: why for test, (_, why) in found.items() if why}, left
        )


class _Limited:
    """The suites that ended before the time was over are compared."""

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is not None and issubclass(kind, subprocess.TimeoutExpired):
            print(f"  cut off after {self.limit:.0f} s", flush=True)
            return True
        return False


def results(reports: Path, output: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The tests of JUnit's XML: name, how it ended, and the first line of what was thrown.

    Args:
        output: of the run; it alone tells a test that gave up (`assume`) from one that is always ignored.
    """
    canceled = set(re.findall(r"^- (.*) !!! CANCELED !!!", output, re.MULTILINE))
    seen: Counter[tuple[str, str]] = Counter()
    for path in sorted(reports.glob("TEST-*.xml")):
        for case in ET.parse(path).iter("testcase"):
            wrong = next((case.find(tag) for tag in ("failure", "error") if case.find(tag) is not None), None)
            given = case.get("name") or ""
            if wrong is not None:
                state = "failed"
            elif case.find("skipped") is not None:
                state = "canceled" if given in canceled else "ignored"
            else:
                state = "passed"
            why = (wrong.get("message") or "").split("\n")[0] if wrong is not None else ""
            # A lambda that a test is named after has another number in each JVM.
            name = re.sub(r"\$\$Lambda\S*", "(lambda)", given)
            number = seen[path.name, name] = seen[path.name, name] + 1
            yield f"{case.get('classname')}: {name}{f' ({number})' if number > 1 else ''}", (state, why)


def compare(
    tests: Suites | pyspark_own.Doctests, spark: str, group: str, chosen: Sequence[str], *, both: bool = False
) -> report.Row:
    """Run a group with sparkconfig, and what is needed for the comparison without it."""
    on = tests.outcome(group, chosen, plugin=True)
    ended = [suite for suite in chosen if suite not in on.left]
    again = ended if both else on.doubtful(ended, plan.FAILING if group == plan.QUICK else ())
    off = tests.outcome(group, again, plugin=False) if again else Outcome({}, 0.0)
    again = [suite for suite in again if suite not in off.left]
    differences = _differences(on, off, again)
    unstable: list[str] = []
    doubted = {test.split(": ")[0] for test in differences if not plan_explains(spark, test)}
    if doubted:
        chosen = [suite for suite in again if suite in doubted]
        second = _differences(
            tests.outcome(group, chosen, plugin=True, turn=2),
            tests.outcome(group, chosen, plugin=False, turn=2),
            chosen,
        )
        unstable = [
            test
            for test, (states, _) in differences.items()
            if test.split(": ")[0] in doubted and (test not in second or second[test][0] != states)
        ]
    return report.Row(
        spark, group, [name.removeprefix(plan.CORE) for name in ended],
        dict(Counter(on.tests.values())), len(again), (round(on.seconds), round(off.seconds)),
        {test: "".join(how) for test, how in differences.items() if test not in unstable},
        dict(Counter(off.tests.values())), [name.removeprefix(plan.CORE) for name in on.left], unstable,
    )  # fmt: skip


def _differences(on: Outcome, off: Outcome, suites: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The tests that end otherwise with sparkconfig: how they end, and the first line of what was thrown."""
    found = {}
    for test in sorted({test for test in on.tests if test.split(": ")[0] in suites} | off.tests.keys()):
        before, after = off.tests.get(test, "missing"), on.tests.get(test, "missing")
        if before != after:
            why = on.why.get(test) or off.why.get(test, "")
            found[test] = f"{before} without, {after} with", f": {why[:300]}" if why else ""
    return found


def of_group(run: Run, group: str, spark: str, *, limit: float, both: bool) -> report.Row:
    """Run one group, of Spark's suites or of PySpark's doctests."""
    if group in plan.PYSPARK:
        modules = pyspark_own.available(plan.PYSPARK[group])
        doctests = pyspark_own.Doctests(run, limit=limit)
        return compare(doctests, pyspark_own.spark_version(), group, modules, both=both)
    release = plan.RELEASES[spark]
    suites = Suites(run, release, connect=group == plan.CONNECT and bool(release.connect), limit=limit)
    return compare(suites, spark, group, suites.of(group), both=both)


def main(arguments: Sequence[str]) -> int:
    """Run, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join([*plan.GROUPS, *plan.PYSPARK]))
    parser.add_argument("--spark", default=plan.NEWEST, choices=plan.RELEASES, help="release to run on")
    parser.add_argument("--both", action="store_true", help="run all suites without sparkconfig too")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one group on one side")
    parser.add_argument("--write", action="store_true", help="write docs/compatibility.md")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.groups) - set(plan.GROUPS) - set(plan.PYSPARK)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    unexplained = False
    with Run() as run:
        for group in chosen.groups or [*plan.GROUPS, *plan.PYSPARK]:
            try:
                row = of_group(run, group, chosen.spark, limit=chosen.limit, both=chosen.both)
            except DidNotRunError as problem:
                print(f"{group}: {problem}", flush=True)
                unexplained = True
                continue
            print(report.line(row), flush=True)
            for test in row.unstable:
                print(f"  {test}: did not differ in a second run on both sides", flush=True)
            for test, how in row.differences.items():
                print(f"  {test}: {how}{explanation(row.spark, test)}", flush=True)
                unexplained |= not plan_explains(row.spark, test)
            if not row.tests:
                print(f"{group}: none of its suites ended in time", flush=True)
                unexplained = True
            elif chosen.write:
                report.write(row)
    return int(unexplained)


def plan_explains(spark: str, test: str) -> str:
    """Why a difference is meant; empty if nobody has said so."""
    return next(
        (
            why
            for (release, known), why in plan.EXPLAINED.items()
            if release in ("", spark) and test.startswith(known)
        ),
        "",
    )


def explanation(spark: str, test: str) -> str:
    """The same for a line of output."""
    why = plan_explains(spark, test)
    return f" (as it should be: {why})" if why else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

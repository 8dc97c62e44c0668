"""Run sources and suites against real servers: ``run.py [--write] [NAME ...]``; all of this Spark without a name.

What ended how is kept in ``results.json``, from which ``tools/docs/generate.py`` makes ``docs/real.md``.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyspark

from real.page import LEFT_OUT, ORDERS, RESULTS, STEPS, Row
from real.plan import SUITES, Suite
from real.sources import ALL
from real.sources.base import SPARK, Source

ROOT = Path(__file__).resolve().parents[3]
KNOWN = [*(each.name for each in ALL), *(each.name for each in SUITES)]


def main() -> int:
    """Run what is requested; fails if anything failed."""
    parser = argparse.ArgumentParser(description="run sources and suites against real servers")
    parser.add_argument("--write", action="store_true", help="keep the results, for the docs")
    named = "only what names this Spark, not what runs on each"
    parser.add_argument("--named", action="store_true", help=named)
    parser.add_argument("names", nargs="*", help=", ".join(KNOWN))
    options = parser.parse_args()
    if unknown := set(options.names) - set(KNOWN):
        parser.error(f"nothing is called {', '.join(sorted(unknown))}")
    rows = []
    for row in found(options.names, named=options.named):
        print(row.line(), flush=True)
        rows.append(row)
        if options.write:
            keep(rows)
    return int(any("failed" in row.steps.values() for row in rows))


def keep(rows: Sequence[Row]) -> None:
    """Put these in the place of what was known of the same sources on this Spark, in the order of the page."""
    # `make real` runs two Sparks at a time.
    folder = os.open(RESULTS.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        _keep(rows)
    finally:
        os.close(folder)


def _keep(rows: Sequence[Row]) -> None:
    kept = [Row(**each) for each in json.loads(RESULTS.read_text())] if RESULTS.exists() else []
    found_now = {(row.spark, row.title) for row in rows}
    order = [*(each.title for each in ALL), *(each.title for each in SUITES)]
    every = [*(row for row in kept if (row.spark, row.title) not in found_now), *rows]
    every = [row for row in every if row.title in order]
    every.sort(key=lambda row: (order.index(row.title), [-int(part) for part in row.spark.split(".")]))
    RESULTS.write_text(json.dumps([vars(row) for row in every], indent=1) + "\n", encoding="utf-8")


def found(names: Sequence[str], *, named: bool = False) -> Iterator[Row]:
    """What is requested and has a release for this Spark, one after the other."""
    sources = [each for each in ALL if _wanted(each, names, named=named)]
    if sources:
        cases = run(["real/test_sources.py"], {"REAL": ",".join(each.name for each in sources)})
        for source in sources:
            steps = {step: cases.get(f"test_source[{source.name}-{step}]", "failed") for step in STEPS}
            if source.extension or source.listener:
                steps[ORDERS] = cases.get(f"test_extension_behind_ours[{source.name}]", "failed")
            yield Row(pyspark.__version__, source.title, steps)
    for suite in SUITES:
        if _wanted(suite, names, named=named):
            cases = run(suite.files, {"THIRD_PARTIES": "check", "REAL": suite.name})
            ended = "failed" if "failed" in cases.values() or "ran" not in cases.values() else "ran"
            steps = {step: ended if step in suite.steps else "" for step in STEPS}
            if suite.orders:
                steps[ORDERS] = ended
            if skipped := sorted({how for how in cases.values() if how not in ("ran", "failed")}):
                steps[LEFT_OUT] = "; ".join(skipped)
            yield Row(pyspark.__version__, suite.title, steps)


def run(files: Sequence[str], env: dict[str, str]) -> dict[str, str]:
    """How each test ended: ran, failed, or why it was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        paths = [str(ROOT / "tests" / file) for file in files]
        subprocess.run([*command, *paths], check=False, env={**os.environ, **env}, cwd=ROOT)
        if not report.exists():
            return {}
        return {case.attrib["name"]: _ended(case) for case in ET.parse(report).getroot().iter("testcase")}


def _ended(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    return "ran" if skipped is None else str(skipped.attrib.get("message", "skipped"))


def _wanted(each: type[Source] | Suite, names: Sequence[str], *, named: bool) -> bool:
    fits = SPARK in each.sparks or not (each.sparks or named)
    return fits and (not names or each.name in names)


if __name__ == "__main__":
    sys.exit(main())

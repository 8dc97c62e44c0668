"""`make audit`: run jobs that show their secrets wherever a job can, and search everything that Spark shows.

The same jobs run three times: on stock Spark, on Spark with its redaction confs, and with sparkconfig. Exit codes:
0 no leak with sparkconfig, but those that the page explains; 1 leaks; 2 something did not start.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(CHECKOUT / "docs" / "examples"), str(CHECKOUT / "tests"), str(CHECKOUT / "python")]
sys.path.append(str(CHECKOUT / "tests" / "assurance"))

from demo.progress import say, step  # noqa: E402

import record  # noqa: E402
from leaks.audit.applications import ALL, can_run  # noqa: E402
from leaks.audit.column import Column, open_column  # noqa: E402
from leaks.audit.profiles import PROFILES, Profile  # noqa: E402
from leaks.audit.report import Result, markdown, problems, write  # noqa: E402
from leaks.audit.stage import Stage, prepare  # noqa: E402
from support import browser, surfaces  # noqa: E402
from support.processes import HarnessError, Run  # noqa: E402

PAGE = CHECKOUT / "docs" / "leak-audit.md"
CACHE = CHECKOUT / ".cache"
LOGS = CHECKOUT / "build" / "leak-audit"
#: The columns without sparkconfig show that the search finds what is there: a few pages of a kind are enough for that,
#: in Chromium, which takes a second or two for each, and over HTTP.
PER_SHAPE_OTHERS, PER_SHAPE_HTTP_OTHERS = 1, 10


def audit_column(stage: Stage, profile: Profile, applications: list[str]) -> Result:
    """Run the applications one way, and search."""
    if not profile.plugin:
        stage = replace(
            stage, per_shape=min(stage.per_shape, PER_SHAPE_OTHERS), per_shape_http=PER_SHAPE_HTTP_OTHERS
        )
    column = open_column(stage, profile)
    with surfaces.ProcessWatch() as processes:
        for name in applications:
            with step(f"{profile.title}: {name}"):
                ALL[name](column)
            _tell(column)
    column.search_files()
    column.search("command lines of all processes", processes.command_lines.items())
    column.search("environments of all processes", processes.environments.items())
    _tell(column)
    return Result(profile.title, profile.plugin, column.surfaces)


def keep(spark: str, results: list[Result]) -> None:
    """Keep the sums, for docs/assurance.md."""
    found = {each.title: sum(surface.occurrences for surface in each.surfaces.values()) for each in results}
    record.write("audit", {**(record.read("audit") or {}), spark: {**record.stamp(), "found": found}})


def _tell(column: Column) -> None:
    found = {each.name: each.occurrences for each in column.surfaces.values() if each.occurrences}
    say(f"    leaks so far: {found or 'none'}")


@contextlib.contextmanager
def _browser(run: Run, *, wanted: bool) -> Iterator[browser.Browser | None]:
    if not wanted:
        yield None
        return
    if lacking := browser.missing():
        raise HarnessError(
            f"no browser: {lacking} is missing; install {browser.PACKAGES}, or use --no-browser"
        )
    with browser.Browser(run.private_dir("browser")) as opened:
        yield opened


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help=f"write the table into {PAGE.relative_to(CHECKOUT)}"
    )
    parser.add_argument("--no-browser", action="store_true", help="search pages over HTTP only")
    parser.add_argument(
        "--per-shape",
        type=int,
        default=10,
        help=f"pages of one kind in Chromium with sparkconfig; {PER_SHAPE_OTHERS} without it",
    )
    parser.add_argument("--columns", nargs="+", choices=[each.key for each in PROFILES])
    parser.add_argument("--applications", nargs="+", choices=list(ALL), default=list(ALL))
    parser.add_argument("--json", type=Path, help="write the findings, with their places, to this file")
    parser.add_argument(
        "--logs", type=Path, default=LOGS, help="where the logs of all processes are kept: they hold canaries"
    )
    chosen = parser.parse_args(arguments)
    import pyspark

    profiles = [each for each in PROFILES if not chosen.columns or each.key in chosen.columns]
    applications = [name for name in chosen.applications if can_run(name)]
    for name in set(chosen.applications) - set(applications):
        say(f"not on pyspark {pyspark.__version__}, which comes without it: {name}")
    try:
        with Run(keep_logs=chosen.logs) as run, _browser(run, wanted=not chosen.no_browser) as opened:
            with step("Starting PostgreSQL and a cluster"):
                stage = prepare(run, CACHE, browser=opened, per_shape=chosen.per_shape)
            results = [audit_column(stage, profile, applications) for profile in profiles]
    except HarnessError as error:
        say(f"make audit: {error}")
        say(f"The logs of all processes are in {chosen.logs}")
        return 2
    how = "over HTTP only" if chosen.no_browser else "over HTTP and in Chromium"
    what = f"pyspark {pyspark.__version__}; applications: {', '.join(applications)}; pages read {how}."
    lines = [what, "", *markdown(results)]
    print("\n".join(["", *lines, ""]))
    wrong = problems(results)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(result) for result in results], indent=2))
    if chosen.write:
        keep(pyspark.__version__, results)
        if not pyspark.__version__.startswith("3."):  # of 3.5 the docs have the sums alone
            write(PAGE, f"pyspark {'.'.join(pyspark.__version__.split('.')[:2])}", lines)
    for line in wrong:
        print(f"FAILED: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

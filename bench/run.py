"""All benches, one after the other, and their results in one Markdown table: ``make bench``.

    python bench/run.py [--out bench/results.md] [--only use,rotation] [--minutes 19] [--publish]

Each compares with its peer in the same run, on equal confs. A bench that does not come to its end in its share of the
time is ended and named. What each of them printed stands below the table. What was measured is kept in build/bench, so
that ``--only`` measures a part again. ``--publish`` writes the table of all that is kept into docs/performance.md, and
draws the plots.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
PAGE = DOCS / "performance.md"
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"
KEPT = HERE.parent / "build" / "bench"
ASIDE = re.compile(r"^instructions: |, CPU s$|^1000 tasks, wall s$")
"""Rows that results.md alone has: no reader's time depends on them; they show us what a change costs."""
DATA = {"rotation": "rotation.json"}
"""Benches whose numbers are drawn: tools/docs/pictures.py. The plot of growth has more sizes than 20 minutes have
room for; it is drawn from a run by hand: ``bench_growth.py --json docs/images/growth.json``."""


class Row(NamedTuple):
    """One line of the table."""

    what: str
    peer: str
    ours: str
    ratio: str = ""
    spread: str = ""


class Target(NamedTuple):
    """What a row must reach: its ratio, or else our own number with its unit."""

    row: str
    column: str
    at_most: float | None = None
    at_least: float | None = None

    def verdict(self, row: Row) -> str:
        """Return the limit and whether it is met."""
        number = float(getattr(row, self.column).split()[0].replace(",", ""))
        if self.at_least is not None:
            word, limit, met = "at least", self.at_least, number >= self.at_least
        else:
            word, limit = "at most", self.at_most or 0.0
            met = number <= limit
        unit = "".join(getattr(row, self.column).partition(" ")[1:])
        return f"{word} {limit:,.4g}{unit}: {'met' if met else '**missed**'}"


TARGETS = (
    Target("connection, ", "ratio", at_most=1.05),
    Target("analysis, 50 references", "ratio", at_most=1.1),
    Target("current() in Python", "ours", at_most=100),
    Target("current() in Scala", "ours", at_most=2),
    Target("rotation -> a running Python task", "ours", at_most=100),
    Target("rotation -> the last of 4 ", "ours", at_most=100),
    Target("idle driver", "ours", at_most=2),
    Target("rotation -> the last of 10,000", "ours", at_most=2000),
    Target("start-up, installed", "ratio", at_most=1.03),
    Target("300000 log lines, wall", "ratio", at_most=1.2),
    Target("300000 warnings, wall", "ratio", at_most=1.2),
    Target("tasks, by samples", "ratio", at_most=1.03),
    Target("search: ", "ours", at_least=1000),
    Target("transform: ", "ratio", at_least=1.0),
    Target("side process, resident", "ours", at_most=27),
)
"""By the beginning of the row's name."""


class Bench(NamedTuple):
    """One script: its arguments, its share of the time, and what of its JSON is in the table."""

    arguments: tuple[str, ...]
    seconds: int
    rows: Callable[[Any], Iterator[Row]] | None = None
    json: bool = True


def use(found: dict[str, list[float]]) -> Iterator[Row]:
    """Microseconds of one use."""
    for name, laps in found.items():
        peer = found.get(name.partition(",")[0]) if "," in name else None
        if name.startswith(("connection,", "analysis,")) and peer:
            ratio = min(laps) / min(peer)
            worst = max(laps) / min(peer)
            yield Row(name, f"{min(peer):,.0f} us", f"{min(laps):,.0f} us", f"{ratio:.2f}", f"to {worst:.2f}")
        elif name.startswith("current()"):
            yield Row(name, "", f"{min(laps):,.1f} us", "", f"to {max(laps):,.1f} us")


def rotation(found: dict[str, list[float]]) -> Iterator[Row]:
    """Milliseconds from a rotation to a use."""
    for name, ms in found.items():
        yield Row(name, "", f"{statistics.median(ms):.0f} ms", "", f"{ms[0]:.0f} to {ms[-1]:.0f} ms")


def transform(found: dict[str, dict[str, float]]) -> Iterator[Row]:
    """Entries for each CPU second, beside Kafka's own classes: the best of the rounds of each."""
    for name, speed in found.items():
        if speed["kafka"]:
            ratio, spread = speed["ours"] / speed["kafka"], f"{speed['least']:.2f} to {speed['most']:.2f}"
            peer, ours = f"{speed['kafka']:,.0f}/s", f"{speed['ours']:,.0f}/s"
            yield Row(f"transform: {name}", peer, ours, f"{ratio:.2f}", spread)


def redaction(found: list[dict[str, Any]]) -> Iterator[Row]:
    """Megabytes a second, beside Netty's Aho-Corasick."""
    for row in found:
        peer = row.get("netty") or 0.0
        ratio = f"{row['ours'] / peer:.2f}" if peer else ""
        what = f"search: {row['text']}, {row['values']} values"
        yield Row(what, f"{peer:,.0f} MB/s" if peer else "", f"{row['ours']:,.0f} MB/s", ratio)


def in_python(found: list[dict[str, float]]) -> Iterator[Row]:
    """Beside one regular expression of all values, as maskers of logs in Python have it."""
    for row in found:
        peer, ours = row["lines: peer"], row["lines"]
        what = f"search in Python: lines, {row['values']} values"
        yield Row(what, f"{peer:,.1f} MB/s", f"{ours:,.1f} MB/s", f"{ours / peer:.2f}")
        peer, ours = row["add us of the peer"], row["add us"]
        yield Row(
            f"one more value, {row['values']} known",
            f"{peer:,.0f} us",
            f"{ours:,.0f} us",
            f"{ours / peer:.3f}",
        )


def overhead(found: dict[str, list[list[float]]]) -> Iterator[Row]:
    """Stock Spark and ours by turns."""
    for name, (stock, ours) in found.items():
        ratios = sorted(after / before for before, after in zip(stock, ours, strict=True))
        quarter = len(ratios) // 4
        spread = f"{ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}"
        median = statistics.median
        yield Row(name, f"{median(stock):.2f}", f"{median(ours):.2f}", f"{median(ratios):.3f}", spread)


def startup(found: dict[str, Any]) -> Iterator[Row]:
    """Seconds of whole applications, as ratios."""
    for way, ratios in found["ratios"].items():
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        yield Row(f"start-up, {way}", "", "", f"{statistics.median(ratios):.3f}", spread)
    yield Row("side process, resident", "", f"{found['resident'] / 1e6:.0f} MB")


def instructions(found: dict[str, dict[str, int]]) -> Iterator[Row]:
    """What is too small to time."""
    alone, ours = found["imports"].values()
    yield Row("instructions: imports of the side process", f"{alone:,}", f"{ours:,}", f"{ours / alone:.1f}")
    for name, count in found["each"].items():
        yield Row(f"instructions: {name}", "", f"{count:,}")


def growth(found: dict[str, Any]) -> Iterator[Row]:
    """What one more reference or executor costs: the ends of each line of the plot, and the most executors."""
    crowd = found["most executors"]
    stock, ours = (f"{crowd[name] * 100:.1f} % of a core" for name in ("stock", "idle share of a core"))
    yield Row("idle driver with 10,000 executors", stock, ours)
    last = sorted(crowd["last executor, ms"])
    spread = f"{last[0]:,.0f} to {last[-1]:,.0f} ms"
    yield Row("rotation -> the last of 10,000", "", f"{statistics.median(last):,.0f} ms", "", spread)
    for name, line in found["lines"].items():
        at, cost, unit = line["at"], line["cost"], line["unit"]
        what = f"{name}, {at[0]:,} and {at[-1]:,} {line['of']}"
        yield Row(what, "", f"{cost[0]:,.2f} {unit}, {cost[-1]:,.2f} {unit}")


BENCHES = {
    "use": Bench(("--turns", "2", "--laps", "4"), 200, use),
    "rotation": Bench(("--rotations", "12"), 110, rotation),
    "transform": Bench((), 120, transform),
    "redaction": Bench(("--values", "1,100,10000", "--megabytes", "3"), 150, redaction),
    "redaction_python": Bench(("--values", "10,20000"), 60, in_python),
    "redaction_overhead": Bench(("--tasks", "6000", "--rounds", "6"), 400, overhead),
    "startup": Bench(("--pairs", "4", "--cds"), 220, startup),
    "policy": Bench((), 30, json=False),
    "policy_doors": Bench(("--statements", "300"), 60, json=False),
    "scrub": Bench(("--megabytes", "8"), 30, json=False),
    "instructions": Bench((), 180, instructions),
    "growth": Bench(("--references", "10,10000", "--executors", "4,10000"), 420, growth),
}
"""By the name of their script. Run by hand: `providers` needs servers, `options` takes ten minutes, and `substitution`
and `overlap` have no peer."""


def machine() -> str:
    """What the numbers were measured on."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    load = os.getloadavg()[0]
    today = dt.datetime.now(dt.timezone.utc).date()
    return (
        f"{today}, {len(models)} cores ({models[0] if models else platform.machine()}), {memory:.0f} GB,"
        f" Linux {platform.release()}, Python {platform.python_version()}; load before the run {load:.1f}"
    )


def main() -> int:
    """Run the benches and write the table; fails if one of them did not come to its end."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--minutes", type=float, default=19.9, help="for all of them")
    parser.add_argument("--publish", action="store_true", help="write the documentation's table and plots")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else list(BENCHES)
    head, printed, failed = machine(), [], []
    end = time.monotonic() + options.minutes * 60
    for name in wanted:
        bench = BENCHES[name]
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "found.json"
            command = [sys.executable, str(HERE / f"bench_{name}.py"), *bench.arguments]
            print(f"{name} ...", file=sys.stderr, flush=True)
            began = time.monotonic()
            try:
                done = subprocess.run(
                    [*command, *(("--json", str(told)) if bench.json else ())],
                    check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    timeout=max(1.0, min(bench.seconds, end - began)),
                )  # fmt: skip
                output, well = done.stdout, done.returncode == 0
            except subprocess.TimeoutExpired as late:
                output = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
                well = False
            seconds = time.monotonic() - began
            # Without valgrind `instructions` tells nothing, which is not a failure.
            if well and told.exists():
                KEPT.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(told, KEPT / f"{name}.json")
            if not well:
                failed.append(name)
        title = f"bench_{name}.py {' '.join(bench.arguments)}".strip()
        state = "" if well else "; **not to its end**"
        printed += [f"### `{title}` ({seconds:.0f} s{state})", "", "```text", output.strip(), "```", ""]
        write(options.out, head, printed)
    if options.publish:
        publish(head)
    print(f"{options.out}; failed: {', '.join(failed) or 'none'}", file=sys.stderr)
    return 1 if failed else 0


def rows() -> Iterator[Row]:
    """What is kept of all benches, in their order."""
    for name, bench in BENCHES.items():
        if bench.rows is not None and (KEPT / f"{name}.json").exists():
            try:
                yield from bench.rows(json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8")))
            except KeyError:
                print(
                    f"{name}: what is kept was measured by an earlier version; run it again", file=sys.stderr
                )


def table(head: str, without: re.Pattern[str] | None = None) -> list[str]:
    """Return the lines of the table, each row with its target if it has one, but those that match."""
    lines = [
        head,
        "",
        "| What | Peer | Ours | Ratio | Spread | Target |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows():
        if without and without.search(row.what):
            continue
        targets = [target.verdict(row) for target in TARGETS if target.row in row.what]
        lines.append(f"| {' | '.join([*row, '; '.join(targets)])} |")
    return lines


def write(path: Path, head: str, printed: list[str]) -> None:
    """Write what is known by now."""
    path.write_text("\n".join(["# Measured", "", *table(head), "", *printed]), encoding="utf-8")


def publish(head: str) -> None:
    """Put the table into the documentation, and the data of its pictures beside these."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(
        "\n".join([before + BEGIN, *table(head, ASIDE), END + rest.split(END)[1]]), encoding="utf-8"
    )
    for name, target in DATA.items():
        if (KEPT / f"{name}.json").exists():
            shutil.copyfile(KEPT / f"{name}.json", DOCS / "images" / target)
    pictures = HERE.parent / "tools" / "docs" / "pictures.py"
    subprocess.run([sys.executable, str(pictures)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    raise SystemExit(main())

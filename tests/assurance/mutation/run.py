"""Mutation testing of policy, redaction and resolution.

    python tests/assurance/mutation/run.py [--tenths DIGITS] [NAME ...]

mutmut changes one operator, constant or call at a time and runs the unit tests that reach it. It works on a copy in
``build/mutation``, where the package lies in ``src``, as mutmut expects. ``--tenths 37`` takes a fifth of the mutants,
those whose numbers end with 3 or 7. Prints the score of each package, and the survivors, which ``mutmut show NAME`` in
that folder explains. The numbers are kept in ``docs/assurance/mutation.json``, unless some were named or did not run.
``equivalent.json`` says of survivors which no test can notice, and why.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "assurance"))

import record  # noqa: E402 - this checkout's

WORK = ROOT / "build" / "mutation"
PACKAGES = ("policy", "redaction", "resolution")
# What starts other processes would run code that mutmut does not see; what waits for threads and clocks would notice
# mutants that are only slow.
LEFT_OUT = (
    "tests/unit/redaction/sinks",
    "tests/unit/policy/test_docs.py",
    "tests/unit/policy/test_surface.py",
    # Minutes in a copy whose functions count their calls.
    "tests/unit/redaction/test_redaction.py::test_ten_thousand_values",
    "tests/unit/redaction/test_machine.py",
    "tests/unit/policy/rules/test_rules.py::test_ten_thousand_odd_properties_have_an_answer",
    "tests/unit/resolution/test_keeper.py",
)
CONFIG = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = [{only}]
also_copy = ["src", "jvm-shim", "tools", "docs", "conf", "README.md"]
pytest_add_cli_args_test_selection = [{tests}]
# A mutant that never ends costs a minute; a machine that is busy must not count as a test that noticed something.
timeout_constant = 30.0
timeout_multiplier = 2.0
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutation"]

[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:kmock -p no:randomly"
pythonpath = ["src", "tests", "tests/assurance"]
timeout = 600
markers = ["spark: a real Spark application"]
"""
FAILED, OUT_OF_TIME, SURVIVED = {1, 3}, {36, 24, 152, 255, -24}, {0}


def prepare(packages: list[str]) -> None:
    """Copy what the tests need, and write mutmut's settings."""
    shutil.rmtree(WORK, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "jars", "build", "target")
    for source, target in (
        ("python/sparkconfig", "src/sparkconfig"),
        ("tests", "tests"),
        ("jvm-shim", "jvm-shim"),
        ("docs", "docs"),
        ("conf", "conf"),
    ):
        shutil.copytree(ROOT / source, WORK / target, ignore=ignored)
    shutil.copy(ROOT / "README.md", WORK / "README.md")
    only = ", ".join(f'"src/sparkconfig/{package}/*"' for package in packages)
    left_out = [f"--deselect={path}" for path in LEFT_OUT]
    tests = ", ".join(f'"{each}"' for each in [*(f"tests/unit/{package}" for package in packages), *left_out])
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.pytest.ini_options]")[0]
    (WORK / "pyproject.toml").write_text(project + CONFIG.format(only=only, tests=tests), encoding="utf-8")


def mutants() -> dict[str, int | None]:
    """Every mutant that there is, and the exit code of its tests, None if they did not run."""
    found: dict[str, int | None] = {}
    for meta in sorted((WORK / "mutants").rglob("*.meta")):
        found.update(json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"])
    return found


def _ran() -> dict[str, int]:
    return {name: code for name, code in mutants().items() if code is not None}


def package_of(name: str) -> str:
    """The package of a mutant such as ``sparkconfig.policy.audit.x_record__mutmut_1``."""
    return name.split(".")[1]


def mutmut(*arguments: str) -> int:
    """Run mutmut in the copy."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *arguments]
    return subprocess.run(command, cwd=WORK, check=False).returncode


def report(ran: dict[str, int]) -> None:
    """Print what became of the mutants that ran."""
    for package in PACKAGES:
        codes = Counter(code for name, code in ran.items() if package_of(name) == package)
        killed, late = (sum(codes[each] for each in kind) for kind in (FAILED, OUT_OF_TIME))
        count = codes.total()
        if codes:
            sys.stdout.write(
                f"{package}: {count} mutants, {100 * (killed + late) / count:.1f} % killed: {killed} by a test, {late} "
                f"ran out of time; {codes[0]} survived, {count - killed - late - codes[0]} without a test\n"
            )
    for name, code in sorted(ran.items()):
        if code not in FAILED | OUT_OF_TIME:
            sys.stdout.write(f"  {name} {'survived' if code == 0 else f'exit {code}'}\n")


def keep(ran: dict[str, int], packages: list[str], tenths: str) -> None:
    """Keep the numbers of each package, or part of one, whose mutants ran."""
    kept = record.read("mutation") or {}
    for package in packages:
        within = f"sparkconfig.{package.replace('/', '.')}."
        codes = {name: code for name, code in ran.items() if name.startswith(within)}
        survivors = sorted(name for name, code in codes.items() if code not in FAILED | OUT_OF_TIME)
        if codes:
            kept[package] = {
                **record.stamp(), "tenths": len(set(tenths)) or 10, "mutants": len(codes), "survivors": survivors,
            }  # fmt: skip
    record.write("mutation", kept)


def main() -> int:
    """Mutate, test, report."""
    parser = argparse.ArgumentParser(description="mutation testing of policy, redaction and resolution")
    parser.add_argument(
        "--tenths", default="", help="last digits of the numbers of the mutants to run; all otherwise"
    )
    parser.add_argument("--packages", default=",".join(PACKAGES), help="which of them, or parts: policy/keys")
    parser.add_argument("--report", action="store_true", help="only print what the last run found")
    parser.add_argument("names", nargs="*", help="mutants, or patterns of their names")
    options = parser.parse_args()
    if options.report:
        report(_ran())
        return 0
    prepare(options.packages.split(","))
    code = mutmut(*options.names, *(f"*__mutmut_*{digit}" for digit in options.tenths))
    report(_ran())
    left = sum(
        code is None and name.endswith(tuple(options.tenths or "0123456789"))
        for name, code in mutants().items()
    )
    if left:
        sys.stdout.write(f"{left} did not run: nothing is kept\n")
    elif not options.names:
        keep(_ran(), options.packages.split(","), options.tenths)
    return code


if __name__ == "__main__":
    sys.exit(main())

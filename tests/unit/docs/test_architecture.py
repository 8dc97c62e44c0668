"""docs/architecture.md shows the packages that are in the tree."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FIRST_CELL = re.compile(r"^\| (`.*?) \|", re.MULTILINE)


def named(part: str) -> set[str]:
    return {name for cell in FIRST_CELL.findall(part) for name in re.findall(r"`([^`]+)`", cell)}


def test_the_tables_name_every_package_and_no_other():
    """The picture is generated, but people write the tables: a new package would be in none of them."""
    python, jvm = PAGE.split("## The packages")[1].split("In the JVM")
    package = ROOT / "python" / "sparkconfig"
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    # A folder without sources is what a move left behind: Python's own cache.
    folders = {path.name for path in package.iterdir() if any(path.rglob("*.py"))} | {"data"}
    assert named(python) == modules | folders
    shim = [
        *ROOT.glob("jvm-shim/src/*/scala/io/sparkconfig/*"),
        *ROOT.glob("jvm-shim/versions/*/io/sparkconfig/*"),
    ]
    assert named(jvm) == {path.name for path in shim if path.is_dir()}


def test_every_package_below_those_of_a_running_spark_may_not_import_it():
    """import-linter checks the packages that its contract lists, and says nothing about one that it does not list."""
    contracts = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(.+)"', contracts.split("layers = [")[1].split("]")[0])
    below = layers[next(number for number, layer in enumerate(layers) if "_spark" in layer) + 1 :]
    packages = {name.strip() for layer in below for name in layer.split("|")}
    forbidden = contracts.split('type = "forbidden"')[1].split("]")[0]
    assert packages <= set(re.findall(r'"sparkconfig\.(\w+)"', forbidden))

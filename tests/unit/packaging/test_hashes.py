"""What is installed by hashes is what the constraints pin, and all that the package needs: `make hashes` writes it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FILES = ["requirements.txt", "requirements-all.txt", "requirements-dev.txt"]
# What Windows and macOS need besides, which nobody tests here.
ELSEWHERE = {"appnope", "colorama", "pywin32", "pywin32-ctypes", "tzdata", "win32-setctime"}


def pins(text: str) -> dict[str, set[str]]:
    """Every distribution that a file of pins names, with its versions: there may be one for each Python."""
    found: dict[str, set[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if line and not line.startswith(("#", " ", "-")):
            requirement = Requirement(line.partition(" --hash")[0].strip())
            (pin,) = requirement.specifier
            assert pin.operator == "=="
            found.setdefault(canonicalize_name(requirement.name), set()).add(pin.version)
    return found


def text_of(file: str) -> str:
    return (ROOT / "python" / file).read_text(encoding="utf-8")


CONSTRAINTS = pins(text_of("constraints.txt"))


@pytest.mark.parametrize("file", FILES)
def test_versions_are_those_of_the_constraints(file: str) -> None:
    found = pins(text_of(file))
    different = {
        name: versions for name, versions in found.items() if not versions <= CONSTRAINTS.get(name, set())
    }
    assert different.keys() <= ELSEWHERE


@pytest.mark.parametrize("file", FILES)
def test_every_line_has_hashes(file: str) -> None:
    blocks = re.split(r"\n(?=\S)", text_of(file))
    for block in (block for block in blocks if "==" in block.split("\n")[0]):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block.split("\n")[0]


def test_all_that_is_needed_is_there() -> None:
    core, all_extras, dev = (pins(text_of(file)).keys() for file in FILES)
    assert core < all_extras < dev
    assert direct(PROJECT["project"]["dependencies"]) <= core
    extras = PROJECT["project"]["optional-dependencies"]
    assert (
        direct(each for name, lines in extras.items() if name not in ("all", "spark") for each in lines)
        <= all_extras
    )
    assert direct(each for lines in PROJECT["dependency-groups"].values() for each in lines) <= dev


def direct(lines) -> set[str]:
    """The names of requirements that hold on the Pythons of these files, 3.11 and later."""
    requirements = [Requirement(line) for line in lines]
    return {
        canonicalize_name(each.name)
        for each in requirements
        if each.marker is None
        or any(each.marker.evaluate({"python_version": v}) for v in ("3.11", "3.12", "3.13"))
    }

"""The side process itself: what others on its machine can see of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534
PYTHON = Path("/usr/bin/python3")
START = "from sparkconfig.agent.main import main; main()"
PEEK = """
import os, sys
for name in ("mem", "environ", "maps"):
    try:
        os.close(os.open(f"/proc/{sys.argv[1]}/{name}", os.O_RDONLY))
        print(name, "opened")
    except PermissionError:
        pass
"""


def runs_this_package() -> bool:
    """Whether other users have a Python of this version that can import what this one imports."""
    if os.geteuid() != 0 or not PYTHON.exists():
        return False
    code = "import sys, sparkconfig.agent.main; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([PYTHON, "-c", code], **as_nobody(), capture_output=True, text=True, check=False)
    return done.stdout.strip() == "{}.{}".format(*sys.version_info[:2])


def as_nobody() -> dict[str, object]:
    path = os.pathsep.join(each for each in sys.path if "site-packages" in each)
    source = str(Path(__file__).resolve().parents[3] / "python")
    return {
        "user": NOBODY,
        "group": NOBODY,
        "extra_groups": [],
        "cwd": "/",
        "env": {"PYTHONPATH": os.pathsep.join([source, path]), "PYTHONDONTWRITEBYTECODE": "1"},
    }


def test_other_processes_of_its_user_cannot_read_it() -> None:
    if not runs_this_package():
        pytest.skip("no Python here that another user can run with this package")
    child = subprocess.Popen(
        [PYTHON, "-c", START], **as_nobody(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    other = subprocess.Popen([PYTHON, "-c", "input()"], **as_nobody(), stdin=subprocess.PIPE)
    try:
        child.stdin.write(json.dumps({"token": "t"}) + "\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["pid"] == child.pid
        peek = [PYTHON, "-c", PEEK]
        seen = [
            subprocess.run(
                [*peek, str(pid)], **as_nobody(), capture_output=True, text=True, check=True
            ).stdout
            for pid in (child.pid, other.pid)
        ]
        assert seen[0] == ""
        assert "environ opened" in seen[1], "an ordinary process can be read, so the test shows something"
        limits = Path(f"/proc/{child.pid}/limits").read_text()
        (line,) = [each for each in limits.splitlines() if each.startswith("Max core file size")]
        assert line.split()[4:6] == ["0", "0"]
    finally:
        for each in (child, other):
            each.stdin.close()
            each.wait(20)
        child.stdout.close()

"""A build that downloads says so, even where pip keeps its output: on the terminal, if there is one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SAY = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("hatch_build", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.say("fetching")
"""
COMMAND = [sys.executable, "-c", SAY, str(ROOT / "tools" / "jars" / "hatch_build.py")]


KEPT = """
import fcntl, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.exit(subprocess.run(sys.argv[1:], stderr=subprocess.PIPE).stderr != b"fetching\\n")
"""


def test_on_the_terminal_although_standard_error_is_kept() -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", KEPT, *COMMAND], stdin=theirs, start_new_session=True, check=False
        )
        shown = os.read(ours, 1024)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 0
    assert shown.split() == [b"sparkconfig:", b"fetching"]


def test_without_a_terminal_on_standard_error_alone() -> None:
    done = subprocess.run(COMMAND, capture_output=True, check=True, start_new_session=True)
    assert done.stderr == b"fetching\n"


SLOW = """
import importlib.util, os, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("hatch_build", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module._BEAT = 0.01
folder = Path(sys.argv[2])
child = "import os, sys; open(os.environ['TMPDIR'] + '/x', 'wb').write(bytes(3 << 20)); sys.stdin.read()"
said, heard = module.say, []
def say(text):
    said(text)
    if " 3 MB " in text and not heard:
        heard.append(text)
        os.close(write)  # it ends once it was heard
read, write = os.pipe()
os.dup2(read, 0)
os.set_inheritable(write, False)
module.say = say
module._fetch([sys.executable, "-c", child], {**os.environ, "TMPDIR": str(folder)}, folder, "a Spark")
"""


def test_a_download_says_how_far_it_is(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SLOW, COMMAND[-1], str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=True, start_new_session=True, text=True)
    assert "still fetching a Spark: 3 MB on the disk after " in done.stderr

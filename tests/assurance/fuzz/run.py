"""Run one fuzzer, and print what it cost and found.

    PYTHONPATH=tests:tests/assurance python -m fuzz.run TARGET SECONDS

The corpus stays in ``build/fuzz/TARGET``, inputs that fail in ``build/fuzz/TARGET-failed``. Each run is added to
``docs/assurance/fuzz.json``: how long it took, the processor time of the fuzzer and of its JVM (0 where it has none),
how many inputs ran, how many failed, how many the corpus has. The fuzzer's seconds include its start, which compiles
the JVM's half.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import record

BUILD = Path(__file__).resolve().parents[3] / "build" / "fuzz"
_PR_SET_CHILD_SUBREAPER = 36


def _run(command: list[str], log: Path) -> tuple[int, float, float]:
    """Run a fuzzer: its exit code, its seconds of processor time, and those of what it leaves behind.

    libFuzzer ends its process without ado, so the JVM beside it becomes our child, whose time we can then read.
    """
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("this process cannot adopt the JVM of a fuzzer, so its time would not be counted")
    with log.open("wb") as stream:
        fuzzer = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    code, own, left = 0, 0.0, 0.0
    while True:
        try:
            process, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            return code, own, left
        seconds = used.ru_utime + used.ru_stime
        if process == fuzzer.pid:
            code, own = os.waitstatus_to_exitcode(status), seconds
            fuzzer.returncode = code
        else:
            left += seconds


def _failures(folder: Path) -> int:
    """Inputs that failed; one that was slow is kept too, and on a busy machine any is."""
    return sum(not each.name.startswith("slow-unit") for each in folder.iterdir())


def main(target: str, seconds: int) -> int:
    corpus, failed = BUILD / target, BUILD / f"{target}-failed"
    for folder in (corpus, failed):
        folder.mkdir(parents=True, exist_ok=True)
    before, began = _failures(failed), time.monotonic()
    executions = 0
    log = BUILD / f"{target}.log"
    # A failure ends the process, and a run looks no further: the next input would fail by the same fault.
    command = [
        sys.executable, "-m", f"fuzz.fuzz_{target}", f"-max_total_time={seconds}", "-timeout=120", "-max_len=1024",
        "-print_final_stats=1", "-len_control=0", "-report_slow_units=60", f"-artifact_prefix={failed}/", str(corpus),
    ]  # fmt: skip
    code, own, left = _run(command, log)
    text = log.read_text("utf-8", "replace")
    counts = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(
        r"^#(\d+)\t", text, re.MULTILINE
    )
    executions += int(counts[-1]) if counts else 0
    found = _failures(failed) - before
    took = time.monotonic() - began
    _keep(target, {"seconds": round(took), "processor seconds": round(own), "of its JVM": round(left),
                   "executions": executions, "failures": found, "corpus": len(list(corpus.iterdir()))})  # fmt: skip
    sys.stdout.write(
        f"{target}: {executions} executions, {own:.0f} s of processor time, {left:.0f} s of its JVM, {found} failures\n"
    )
    if code:
        sys.stdout.write("\n".join(text.splitlines()[-30:]) + f"\nAll of it: {log}\n")
    return 1 if code or (took < seconds / 2 - 5 and not executions) else 0


def _keep(target: str, numbers: dict[str, int]) -> None:
    runs = record.read("fuzz") or []
    record.write("fuzz", [*runs, {"target": target, **record.stamp(), **numbers}])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))

"""Run one fuzzer, and print what it cost and found: ``PYTHONPATH=tests python -m fuzz.run TARGET SECONDS``.

The corpus stays in ``build/fuzz/TARGET``, inputs that fail in ``build/fuzz/TARGET-failed``. Each run adds a line to
``build/fuzz/runs.tsv``: target, executions, seconds of processor time (the JVM's are not in it), failures.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build" / "fuzz"


def main(target: str, seconds: int) -> int:
    corpus, failed = BUILD / target, BUILD / f"{target}-failed"
    for folder in (corpus, failed):
        folder.mkdir(parents=True, exist_ok=True)
    before, end = len(list(failed.iterdir())), time.monotonic() + seconds
    executions = 0
    log = BUILD / f"{target}.log"
    # A failure ends the process, and a run looks no further: the next input would fail by the same fault.
    command = [
        sys.executable, "-m", f"fuzz.fuzz_{target}", f"-max_total_time={seconds}", "-timeout=120", "-max_len=1024",
        "-print_final_stats=1", "-len_control=0", "-report_slow_units=60", f"-artifact_prefix={failed}/", str(corpus),
    ]  # fmt: skip
    with log.open("wb") as stream:
        code = subprocess.run(command, stdout=stream, stderr=subprocess.STDOUT, check=False).returncode
    text = log.read_text("utf-8", "replace")
    counts = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(
        r"^#(\d+)\t", text, re.MULTILINE
    )
    executions += int(counts[-1]) if counts else 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = len(list(failed.iterdir())) - before
    line = f"{target}\t{executions}\t{used.ru_utime + used.ru_stime:.0f}\t{found}"
    with (BUILD / "runs.tsv").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    sys.stdout.write(
        f"{target}: {executions} executions, {line.split()[2]} s of processor time, {found} failures\n"
    )
    if code:
        sys.stdout.write("\n".join(text.splitlines()[-30:]) + f"\nAll of it: {log}\n")
    return 1 if code or (time.monotonic() < end - 5 - seconds // 2 and not executions) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))

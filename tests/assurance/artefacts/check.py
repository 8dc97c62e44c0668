"""``make artefacts-check``: each command as a new user would try it, from the built files and not from the checkout.

    PYTHONPATH=tests:tests/assurance python -m artefacts.check dist PYSPARK... [--step NAME]

For each Spark a new environment gets the wheel and what it needs from the package index. A step that fails does not
keep the others from running.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from artefacts.steps import STEPS
from artefacts.user import VALUE, User, WrongError


def check(dist: Path, pyspark: Path, wanted: list[str]) -> list[str]:
    """Run the steps with one Spark, print a line for each, and return those that failed."""
    failed = []
    with tempfile.TemporaryDirectory(prefix="sparkconfig-artefacts-") as folder:
        user = User(Path(folder), dist, pyspark)
        print(f"== Spark {user.version}, {user.wheel.name}, {user.py4j}", flush=True)
        for name, step in STEPS.items():
            # Two make what all others use.
            if wanted and name not in (*wanted, "seal", "init"):
                continue
            began = time.monotonic()
            try:
                outcome = step(user) or "ok"
            except WrongError as error:
                failed.append(name)
                outcome = "FAILED: " + str(error).replace(VALUE, "(value)")
            print(f"{name:56} {time.monotonic() - began:4.0f} s  {outcome}", flush=True)
    return failed


def main() -> int:
    """Check with each Spark."""
    parser = argparse.ArgumentParser(description="try the files of a release as a new user")
    parser.add_argument("dist", type=Path, help="the folder that 'make dist' wrote")
    parser.add_argument("pyspark", type=Path, nargs="+", help="folders of installed packages 'pyspark'")
    parser.add_argument("--step", action="append", default=[], choices=STEPS, help="this step only")
    options = parser.parse_args()
    failed = [
        f"{pyspark}: {name}"
        for pyspark in options.pyspark
        for name in check(options.dist, pyspark.resolve(), options.step)
    ]
    print("\n".join(["failed:", *failed]) if failed else "all steps passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Run a PySpark module as its developers do, and write down how each of its doctests ended.

``python doctests.py MODULE FILE``: each of PySpark's modules tests itself when it is run as a program. ``FILE`` gets
the JSON of name to ``passed`` or ``failed``; what failed is printed as doctest does.
"""

from __future__ import annotations

import doctest
import json
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

MODULE, FILE = sys.argv[1:]
found: dict[str, str] = {}


def record(
    module: ModuleType | None = None,
    globs: dict[str, Any] | None = None,
    optionflags: int = 0,
    **_: object,
) -> doctest.TestResults:
    """`doctest.testmod`, with a result for each test."""
    chosen = module or sys.modules["__main__"]
    runner = doctest.DocTestRunner(optionflags=optionflags)
    for test in doctest.DocTestFinder().find(chosen, chosen.__name__, globs=globs):
        if test.examples:
            failed = runner.run(test).failed
            found[test.name.replace("__main__", MODULE, 1)] = "failed" if failed else "passed"
            Path(FILE).write_text(json.dumps(found), encoding="utf-8")
    return doctest.TestResults(runner.failures, runner.tries)


doctest.testmod = record  # type: ignore[assignment]
sys.argv = [MODULE]
# Some modules name no module to test: they mean themselves, as `__main__`.
runpy.run_module(MODULE, run_name="__main__", alter_sys=True)

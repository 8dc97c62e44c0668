"""A notebook's first cells, with the newest pandas, numpy and pyarrow that pip brings: a start that hangs is a fault.

``first_cells.py STARTS``: each start is a kernel of its own, with the cell of ``jupyter.py.template`` and
one that imports pandas while the application's threads run. Lines that begin with RESULT count.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from pathlib import Path
from queue import Empty

from jupyter_client.manager import start_new_kernel

from sparkconfig.cli.main import main as sparkconfig

TEMPLATE = Path(__file__).parents[3] / "conf" / "deployments" / "jupyter.py.template"
SECONDS = 240
VALUE = "first-cell-value-41"
USE = """
import warnings; warnings.warn("a warning of the first cell")
from pyspark.sql.functions import pandas_udf
frame = spark.createDataFrame([(1, "a"), (2, "b")], "n long, t string").toPandas()
import sparkconfig
print("SEEN", len(frame), len(sparkconfig.current("${sealed:shop:password}").reveal()))
"""


def start(cells: list[str], folder: Path) -> str:
    """What the last cell printed, or why there is nothing."""
    manager, client = start_new_kernel(cwd=str(folder))
    printed: list[str] = []

    def shown(message: dict[str, dict[str, str]]) -> None:
        printed.append(message["content"].get("text", ""))

    try:
        for cell in cells:
            try:
                answer = client.execute_interactive(cell, timeout=SECONDS, output_hook=shown)
            except (TimeoutError, Empty):
                return f"no answer within {SECONDS} s"
            if answer["content"]["status"] != "ok":
                return f"{answer['content'].get('ename')}"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return "ok" if f"SEEN 2 {len(VALUE)}" in "".join(printed) else "another answer"


def main() -> int:
    """Count the starts that end well."""
    starts, wrong = int(sys.argv[1]), 0
    names = ("pyspark", "pandas", "numpy", "pyarrow")
    print(
        "RESULT with", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names), flush=True
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["FIRST_CELL_VALUE"] = VALUE
        where = ["--file", str(folder / "shop.sealed"), "--key-file", str(folder / "shop.key")]
        if sparkconfig(["seal", "create", "--new-key", *where]) or sparkconfig(
            ["seal", "set", *where, "shop:password", "--from-env", "FIRST_CELL_VALUE"]
        ):
            return 1
        del os.environ["FIRST_CELL_VALUE"]
        small = '.appName("notebook").master("local[2]").config("spark.ui.enabled", "false")'
        cell = TEMPLATE.read_text().replace("/home/jovyan", name).replace('.appName("notebook")', small)
        for number in range(1, starts + 1):
            outcome = start([cell, USE], folder)
            wrong += outcome != "ok"
            print(f"RESULT {number} of {starts}: {outcome}", flush=True)
    print(f"RESULT {starts - wrong} of {starts} starts ended well", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

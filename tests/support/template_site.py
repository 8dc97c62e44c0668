"""The operator's template of ``conf`` in force, and programs of Spark's that start beside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sparkconfig.cli.main import main
from sparkconfig.settings.schema import PREFIX
from support.processes import Child, Run
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home
from support.templates import SMALL, document, load

VALUE = "template-canary-71d5-value"


class Site:
    """The operator's template with all its policies, a sealed file, and three rows divided by a secret."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.folder = folder
        where = ["--file", str(folder / "shop.sealed"), "--key-file", str(folder / "shop.key")]
        assert main(["seal", "create", "--new-key", *where]) == 0
        os.environ["TEMPLATE_VALUE"] = VALUE
        for name in ("shared/shop:password", "teams/shop:password", "shop:password", "spark:rpc"):
            assert main(["seal", "set", *where, name, "--from-env", "TEMPLATE_VALUE"]) == 0
        del os.environ["TEMPLATE_VALUE"]
        self.rows = folder / "rows.txt"
        self.rows.write_text(f"one{VALUE}two{VALUE}three")

    def start(
        self, template: str, home: Path, command: Sequence[str | Path], *, name: str = "", **more: str
    ) -> Child:
        """Start a program of Spark's with a template's confs, beside the operator's file in ``home``."""
        name = name or template.partition(".")[0]
        own = self.folder / name
        own.mkdir()
        confs = load(document(template), self.folder)
        # The templates say so: beside the operator's file these lines are left out.
        confs = {key: text for key, text in confs.items() if not key.startswith(PREFIX)} | SMALL | more
        confs["spark.sql.warehouse.dir"] = f"{own}/warehouse"
        file = self.run.private_file(
            f"{name}.properties", "".join(f"{key} {text}\n" for key, text in confs.items())
        )
        program, *rest = command
        return self.run.start(
            f"template-{name}",
            [spark_home() / "bin" / program, "--jars", shim_jar(), "--properties-file", file, *rest],
            env={**spark_environment(home, own), "PYSPARK_PYTHON": sys.executable},
            cwd=own,
        )

    def hide(self, text: str) -> str:
        assert VALUE not in text, "a value is shown"
        return text

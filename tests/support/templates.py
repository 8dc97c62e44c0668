"""The documents in ``conf`` with the paths of this machine."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkconfig.formats import properties

CONF = Path(__file__).resolve().parents[2] / "conf"
SMALL = {
    "spark.master": "local[1]",
    "spark.driver.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}


def document(name: str) -> Path:
    """A document by its file name."""
    (found,) = CONF.rglob(name)
    return found


def load(path: Path, folder: Path | None = None) -> dict[str, str]:
    """The confs of a template; with ``folder`` in the place of ``/etc/spark``."""
    text = path.read_text()
    if folder is not None:
        text = text.replace("/etc/spark", str(folder))
    return {key: value.strip() for key, value in properties.load(text.encode()).items()}


def operator_text(folder: Path, force: Sequence[str] = ()) -> str:
    """The operator's template for this machine.

    Args:
        folder: in the place of ``/etc/spark``.
        force: the beginnings of settings below ``spark.config.`` whose commented lines are put in force.
    """
    text = (CONF / "sparkconfig.conf.template").read_text()
    for start in force:
        text, count = re.subn(rf"(?m)^# (?=spark\.config\.{re.escape(start)}[. ])", "", text)
        assert count, f"the template has no line about {start}"
    text = text.replace("/opt/sparkconfig/bin/python", sys.executable)
    return text.replace("/etc/spark", str(folder)).replace("/var/log/spark", str(folder))


def operator_home(
    folder: Path,
    name: str,
    more: Mapping[str, str] | None = None,
    *,
    force: Sequence[str] = (),
    places: Mapping[str, str] | None = None,
) -> Path:
    """Make a ``SPARK_CONF_DIR`` that holds the operator's template and the documents of its policies.

    Args:
        folder: in the place of ``/etc/spark``.
        name: tells it from others in the folder.
        more: further lines; the last line about a key counts.
        force: as for :func:`operator_text`.
        places: texts in policies that name a place of a cluster, and what represents it here.
    """
    home = folder / f"operator-{name}"
    home.mkdir(mode=0o755)
    shutil.copytree(CONF / "policies", home / "policies")
    for path in (home / "policies").iterdir():
        for there, here in (places or {}).items():
            path.write_text(path.read_text().replace(there, here))
    lines = "".join(f"{key} = {text}\n" for key, text in (more or {}).items())
    (home / "sparkconfig.conf").write_text(operator_text(folder, force) + lines)
    return home


def plain_environment(**variables: str) -> dict[str, str]:
    """The environment of a client: nothing of Spark's own but this Python."""
    outside = ("SPARK_", "PYSPARK_")
    plain = {key: text for key, text in os.environ.items() if not key.startswith(outside)}
    return {**plain, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **variables}

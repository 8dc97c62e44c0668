"""The doctor's tests look at a small Spark, in a process that belongs to no driver."""

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig import __version__
from sparkconfig._base import jvm
from sparkconfig.checks.doctor import diagnose, installation
from unit.checks.doctor.helpers import make_jar, make_java, own_jar


@pytest.fixture(autouse=True)
def _no_driver() -> Iterator[None]:
    """Other tests of this process may have made a side process, which knows a driver."""
    before = jvm.driver()
    jvm.connect(None)
    yield
    jvm.connect(before)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Spark 4 with as little as the doctor looks at, a Java 17, and a good jar in the package."""
    spark = tmp_path / "spark"
    make_jar(spark / "jars" / "spark-core_2.13-4.3.0.jar")
    make_jar(spark / "jars" / "log4j-core-2.24.3.jar")
    (spark / "conf").mkdir()
    monkeypatch.setattr("sparkconfig._spark.jars.FOLDER", tmp_path / "package")
    own_jar(tmp_path / "package" / f"sparkconfig_2.13-{__version__}.jar")
    make_java(tmp_path / "jdk", "17.0.15")
    return spark


#: It starts a Python, which says the same of this one each time.
_probe = functools.cache(installation._probe)


@pytest.fixture
def examine(home, tmp_path, monkeypatch):
    probe = installation._probe
    monkeypatch.setattr(
        installation, "_probe", lambda python: (_probe if python == sys.executable else probe)(python)
    )

    def run(confs: str = "", operator: Path | None = None, **environ: str):
        file = tmp_path / "job.conf"
        file.write_text(confs)
        env = {
            "JAVA_HOME": str(tmp_path / "jdk"),
            "PATH": os.environ["PATH"],
            "PYSPARK_PYTHON": sys.executable,
        }
        return diagnose([file], spark_home=home, operator=operator, environ={**env, **environ})

    return run

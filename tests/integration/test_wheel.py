"""What a user installs: the wheel, in an environment that holds nothing else of this checkout.

pyspark (450 MB) is borrowed from the test environment through a link, since it is the same wheel in any case;
sparkconfig itself and what it depends on are installed by pip. The wheel is built with the jar that ``make jar``
made for this Spark; with ``SPARKCONFIG_DIST=dist``, after ``make dist``, the released one is tested instead.
``make artefacts-check`` starts Spark with it in each way.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from sparkconfig import __version__
from support.printed_way import walk
from support.spark_home import spark_home

ROOT = Path(__file__).resolve().parents[2]
VALUE = "wheel-canary-71f3-value"
APP = """
import hashlib, json
from pathlib import Path
from pyspark.sql import SparkSession
from sparkconfig._spark.driver import current
from sparkconfig.session import configure

here = Path(__file__).parent
sealed = {"class": "sealed", "file": here / "shop.sealed", "key.file": here / "shop.key"}
builder = SparkSession.builder.master("local[1]").config("spark.driver.memory", "600m")
builder = configure(builder, providers={"sealed": sealed})
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
value = current("${sealed:shop:password}").reveal()
print("SEEN " + json.dumps({
    "digest": hashlib.sha256(value.encode()).hexdigest(),
    "count": spark.range(10).count(),
    "version": spark.version,
}))
spark.stop()
"""


class Environment:
    """A virtual environment with the wheel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.site = (
            folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        )

    def run(
        self, *command: str | Path, cwd: Path, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as somebody would who has activated the environment, and nothing else."""
        outside = ("SPARK_", "PYSPARK_", "PYTHON", "VIRTUAL_ENV", "PIP_")
        plain = {key: value for key, value in os.environ.items() if not key.startswith(outside)}
        path = os.pathsep.join([str(self.folder / "bin"), plain["PATH"]])
        environ = {**plain, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(self.python),
                   "PIP_NO_COMPILE": "1"}  # fmt: skip
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd, env=environ, input=text, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    def output(self, *command: str | Path, cwd: Path, text: str | None = None) -> str:
        """Run a program that has to succeed, and return what it printed."""
        done = self.run(*command, cwd=cwd, text=text)
        # No message of a failing test shows the value.
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].replace(VALUE, "(value)")
        return done.stdout.strip()


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    made = Environment(folder)
    hashed = ROOT / "python" / "requirements.txt"
    made.output(made.python, "-m", "pip", "install", "-q", "--require-hashes", "-r", hashed, cwd=folder)
    made.output(made.python, "-m", "pip", "install", "-q", "--no-deps", wheel, cwd=folder)
    made.output(made.python, "-m", "pip", "check", cwd=folder)
    links = folder / "pyspark-link"
    links.mkdir()
    (links / "pyspark").symlink_to(spark_home(), target_is_directory=True)
    (made.site / "pyspark.pth").write_text(f"{links}\n")
    return made


@pytest.fixture(scope="module")
def job(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the application, a sealed file made by the installed command, and a properties file."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "app.py").write_text(APP)
    where = ("--file", "shop.sealed", "--key-file", "shop.key")
    environment.output("sparkconfig", "seal", "create", "--new-key", *where, cwd=folder)
    environment.output("sparkconfig", "seal", "set", *where, "shop:password", cwd=folder, text=VALUE)
    confs = {
        "spark.config.providers": "sealed",
        "spark.config.providers.sealed.class": "sealed",
        "spark.config.providers.sealed.param.file": str(folder / "shop.sealed"),
        "spark.config.providers.sealed.param.key.file": str(folder / "shop.key"),
        "spark.shop.password": "${sealed:shop:password}",
    }
    (folder / "job.properties").write_text("".join(f"{key} {value}\n" for key, value in confs.items()))
    return folder


@pytest.fixture
def no_leftovers(job: Path) -> Iterator[None]:
    before = {path.name for path in job.iterdir()}
    yield
    assert {path.name for path in job.iterdir()} - before <= {"spark-warehouse", "artifacts"}


def _seen(output: str) -> Mapping[str, object]:
    (line,) = [line for line in output.splitlines() if line.startswith("SEEN ")]
    assert VALUE not in output
    seen: dict[str, object] = json.loads(line[5:])
    return seen


EXPECTED = hashlib.sha256(VALUE.encode()).hexdigest()


#: The packages of the libraries beside which the jars of connectors belong.
LIBRARIES = {
    "aws": "software/amazon/awssdk",
    "azure": "org/apache/hadoop/fs/azurebfs",
    "cassandra": "com/datastax",
    "gcs": "com/google/cloud/hadoop",
    "iceberg": "org/apache/iceberg",
    "kafka": "org/apache/kafka",
}


def test_the_wheel_holds_the_jars_and_nothing_of_the_checkout(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        jars = [name for name in names if name.endswith(".jar")]
        for name in jars:
            with archive.open(name) as stream, zipfile.ZipFile(stream) as jar:
                kind = name.rpartition("/")[2].partition("_")[0]
                assert f"version={__version__}" in jar.read(f"META-INF/{kind}.properties").decode().split()
                assert ("io/sparkconfig/ConfigPlugin.class" in jar.namelist()) is (kind == "sparkconfig")
                for connector, library in LIBRARIES.items():
                    # Classes of the library are nowhere, and what needs them stands beside it only.
                    assert not [entry for entry in jar.namelist() if entry.startswith(library)]
                    needs = [entry for entry in jar.namelist() if library.encode() in jar.read(entry)]
                    assert bool(needs) is (kind == f"sparkconfig-{connector}")
    assert wheel.name == f"sparkconfig-{__version__}-py3-none-any.whl"
    assert {name.partition("/")[0] for name in names} == {
        "sparkconfig",
        f"sparkconfig-{__version__}.dist-info",
    }
    policies = {f"sparkconfig/data/policies/{name}" for name in ("shared-server.json", "policy.schema.json")}
    assert {"sparkconfig/py.typed", *policies} <= set(names)
    every = [f"sparkconfig/jars/{kind}_{scala}-{__version__}.jar"
             for kind in ("sparkconfig", *(f"sparkconfig-{each}" for each in LIBRARIES))
             for scala in ("2.12", "2.13")]  # fmt: skip
    if os.environ.get("SPARKCONFIG_DIST"):
        assert sorted(jars) == sorted(every)
    else:
        assert jars
        assert set(jars) <= set(every)


def test_the_jars_hold_classes_of_ours_alone(wheel: Path) -> None:
    """Nothing is shaded in: no class of another project, and none that Spark has too."""
    spark: set[str] = set()
    for jar in (spark_home() / "jars").glob("spark-*.jar"):
        with zipfile.ZipFile(jar) as archive:
            spark.update(archive.namelist())
    with zipfile.ZipFile(wheel) as archive:
        for name in (name for name in archive.namelist() if name.endswith(".jar")):
            with archive.open(name) as stream, zipfile.ZipFile(stream) as jar:
                classes = {entry for entry in jar.namelist() if entry.endswith(".class")}
            assert classes
            assert {
                entry for entry in classes if not entry.startswith(("io/sparkconfig/", "org/apache/spark/"))
            } == set()
            assert classes & spark == set()


def test_the_installed_package_is_the_one_that_answers(environment: Environment, job: Path) -> None:
    assert environment.output("sparkconfig", "--version", cwd=job) == f"sparkconfig {__version__}"
    assert environment.output(environment.python, "-m", "sparkconfig", "--version", cwd=job).endswith(
        __version__
    )
    jar = Path(environment.output("sparkconfig", "jar", cwd=job))
    assert jar.is_file()
    assert jar.is_relative_to(environment.site)
    found = environment.output(
        environment.python, "-c", "import sparkconfig; print(sparkconfig.__file__)", cwd=job
    )
    assert Path(found).is_relative_to(environment.site)
    assert "password" in environment.output("sparkconfig", "resolve", "--dry-run", "job.properties", cwd=job)


@pytest.mark.spark
@pytest.mark.usefixtures("no_leftovers")
def test_configure_keeps_the_jars_of_spark_submit(environment: Environment, job: Path) -> None:
    """Under spark-submit the JVM runs already: the jar came with it, and configure() adds only what is missing."""
    jar = environment.output("sparkconfig", "jar", cwd=job)
    submit = spark_home() / "bin" / "spark-submit"
    with_jar = environment.run(submit, "--jars", jar, "app.py", cwd=job)
    assert with_jar.returncode == 0, (with_jar.stdout + with_jar.stderr)[-3000:].replace(VALUE, "(value)")
    assert _seen(with_jar.stdout)["digest"] == EXPECTED
    without = environment.run(submit, "app.py", cwd=job)
    assert without.returncode != 0
    assert '--jars "$(sparkconfig jar)"' in without.stdout + without.stderr


@pytest.mark.spark
@pytest.mark.timeout(900)  # with the environment of the module: five programs and Spark, on a busy machine
def test_the_way_that_the_commands_print(environment: Environment, tmp_path: Path) -> None:
    """migrate, init, the lines appended, doctor, a job with --jars, undo: each as the one before prints it."""

    def run(words: Sequence[str]) -> str:
        return environment.output(*words, cwd=tmp_path)

    walk(run, spark_home() / "bin" / "spark-submit", tmp_path, VALUE)

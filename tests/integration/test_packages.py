"""One line for Spark users: ``spark-submit --packages io.sparkconfig:…``, in an environment without sparkconfig.

The environment is a new one that has pyspark and nothing else; pyspark is borrowed through a link, and py4j is the zip
inside it. The Maven repository is a folder, in the layout of Maven Central.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sparkconfig import __version__
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import EnvKey, KeyFile
from sparkconfig.sealed.names import EntryName
from support.rpc import protected_rpc
from support.shim import ROOT, all_jars, shim_jar
from support.spark_home import spark_home

VALUE = "packages-canary-71f3-value"
PHRASE = base64.b64encode(bytes(range(32))).decode()
APP = """
import hashlib, json
from pyspark.sql import SparkSession
import sparkconfig

def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()

def in_worker(_):
    import sparkconfig.worker
    return sparkconfig.__file__

spark = SparkSession.builder.getOrCreate()
print("SEEN " + json.dumps({
    "key": digest(sparkconfig.current("${sealed:shop:password}").reveal()),
    "phrase": digest(sparkconfig.current("${phrase:shop:password}").reveal()),
    "driver_file": sparkconfig.__file__,
    "worker_file": spark.sparkContext.parallelize([0], 1).map(in_worker).collect()[0],
}))
spark.stop()
"""


def scala() -> str:
    return shim_jar().name.split("_")[1].split("-")[0]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "jars" / "maven.py", folder, *all_jars()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # As --repositories, without asking the servers that Spark knows as well.
    (folder / "ivysettings.xml").write_text(
        "<ivysettings><settings defaultResolver='here'/><resolvers>"
        f"<ibiblio name='here' m2compatible='true' root='{folder.as_uri()}'/></resolvers></ivysettings>"
    )
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that finds pyspark and nothing else."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    links = folder / "pyspark-link"
    links.mkdir()
    (links / "pyspark").symlink_to(spark_home(), target_is_directory=True)
    (folder / "lib" / version / "site-packages" / "pyspark.pth").write_text(f"{links}\n")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    (folder / "app.py").write_text(APP)
    key = KeyFile(folder / "shop.key")
    key.create()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHRASE", PHRASE)
        for name, source in (("shop", key), ("phrase", EnvKey("PHRASE"))):
            editor.create(folder / f"{name}.sealed", source)
            editor.put(folder / f"{name}.sealed", source, {EntryName("shop", "password"): VALUE})
    confs = {
        "spark.master": "local-cluster[1,1,1024]",
        "spark.ui.enabled": "false",
        "spark.log.level": "WARN",
        **protected_rpc(),
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.providers": "sealed,phrase",
        "spark.config.providers.sealed.class": "sealed",
        "spark.config.providers.sealed.param.file": str(folder / "shop.sealed"),
        "spark.config.providers.sealed.param.key.file": str(folder / "shop.key"),
        "spark.config.providers.phrase.class": "sealed",
        "spark.config.providers.phrase.param.file": str(folder / "phrase.sealed"),
        "spark.config.providers.phrase.param.key.env": "PHRASE",
        "spark.shop.password": "${sealed:shop:password}",
        "spark.shop.phrase": "${phrase:shop:password}",
    }
    (folder / "job.properties").write_text("".join(f"{key} {value}\n" for key, value in confs.items()))
    return folder


def submit(python: Path, job: Path, repository: Path) -> subprocess.CompletedProcess[str]:
    outside = ("SPARK_", "PYSPARK_", "PYTHON", "VIRTUAL_ENV")
    plain = {key: value for key, value in os.environ.items() if not key.startswith(outside)}
    path = os.pathsep.join([str(python.parent), plain["PATH"]])
    done = subprocess.run(
        [spark_home() / "bin" / "spark-submit", "--properties-file", job / "job.properties",
         "--conf", f"spark.jars.ivySettings={repository / 'ivysettings.xml'}",
         "--conf", f"spark.jars.ivy={job / 'ivy'}",
         "--packages", f"io.sparkconfig:sparkconfig_{scala()}:{__version__}", job / "app.py"],
        cwd=job, capture_output=True, text=True, timeout=240, check=False,
        env={**plain, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PHRASE": PHRASE},
    )  # fmt: skip
    shown = (done.stdout + done.stderr).count(VALUE)
    assert shown == 0, "a value was printed"
    return done


@pytest.mark.spark
def test_one_line_is_the_whole_installation(python: Path, job: Path, repository: Path) -> None:
    """Sealed files open through the JVM's AES-GCM: the environment has no cryptography."""
    done = submit(python, job, repository)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("SEEN ")]
    seen = json.loads(line[5:])
    jar = f"io.sparkconfig_sparkconfig_{scala()}-{__version__}.jar/sparkconfig/__init__.py"
    assert seen.pop("driver_file").endswith(jar)
    assert seen.pop("worker_file").endswith(jar)
    assert set(seen.values()) == {hashlib.sha256(VALUE.encode()).hexdigest()}
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("confs", "said"),
    [
        (["class vault", "param.address https://127.0.0.1:1", "param.token x"],
         f"provider vault needs hvac: pip install './sparkconfig-{__version__}-py3-none-any.whl[vault]'"),
        (["class sealed", "param.file FOLDER/shop.sealed", "param.key.file FOLDER/shop.key"],
         "sealed files need the package 'cryptography': pip install cryptography (a driver's side process uses"),
    ],
)  # fmt: skip
def test_what_needs_a_wheel_says_which(
    python: Path, job: Path, tmp_path: Path, confs: list[str], said: str
) -> None:
    """The command runs from the jar as well."""
    lines = ["spark.config.providers store", "spark.shop.password ${store:shop:password}"]
    lines += [f"spark.config.providers.store.{conf}".replace("FOLDER", str(job)) for conf in confs]
    (tmp_path / "job.conf").write_text("\n".join(lines) + "\n")
    done = from_jar(python, "-m", "sparkconfig", "resolve", "--dry-run", str(tmp_path / "job.conf"))
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


def test_a_new_user_of_the_jar_alone_meets_no_fault_of_ours(python: Path, tmp_path: Path) -> None:
    """What lists providers, names the jar, and what cannot work without a package says which, and leaves nothing."""
    listed = from_jar(python, "-m", "sparkconfig", "providers")
    assert listed.returncode == 0, listed.stderr
    assert "hadoop" in listed.stdout
    named = from_jar(python, "-m", "sparkconfig", "jar", "--scala", scala())
    assert named.stdout.strip() == str(shim_jar())
    conf = tmp_path / "old.conf"
    conf.write_text(f"spark.shop.password {VALUE}\n")
    key = tmp_path / "k"
    target = ["--apply", "--new-key", "--sealed-file", str(tmp_path / "s"), "--key-file", str(key)]
    refused = from_jar(python, "-m", "sparkconfig", "migrate", str(conf), *target)
    assert "pip install cryptography" in refused.stderr
    assert not key.exists()


def from_jar(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(shim_jar())}
    return subprocess.run(
        [python, *words], env=environ, capture_output=True, text=True, check=False, timeout=60
    )


def test_beside_an_operators_file_the_copy_in_the_jar_does_not_count(python: Path) -> None:
    with zipfile.ZipFile(shim_jar()) as jar:
        text = jar.read("io/sparkconfig/agent/trusted_start.py").decode()
    done = from_jar(python, "-I", "-S", "-c", text)
    assert done.returncode == 1
    assert (
        "is not installed here, and beside an operator's file the copy in the jar does not count"
        in done.stderr
    )


def test_the_jar_carries_the_package_of_the_checkout() -> None:
    root = ROOT / "python"
    with zipfile.ZipFile(shim_jar()) as jar:
        # The surface is read by the JVM.
        carried = {
            name: jar.read(name)
            for name in jar.namelist()
            if name.startswith("sparkconfig/") and not name.startswith("sparkconfig/surface/")
        }
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in (root / "sparkconfig").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".jar") and path.name != ".gitkeep"
    }
    assert carried.keys() == files.keys()
    assert [name for name in files if carried[name] != files[name]] == []


def test_the_repository_is_as_maven_central_wants_it(repository: Path) -> None:
    for part in ("", "-aws", "-azure", "-gcs", "-kafka"):
        artifact = f"sparkconfig{part}"
        folder = repository / "io" / "sparkconfig" / f"{artifact}_{scala()}" / __version__
        name = f"{artifact}_{scala()}-{__version__}"
        files = [f"{name}.jar", f"{name}-sources.jar", f"{name}-javadoc.jar", f"{name}.pom"]
        assert {path.name for path in folder.iterdir()} == {
            file + ending for file in files for ending in ("", ".md5", ".sha1", ".sha256")
        }
        for file in files:
            digest = hashlib.sha1((folder / file).read_bytes()).hexdigest()
            assert (folder / f"{file}.sha1").read_text() == digest
        for file in files[:3]:
            with zipfile.ZipFile(folder / file) as jar:
                assert {"META-INF/LICENSE", "META-INF/NOTICE"} <= set(jar.namelist())
        with zipfile.ZipFile(folder / files[1]) as jar:
            assert [entry for entry in jar.namelist() if entry.endswith(".scala")]

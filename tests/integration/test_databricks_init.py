"""``conf/databricks-init.sh`` in a folder laid out like a Databricks node, and a Spark that starts from it.

The layout is built from public descriptions: Python in ``/databricks/python``, jars in ``/databricks/jars``, confs of
the driver as ``[driver] { … }`` fragments in ``/databricks/driver/conf``, of which the first by name has the last word,
and an event listener of Databricks' own. None of this was ever run on Databricks.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sparkconfig import __version__
from sparkconfig.redaction import MASK
from support.databricks_node import (
    CORE,
    LISTENER,
    ROOT,
    SCRIPT,
    Node,
    add_listener,
    make_runtime_python,
    read_fragment,
)
from support.spark_home import spark_home

PYTHON_CFG = f"{sys.prefix}/pyvenv.cfg"  # a file with keys that each machine has
VALUE = "databricks-canary-9c3f-value"
APP = """
import hashlib, json
from pyspark.sql import SparkSession
from sparkconfig._spark.driver import current

spark = SparkSession.builder.getOrCreate()
value = current(spark.conf.get("spark.shop.password")).reveal()
confs = dict(spark.sparkContext.getConf().getAll())
spark.sparkContext.setJobDescription("paid with " + value)
print("SEEN " + json.dumps({
    "digest": hashlib.sha256(value.encode()).hexdigest(),
    "count": spark.range(10).count(),
    "listeners": confs["spark.extraListeners"],
    "plugins": confs["spark.plugins"],
    "shown": confs["spark.shop.password"],
}))
spark.stop()
"""


@pytest.fixture(scope="module")
def runtime_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_runtime_python(tmp_path_factory.mktemp("runtime") / "python")


@pytest.fixture
def node(tmp_path: Path, runtime_python: Path, wheel: Path) -> Node:
    made = Node(tmp_path, runtime_python)
    (made.fragments / "spark-branch.conf").write_text(
        "[driver] {\n"
        f'  "spark.extraListeners" = "{LISTENER}"\n'
        f'  "spark.databricks.test.eventlog" = "{made.databricks}/driver/eventlogs/own"\n'
        '  "spark.plugins" = "com.databricks.backend.daemon.driver.OtherPlugin"\n'
        "}\n"
    )
    shutil.copy(wheel, made.volume)
    return made


def the_doctor_finds_it(node: Node) -> None:
    done = subprocess.run(
        [node.python, "-I", "-m", "sparkconfig", "doctor", "--json"],
        env={"PATH": os.environ["PATH"], "SPARK_HOME": str(node.databricks / "spark")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert [Path(each).name for each in answer["files"]] == ["spark-branch.conf", "00-sparkconfig.conf"]
    findings = {(each["area"], each["level"]): each["found"] for each in answer["findings"]}
    assert findings["spark", "ok"].endswith(f"in {node.databricks}/spark")
    assert f"{node.jars}/sparkconfig_2.13-{__version__}.jar" in findings["class path", "ok"]
    assert "io.sparkconfig.ConfigPlugin is in spark.plugins" in findings["plugin", "ok"]
    assert ("sink event log", "warning") in findings
    assert str(node.python) in findings["side process", "ok"]


def test_it_installs_from_the_volume_alone(node: Node) -> None:
    printed = node.install(PIP_INDEX_URL="http://127.0.0.1:9/")
    where = subprocess.run(
        [node.python, "-I", "-c", "import sparkconfig; print(sparkconfig.__version__, sparkconfig.__file__)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert where[0] == __version__
    assert Path(where[1]).is_relative_to(node.databricks / "python")
    jar = node.jars / f"sparkconfig_2.13-{__version__}.jar"
    assert jar.read_bytes() == (ROOT / "python" / "sparkconfig" / "jars" / jar.name).read_bytes()
    confs = read_fragment(node.fragment.read_text())
    assert confs == {
        "spark.config.agent.python": str(node.python),
        "spark.plugins": "com.databricks.backend.daemon.driver.OtherPlugin,io.sparkconfig.ConfigPlugin",
    }
    log = (node.root / "var" / "log" / "sparkconfig-init.log").read_text()
    assert f"installed sparkconfig=={__version__}" in log or "is installed already" in log
    assert printed.splitlines()[-1].endswith("sparkconfig-init: done")
    the_doctor_finds_it(node)


def test_again_changes_nothing_and_the_operators_file_counts(node: Node) -> None:
    """Of a first run that has removed an older jar, and has quoted what HOCON would read in another way."""
    old = node.jars / "sparkconfig_2.13-0.0.1.jar"
    old.write_bytes(b"old")
    awkward = r'-Da="b c" -Dd=\e ${files:CFG:home} # z'.replace("CFG", PYTHON_CFG)
    (node.volume / "spark.conf").write_text(
        f"spark.shop.password ${{files:{PYTHON_CFG}:home}}\n"
        "spark.shop.options " + awkward.replace("\\", "\\\\") + "\n"
    )
    (node.volume / "sparkconfig.conf").write_text(
        "spark.config.providers = files\nspark.config.providers.files.class = file\n"
        "spark.config.override.policy = All\n"
    )
    (node.volume / "policies").mkdir()
    (node.volume / "policies" / "team.json").write_text("{}")
    assert f"removed {old}" in node.install()
    assert [path.name for path in node.jars.glob("sparkconfig*")] == [f"sparkconfig_2.13-{__version__}.jar"]
    assert read_fragment(node.fragment.read_text())["spark.shop.options"] == awkward
    assert "spark.config.agent.python" not in read_fragment(node.fragment.read_text())
    etc = node.root / "etc" / "spark"
    assert f"spark.config.agent.python = {node.python}" in (etc / "sparkconfig.conf").read_text()
    assert (etc / "sparkconfig.conf").stat().st_mode & 0o777 == 0o644
    assert (etc / "policies" / "team.json").read_text() == "{}"
    assert (etc / "sparkconfig.required").exists()
    before = node.state()
    printed = node.install()
    assert node.state() == before
    assert printed.count("is there already") == 4
    assert "is installed already" in printed
    (node.volume / "spark.conf").write_text("spark.config.rpc.insecure true\n")
    assert "were not written" in node.refused()


def test_a_worker_gets_no_confs(node: Node) -> None:
    assert "a worker" in node.install(DB_IS_DRIVER="FALSE")
    assert not node.fragment.exists()
    assert list(node.jars.glob("sparkconfig*"))


def test_confs_that_would_not_work(node: Node) -> None:
    said = {
        "spark.extraListeners com.shop.Listener": "would replace Databricks' own",
        "spark.eventLog.enabled false": "would replace Databricks' own",
        "spark.shop.password {{secrets/shop/password}}": "only in the cluster's own configuration",
    }
    (node.volume / "spark.conf").write_text("".join(f"{line}\n" for line in said))
    done = node.run()
    assert done.returncode == 1
    for line, words in said.items():
        (told,) = [each for each in done.stderr.splitlines() if line.split()[0] in each]
        assert words in told
    assert not node.fragment.exists()


@pytest.mark.parametrize(
    ("confs", "said"),
    [
        ("spark.config.providers vault\nspark.x.password ${vault:a:b}\n", "sparkconfig[vault]"),
        ("spark.config.providers f\nspark.config.providers.f.class file\nspark.x.password ${f:/none:b}\n", "/none"),
    ],
)  # fmt: skip
def test_a_driver_that_would_not_start_ends_the_script(node: Node, confs: str, said: str) -> None:
    (node.volume / "spark.conf").write_text(confs)
    done = node.run()
    assert done.returncode == 1
    assert said in done.stdout
    assert "the driver would not start" in done.stderr
    assert not node.fragment.exists()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"DATABRICKS_RUNTIME_VERSION": "15.4"}, "Java is 8 and sparkconfig needs 17"),
        (
            {"DATABRICKS_RUNTIME_VERSION": "13.3", "JNAME": "zulu17-ca-amd64"},
            "Databricks Runtime 13 has Spark 3.4 or older and sparkconfig needs 3.5; use Databricks Runtime 14.3",
        ),
        ({"JNAME": "zulu8-ca-amd64"}, "Java is 8 and sparkconfig needs 17"),
        ({"DATABRICKS_RUNTIME_VERSION": "15.4", "JNAME": "zulu17-ca-arm64"}, "with Scala 2.13 is Spark 3.5"),
        ({"DATABRICKS_RUNTIME_VERSION": "16.4"}, "use its image with Scala 2.12"),
        ({"SPARKCONFIG_SOURCE": "/nowhere"}, "SPARKCONFIG_SOURCE=/nowhere is not a folder"),
        ({"SPARKCONFIG_SOURCE": "/var"}, "no sparkconfig-*.whl in /var"),
        ({"SPARKCONFIG_EXTRAS": "vault"}, "pip did not find what sparkconfig[vault]"),
    ],
)
def test_what_cannot_work_fails_loudly(node: Node, variables: Mapping[str, str], said: str) -> None:
    assert said in node.refused(**variables)
    assert not node.fragment.exists(), "Spark must not find confs for something that is not installed"


def test_a_spark_that_is_too_old_whatever_the_runtime_is_called(node: Node) -> None:
    """A custom image need not say which runtime it is."""
    (node.databricks / "spark" / "VERSION").write_text("3.4.1\n")
    assert "this runtime has Spark 3.4 and sparkconfig needs 3.5" in node.refused(JNAME="zulu17-ca-amd64")
    assert not node.fragment.exists()


def test_every_variable_of_the_script_is_in_the_page() -> None:
    page = (ROOT / "docs" / "databricks.md").read_text()
    for name in sorted(set(re.findall(r"SPARKCONFIG_[A-Z]+", SCRIPT.read_text()))):
        assert f"`{name}" in page, name


def test_two_versions_in_the_volume(node: Node, wheel: Path) -> None:
    shutil.copy(wheel, node.volume / f"sparkconfig-0.0.1-{wheel.name.partition('-')[2].partition('-')[2]}")
    assert "2 versions" in node.refused()


def test_a_node_that_is_none_of_databricks(node: Node, tmp_path: Path) -> None:
    assert "is this a Databricks cluster?" in node.refused(SPARKCONFIG_ROOT=str(tmp_path / "elsewhere"))


def test_scala_that_cannot_be_told(node: Node) -> None:
    for jar in (*node.jars.glob("scala-library*"), *node.jars.glob("*_deploy.jar")):
        jar.unlink()
    assert "set SPARKCONFIG_SCALA" in node.refused()
    assert "set SPARKCONFIG_SCALA" not in node.refused(
        SPARKCONFIG_SCALA="2.13"
    )  # there is no Spark in the folder either
    (node.jars / CORE.format("2.13")).touch()
    node.install()


@pytest.mark.spark
@pytest.mark.templates(client="python", documents=["databricks-init.sh"])
def test_spark_starts_from_it(node: Node, tmp_path: Path) -> None:
    """Databricks' listener, its event log and its plugin stay; the value is used and shown nowhere."""
    secrets = tmp_path / "shop.properties"
    secrets.write_text(f"password={VALUE}\n")
    add_listener(node)
    (node.volume / "spark.conf").write_text(
        "spark.config.providers files\nspark.config.providers.files.class file\n"
        f"spark.shop.password ${{files:{secrets}:password}}\n"
    )
    node.install()
    home = node.databricks / "spark"
    (home / "conf").mkdir(parents=True)
    (home / "bin").symlink_to(spark_home() / "bin", target_is_directory=True)
    (home / "jars").symlink_to(node.jars, target_is_directory=True)
    # What Databricks' driver does at its start: the fragments by name, backwards, so that 00 has the last word.
    confs = {
        "spark.master": "local[1]", "spark.driver.memory": "600m", "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{node.databricks}/driver/eventlogs",
        "spark.eventLog.compress": "false",
    }  # fmt: skip
    for path in sorted(node.fragments.glob("*.conf"), reverse=True):
        confs |= read_fragment(path.read_text())
    (home / "conf" / "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in confs.items()))
    (tmp_path / "app.py").write_text(APP)
    plain = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "DATABRICKS_RUNTIME_VERSION": "17.3",
    }
    if "JAVA_HOME" in os.environ:
        plain["JAVA_HOME"] = os.environ["JAVA_HOME"]
    done = subprocess.run(
        [node.python, "app.py"],
        cwd=tmp_path,
        env=plain,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:].replace(VALUE, "(value)")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("SEEN ")]
    seen = json.loads(line[5:])
    assert seen["digest"] == hashlib.sha256(VALUE.encode()).hexdigest()
    assert seen["count"] == 10
    assert seen["listeners"].split(",")[0] == LISTENER
    assert "io.sparkconfig.redaction.sinks.EventLogListener" in seen["listeners"].split(",")
    assert seen["plugins"].split(",")[0] == "com.databricks.backend.daemon.driver.OtherPlugin"
    assert seen["shown"] == f"${{files:{secrets}:password}}"
    own, *sparks = sorted(
        (node.databricks / "driver" / "eventlogs").rglob("*"), key=lambda path: path.name != "own"
    )
    text = own.read_text()
    assert "SparkListenerEnvironmentUpdate" in text
    assert f"paid with {MASK}" in text
    assert "redaction was never tested on this platform, Databricks" in done.stderr
    assert "SparkListenerApplicationEnd" in text
    assert VALUE not in text
    logs = [path.read_text() for path in sparks if path.is_file()]
    assert any("SparkListenerApplicationEnd" in log for log in logs)
    assert not any(VALUE in each for each in (*logs, done.stdout, done.stderr))

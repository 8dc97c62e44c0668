"""``conf/deployments``: each template says what it means, and the homes that run on one machine do run with theirs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import yaml

from leaks.support import jvm_jar
from sparkconfig.agent.policies import Policies
from sparkconfig.checks import dry_run
from sparkconfig.checks.doctor import Level, diagnose
from sparkconfig.cli.main import main
from sparkconfig.language.references import scan
from sparkconfig.policy.jobtype import Launch
from sparkconfig.redaction import MASK
from sparkconfig.settings.operator_file import load as load_operator
from sparkconfig.settings.schema import PREFIX, parse
from support.cluster import SparkCluster
from support.processes import Run
from support.shim import shim_jar
from support.spark_home import spark_home
from support.templates import CONF, SMALL, load, operator_home, plain_environment

TEMPLATES = CONF / "deployments"
CONFS = [CONF / "spark-defaults.conf.template", *sorted(TEMPLATES.glob("*.conf.template"))]
VALUE = "deployment-canary-2b7d-value"


def kubernetes() -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load((TEMPLATES / "kubernetes.yaml.template").read_text())
    return loaded


def in_folder(confs: dict[str, str], old: str, new: Path) -> dict[str, str]:
    """Return the confs with the paths of this machine."""
    return {key: text.replace(old, str(new)) for key, text in confs.items()}


@pytest.mark.parametrize("path", CONFS, ids=lambda path: path.name)
def test_the_settings_of_a_template_are_known(path: Path) -> None:
    confs = load(path)
    settings = parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    referred = {each.provider for key, text in confs.items() for each in scan(text)}
    names = set(settings.providers)
    assert referred <= names | ({"sealed"} if path.name.endswith("-server.conf.template") else set())
    assert all(confs.get(f"{PREFIX}providers.{name}.class", name) == name for name in names)


def every_template() -> dict[str, dict[str, str]]:
    spec = kubernetes()["spec"]
    assert isinstance(spec, dict)
    return {path.name: load(path) for path in CONFS} | {"kubernetes.yaml.template": spec["sparkConf"]}


@pytest.mark.parametrize("name", every_template())
def test_every_template_starts_beside_the_operators_file(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Those of servers as they are; others as they say, without some lines or named as the defaults."""
    force = ["override.policy.connect", "override.policy.sql"]
    (template,) = CONF.rglob(name)
    if "spark.config.defaults.file" in template.read_text():
        force.append("defaults.file")
    home = operator_home(tmp_path, "template", force=force)
    (home / "spark-defaults.conf").write_text(template.read_text())
    operator = load_operator(home / "sparkconfig.conf", check=False)
    confs = every_template()[name]
    own = {key for key in confs if key.startswith(PREFIX)}
    if name in ("connect-server.conf.template", "thrift-server.conf.template"):
        assert own == set()
    elif own:
        assert "leave out the lines that begin with spark.config." in template.read_text(), "it must say so"
    launch = Launch("org.apache.spark.deploy.SparkSubmit --class Main spark-internal")
    kept = {key: text for key, text in confs.items() if key not in own}
    policies = Policies.load(kept, operator, dict, launch)
    assert policies.start(record=False).problems == ()
    policies.close()
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []


@pytest.mark.parametrize("path", CONFS, ids=lambda path: path.name)
def test_the_providers_of_a_template_have_such_params(path: Path) -> None:
    from sparkconfig.providers.catalog import catalog

    known = {each.alias: {param.name for param in each.params} for each in catalog()}
    confs = load(path)
    for name in parse({k: v for k, v in confs.items() if k.startswith(PREFIX)}).providers:
        start = f"{PREFIX}providers.{name}."
        alias = confs.get(f"{start}class", name)
        given = {key.removeprefix(f"{start}param.") for key in confs if key.startswith(f"{start}param.")}
        assert given <= known[alias], f"{path.name}: {given - known[alias]}"


@pytest.mark.parametrize("name", ["standalone", "yarn", "kubernetes"])
def test_executors_on_other_hosts_get_values_over_protected_connections(name: str) -> None:
    findings = diagnose([TEMPLATES / f"{name}.conf.template"]).findings
    assert [each.level for each in findings if each.area == "rpc"] == [Level.OK]


@pytest.mark.parametrize("name", ["connect-server", "thrift-server"])
def test_nobody_attaches_to_the_jvms_of_servers_and_none_writes_its_memory_down(name: str) -> None:
    confs = load(TEMPLATES / f"{name}.conf.template")
    for key in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        assert confs[key].split() == [
            "-XX:+DisableAttachMechanism",
            "-XX:-HeapDumpOnOutOfMemoryError",
            "-XX:-CreateCoredumpOnCrash",
            "-Djavax.xml.accessExternalDTD=",
            "-Djavax.xml.accessExternalSchema=",
            "-Djavax.xml.accessExternalStylesheet=",
        ]


def test_the_kubernetes_template_holds_together() -> None:
    document = kubernetes()
    assert document["apiVersion"] == "sparkoperator.k8s.io/v1beta2"
    assert document["kind"] == "SparkApplication"
    spec = document["spec"]
    assert isinstance(spec, dict)
    confs = spec["sparkConf"]
    assert all(isinstance(text, str) for text in confs.values()), "the operator takes strings only"
    parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    (mount,) = spec["driver"]["volumeMounts"]
    assert mount["name"] in {volume["name"] for volume in spec["volumes"]}
    assert "volumeMounts" not in spec["executor"]
    (reference,) = scan(confs["spark.shop.password"])
    assert reference.path == mount["mountPath"]
    assert Path(reference.path).is_relative_to(confs["spark.config.providers.directory.param.allowed.paths"])


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    """A mounted Secret as the kubelet lays it out: keys are links through ``..data`` to a dated folder."""
    folder = tmp_path / "secrets" / "shop"
    (folder / "..2026_01_01").mkdir(parents=True)
    (folder / "..2026_01_01" / "password").write_text(VALUE)
    (folder / "..data").symlink_to("..2026_01_01")
    (folder / "password").symlink_to("..data/password")
    return tmp_path / "secrets"


def kubernetes_confs(mounted: Path) -> dict[str, str]:
    spec = kubernetes()["spec"]
    assert isinstance(spec, dict)
    return {
        **in_folder(spec["sparkConf"], "/etc/mounted", mounted),
        "spark.config.agent.python": sys.executable,
    }


def test_a_secret_mounted_by_kubernetes_is_read(mounted: Path) -> None:
    report = dry_run.check(kubernetes_confs(mounted))
    assert report.problems == []
    assert [row.state for row in report.rows] == ["ok"]


SEEN = """
import hashlib, json
from sparkconfig._spark.driver import current
value = current("{reference}").reveal()
print("SEEN " + json.dumps({{"digest": hashlib.sha256(value.encode()).hexdigest(), "count": spark.range(7).count()}}))
spark.stop()
"""


def seen(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    text = (done.stdout + done.stderr).replace(VALUE, "(value)")
    assert done.returncode == 0, text[-3000:]
    assert "(value)" not in text
    (line,) = [line for line in done.stdout.splitlines() if "SEEN " in line]
    found: dict[str, object] = json.loads(line.partition("SEEN ")[2])
    return found


KERNEL = """
import json, sys
for cell in json.load(sys.stdin):
    exec(compile(cell, "<cell>", "exec"), globals())
"""
EXPECTED = {"digest": hashlib.sha256(VALUE.encode()).hexdigest(), "count": 7}


@pytest.mark.spark
@pytest.mark.templates(
    client="spark-submit", documents=["kubernetes.yaml.template", "databricks-cluster-policy.json"]
)
def test_the_confs_of_kubernetes_start_an_application(mounted: Path, tmp_path: Path) -> None:
    """Everything but Kubernetes itself: the same confs, with the driver here, and a policy of Databricks'."""
    policy = {
        "spark.config.override.policy": "Rules",
        "spark.config.override.policy.param.file": str(CONF / "policies" / "databricks-cluster-policy.json"),
        "spark.sql.shuffle.partitions": "8",
    }
    confs = {**kubernetes_confs(mounted), **SMALL, **policy}
    (tmp_path / "k8s.properties").write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
    (tmp_path / "app.py").write_text(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        "assert spark.conf.get('spark.speculation') == 'false', 'the policy puts it in place'\n"
        + SEEN.format(reference=confs["spark.shop.password"])
    )
    command = [
        spark_home() / "bin" / "spark-submit", "--jars", shim_jar(), "--properties-file", "k8s.properties", "app.py",
    ]  # fmt: skip
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert seen(done) == EXPECTED


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sealed file ``shop.sealed``, as the templates name it."""
    monkeypatch.setenv("SHOP_PASSWORD", VALUE)
    where = ["--file", str(tmp_path / "shop.sealed"), "--key-file", str(tmp_path / "shop.key")]
    assert main(["seal", "create", "--new-key", *where]) == 0
    for name in ("shop:password", "spark:rpc"):
        assert main(["seal", "set", *where, name, "--from-env", "SHOP_PASSWORD"]) == 0
    return tmp_path


@pytest.mark.spark
@pytest.mark.templates(client="notebook cell", documents=["jupyter.py.template"])
def test_the_cell_of_jupyter(sealed: Path, tmp_path: Path) -> None:
    """A kernel is a Python that gets its cells one after the other, without a file of their own."""
    template = (TEMPLATES / "jupyter.py.template").read_text().replace("/home/jovyan", str(sealed))
    small = "".join(f'.config("{key}", "{text}")' for key, text in SMALL.items())
    first = template.replace('.appName("notebook")', f'.appName("notebook"){small}')
    cells = [first, SEEN.format(reference="${sealed:shop:password}")]
    done = subprocess.run(
        [sys.executable, "-c", KERNEL], input=json.dumps(cells), cwd=tmp_path, env=plain_environment(),
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert seen(done) == EXPECTED


def seal_secret(cluster: SparkCluster, sealed: Path) -> None:
    """Put the cluster's secret in the sealed file, under the name that the template gives it."""
    where = ["--file", str(sealed / "shop.sealed"), "--key-file", str(sealed / "shop.key")]
    with mock.patch.dict(os.environ, {"RPC": cluster.auth_secret}):
        assert main(["seal", "set", *where, "spark:rpc", "--from-env", "RPC"]) == 0


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.templates(client="spark-submit", documents=["standalone.conf.template"])
def test_the_confs_of_standalone_join_a_cluster(cluster: SparkCluster, sealed: Path) -> None:
    """The authentication secret is a reference for the application; master and workers have it from a file."""
    seal_secret(cluster, sealed)
    confs = in_folder(load(TEMPLATES / "standalone.conf.template"), "/etc/spark", sealed)
    confs |= {**SMALL, "spark.master": cluster.url, "spark.executor.memory": "600m", "spark.cores.max": "1"}
    (sealed / "standalone.properties").write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
    (sealed / "app.py").write_text(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        + SEEN.format(reference=confs["spark.shop.password"])
    )
    options = ["--jars", shim_jar()]
    child = cluster.submit(
        "deployment", [sealed / "app.py"], properties=sealed / "standalone.properties", options=options
    )
    assert child.wait(280) == 0, child.output()[-3000:].replace(VALUE, "(value)")
    assert json.dumps(EXPECTED) in child.output()
    for secret in (VALUE, cluster.auth_secret):
        assert secret not in child.output()
        assert not any(secret in log.read_text(errors="replace") for log in cluster.executor_logs())


def command_lines() -> bytes:
    """The command lines of all processes, as every user of the machine can read them."""
    found = b""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found += path.read_bytes()
    return found


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.templates(client="spark-submit", documents=["standalone.conf.template"])
def test_a_driver_in_cluster_mode_on_a_standalone_cluster(
    cluster: SparkCluster, harness_run: Run, sealed: Path
) -> None:
    """As docs/deploy-standalone.md says; the application does not stop Spark, and prints a value."""
    seal_secret(cluster, sealed)
    text = (TEMPLATES / "standalone.conf.template").read_text()
    text = re.sub(r"(?m)^spark\.authenticate\.secret .*\n", "", text)
    text, count = re.subn(r"(?m)^# (?=spark\.(driver\.extraJavaOptions|config\.agent\.python) )", "", text)
    assert count == 2, "the template's lines for cluster mode"
    text = text.replace("/opt/sparkconfig/bin/python", sys.executable)
    small = {**SMALL, "spark.executor.memory": "500m", "spark.cores.max": "1"}
    del small["spark.master"]
    template = sealed / "cluster-mode.conf.template"
    template.write_text(text + "".join(f"{key} {value}\n" for key, value in small.items()))
    confs = load(template, sealed)
    assert "spark.authenticate.secret" not in confs
    (sealed / "driver.args").write_text("-Dspark.authenticate.secret=${sealed:spark:rpc}\n")
    (sealed / "cluster-mode.conf").write_text("".join(f"{key} {value}\n" for key, value in confs.items()))
    arguments = harness_run.private_file("rpc.args", f"-Dspark.authenticate.secret={cluster.auth_secret}\n")
    child = cluster.submit(
        "cluster-mode",
        [jvm_jar()],
        properties=sealed / "cluster-mode.conf",
        conf={"spark.standalone.submit.waitAppCompletion": "true"},
        options=["--deploy-mode", "cluster", "--class", "Deployed", "--jars", shim_jar()],
        env={"SPARK_SUBMIT_OPTS": f"@{arguments}"},
    )
    child.wait_for("State of driver-.* is RUNNING", timeout=120)
    seen_by_all = command_lines()
    code = child.wait(150)
    logs = [path for path in cluster.executor_logs() if path.parent.name.startswith("driver-")]
    said = "".join(path.read_text(errors="replace") for path in logs)
    told = (child.output() + said)[-4000:].replace(VALUE, "(value)").replace(cluster.auth_secret, "(secret)")
    assert code == 0, told
    assert "is FINISHED" in child.output()
    assert f"SEEN {EXPECTED['digest']} {EXPECTED['count']}" in said, told
    assert f"printed {MASK}" in said, "workers start drivers without --add-opens"
    assert b"DriverWrapper" in seen_by_all
    for secret in (VALUE, cluster.auth_secret):
        assert secret not in child.output()
        assert not any(secret in log.read_text(errors="replace") for log in cluster.executor_logs())
        assert secret.encode() not in seen_by_all

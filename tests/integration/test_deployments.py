"""``conf/deployments``: each template says what it means, and the homes that run on one machine do run with theirs."""

from __future__ import annotations

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

from sparkconfig.cli import dry_run
from sparkconfig.cli.main import main
from sparkconfig.doctor import Level, diagnose
from sparkconfig.formats import properties
from sparkconfig.redaction import MASK
from sparkconfig.references import scan
from sparkconfig.settings import PREFIX, parse
from support.cluster import SparkCluster
from support.processes import Child, Run
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

TEMPLATES = Path(__file__).resolve().parents[2] / "conf" / "deployments"
CONFS = sorted(TEMPLATES.glob("*.conf.template"))
VALUE = "deployment-canary-2b7d-value"
SMALL = {
    "spark.master": "local[1]",
    "spark.driver.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


def load(path: Path) -> dict[str, str]:
    return {key: text.strip() for key, text in properties.load(path.read_bytes()).items()}


def kubernetes() -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load((TEMPLATES / "kubernetes.yaml.template").read_text())
    return loaded


def in_folder(confs: dict[str, str], old: str, new: Path) -> dict[str, str]:
    """Return the confs with the paths of this machine."""
    return {key: text.replace(old, str(new)) for key, text in confs.items()}


def plain_environment(**variables: str) -> dict[str, str]:
    outside = ("SPARK_", "PYSPARK_")
    plain = {key: text for key, text in os.environ.items() if not key.startswith(outside)}
    return {**plain, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **variables}


@pytest.mark.parametrize("path", CONFS, ids=lambda path: path.name)
def test_the_settings_of_a_template_are_known(path: Path) -> None:
    confs = load(path)
    settings = parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    referred = {each.provider for key, text in confs.items() for each in scan(text)}
    assert referred <= set(settings.providers)


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


@pytest.mark.parametrize("name", ["standalone", "yarn"])
def test_executors_on_other_hosts_get_values_over_protected_connections(name: str) -> None:
    findings = diagnose([TEMPLATES / f"{name}.conf.template"]).findings
    assert [each.level for each in findings if each.area == "rpc"] == [Level.OK]


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
    assert Path(reference.path).is_relative_to(confs["spark.config.providers.mounted.param.allowed.paths"])


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
        **in_folder(spec["sparkConf"], "/etc/secrets", mounted),
        "spark.config.agent.python": sys.executable,
    }


def test_a_secret_mounted_by_kubernetes_is_read(mounted: Path) -> None:
    report = dry_run.check(kubernetes_confs(mounted))
    assert report.problems == []
    assert [row.state for row in report.rows] == ["ok"]


SEEN = """
import hashlib, json
from sparkconfig.driver import current
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
def test_the_confs_of_kubernetes_start_an_application(mounted: Path, tmp_path: Path) -> None:
    """Everything but Kubernetes itself: the same confs, with the driver here."""
    confs = {**kubernetes_confs(mounted), **SMALL}
    (tmp_path / "k8s.properties").write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
    (tmp_path / "app.py").write_text(
        "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
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
    """A folder with a sealed file ``secrets.sealed``, as the templates name it."""
    monkeypatch.setenv("SHOP_PASSWORD", VALUE)
    where = ["--file", str(tmp_path / "secrets.sealed"), "--key-file", str(tmp_path / "secrets.key")]
    assert main(["seal", "create", "--new-key", *where]) == 0
    for name in ("shop:password", "spark:rpc"):
        assert main(["seal", "set", *where, name, "--from-env", "SHOP_PASSWORD"]) == 0
    return tmp_path


@pytest.mark.spark
def test_the_cell_of_jupyter(sealed: Path, tmp_path: Path) -> None:
    """A kernel is a Python that gets its cells one after the other, without a file of their own."""
    template = (TEMPLATES / "jupyter.py.template").read_text().replace("/home/jovyan", str(sealed))
    small = "".join(f'.config("{key}", "{text}")' for key, text in SMALL.items())
    first = template.replace('.appName("notebook")', f'.appName("notebook"){small}')
    cells = [first, SEEN.format(reference="${secrets:shop:password}")]
    done = subprocess.run(
        [sys.executable, "-c", KERNEL], input=json.dumps(cells), cwd=tmp_path, env=plain_environment(),
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert seen(done) == EXPECTED


@pytest.mark.cluster
@pytest.mark.spark
def test_the_confs_of_standalone_join_a_cluster(cluster: SparkCluster, sealed: Path) -> None:
    """The authentication secret is a reference for the application; master and workers have it from a file."""
    where = ["--file", str(sealed / "secrets.sealed"), "--key-file", str(sealed / "secrets.key")]
    with mock.patch.dict(os.environ, {"RPC": cluster.auth_secret}):
        assert main(["seal", "set", *where, "spark:rpc", "--from-env", "RPC"]) == 0
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


class Server:
    """A server of Spark's own, started with a template's confs."""

    def __init__(self, run: Run, name: str, main_class: str, folder: Path, more: dict[str, str]) -> None:
        confs = in_folder(load(TEMPLATES / f"{name}.conf.template"), "/etc/spark", folder)
        confs |= {**SMALL, **more, "spark.sql.warehouse.dir": str(folder / "warehouse")}
        del confs["spark.ui.enabled"]
        confs["spark.ui.port"] = "0"
        properties_file = run.private_file(
            f"{name}.properties", "".join(f"{key} {text}\n" for key, text in confs.items())
        )
        local = run.private_dir(f"{name}-local")
        self.child: Child = run.start(
            name,
            [
                spark_home() / "bin" / "spark-submit", "--class", main_class, "--jars", shim_jar(),
                "--properties-file", properties_file, "spark-internal",
            ],
            env={**spark_environment(folder, local), "PYSPARK_PYTHON": sys.executable},
            cwd=folder,
        )  # fmt: skip


@pytest.fixture
def rows(sealed: Path) -> Path:
    """A text of three rows, which are three only for a reader that has the secret between them."""
    path = sealed / "rows.txt"
    path.write_text(f"one{VALUE}two{VALUE}three")
    return path


CONNECT = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
lines = spark.read.format("text").option("lineSep", "${secrets:shop:password}").load(sys.argv[2])
print("ROWS", json.dumps(sorted(row.value for row in lines.collect())))
try:
    spark.read.format("text").option("lineSep", "${secrets:shop:nothing}").load(sys.argv[2]).collect()
except Exception as error:
    print("REFUSED", type(error).__name__, str(error).splitlines()[0])
spark.stop()
"""


@pytest.mark.spark
def test_a_connect_server_resolves_what_a_client_writes(harness_run: Run, sealed: Path, rows: Path) -> None:
    more = {"spark.connect.grpc.binding.port": "0"}
    main_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    server = Server(harness_run, "connect-server", main_class, sealed, more)
    try:
        port = server.child.wait_for(r"Spark Connect server started at: \S*?:(\d+)", timeout=240)[1]
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, f"sc://127.0.0.1:{port}", str(rows)],
            env=plain_environment(), capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        server.child.stop()
    text = (done.stdout + done.stderr).replace(VALUE, "(value)")
    assert done.returncode == 0, text[-3000:]
    assert 'ROWS ["one", "three", "two"]' in done.stdout
    assert "REFUSED" in done.stdout
    assert "shop:nothing" in done.stdout
    assert VALUE not in done.stdout + done.stderr + server.child.output()


@pytest.mark.spark
def test_a_thrift_server_resolves_what_a_client_writes(harness_run: Run, sealed: Path, rows: Path) -> None:
    more = {
        "spark.config.inplace.keys": "spark.shop.token",
        "spark.shop.token": "${secrets:shop:password}",
        "spark.hadoop.hive.server2.thrift.port": "0",
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.server2.logging.operation.log.location": f"{sealed}/operations",
        "spark.hadoop.hive.exec.scratchdir": f"{sealed}/scratch",
        "spark.hadoop.hive.exec.local.scratchdir": f"{sealed}/local-scratch",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={sealed}/metastore;create=true",
    }
    main_class = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
    server = Server(harness_run, "thrift-server", main_class, sealed, more)
    statements = (
        f"create temporary view v using text options (path '{rows}', lineSep '${{secrets:shop:password}}');"
        " select concat('ROWS ', count(*)) from v; select * from v;"
    )
    (sealed / "query.sql").write_text(statements.replace("; ", ";\n") + "\n")
    try:
        port = server.child.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)[1]
        done = subprocess.run(
            [spark_home() / "bin" / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann",
             "-f", sealed / "query.sql"],
            env=plain_environment(), cwd=sealed, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        # Spark's own variable brings the value into these texts.
        failing = [
            "SELEC '${spark.shop.token}' FRM;",
            "SELECT '${spark.shop.token}' + no_such_column FROM range(1);",
            "SELECT raise_error('raised ${spark.shop.token}');",
            "SET spark.shop.token;",
        ]
        (sealed / "failing.sql").write_text("\n".join(failing) + "\n")
        failed = subprocess.run(
            [spark_home() / "bin" / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "ann", "--force=true",
             "--verbose=true", "-f", sealed / "failing.sql"],
            env=plain_environment(), cwd=sealed, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        server.child.stop()
    text = (done.stdout + done.stderr).replace(VALUE, "(value)")
    assert done.returncode == 0, text[-3000:]
    assert "ROWS 3" in done.stdout, text[-3000:]
    assert re.search(r"\|\s*three\s*\|", done.stdout)
    told = failed.stdout + failed.stderr
    assert VALUE not in done.stdout + done.stderr + server.child.output() + told
    assert told.count(MASK) >= 4, told[-3000:]
    for sign in ("PARSE_SYNTAX_ERROR", "no_such_column", f"raised {MASK}", "HiveSQLException"):
        assert sign in told, f"{sign}: {told[-3000:]}"

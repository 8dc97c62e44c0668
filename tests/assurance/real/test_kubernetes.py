"""Applications on Spark's Kubernetes backend, in client and cluster mode; the cluster is a stand-in of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import Child, Run, wait_until
from support.spark_on_kubernetes import Site, environment, labels, policies, selects

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
]

KEY_FILE = "the-text-of-a-key-5d2e"
APP = Path(__file__).with_name("apps") / "on_kubernetes.py"


@pytest.fixture
def site(harness_run: Run, request: pytest.FixtureRequest) -> Iterator[Site]:
    site = Site(harness_run, f"kubernetes-{request.node.callspec.id}")
    yield site
    site.close()


@pytest.mark.templates(client="spark-submit", documents=["kubernetes.conf.template"])
@pytest.mark.parametrize("mounted", [False, True], ids=["made", "mounted"])
@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_application(site: Site, tmp_path: Path, mode: str, mounted: bool) -> None:
    """A rotation reaches the executors, and no object, log or file shows a value.

    The authentication secret is Spark's own or the mounted one.
    """
    values, nodes = [new_password(), new_password()], site.kubelet()
    nodes.secret("shop", {"password": values[0]})
    rpc = new_password()
    nodes.secret("shop-rpc", {"secret": rpc})
    (tmp_path / "events").mkdir()
    (site.conf_dir / "shop.key").write_text(KEY_FILE)
    confs = site.confs(mounted=mounted) | {
        "spark.submit.deployMode": mode,
        "spark.driver.memory": "700m",
        "spark.executor.memory": "600m",
        "spark.executor.instances": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{tmp_path}/events",
    }
    if mode == "client":  # the driver runs here, and what its pod would have mounted is here
        confs["spark.driver.host"] = "127.0.0.1"
        nodes.mount("shop", Path(confs["spark.kubernetes.driver.secrets.shop"]))
        if mounted:
            nodes.mount("shop-rpc", Path(confs["spark.kubernetes.driver.secrets.shop-rpc"]))
    child = site.submit([f"local://{APP}" if mode == "cluster" else APP, f"file://{tmp_path}/table"], confs)

    def driver() -> Child | None:
        ended = child.process.poll() is not None and not nodes.pods
        return child if mode == "client" or ended else next(iter(nodes.pods.values()), None)

    output = wait_until("the driver", driver, timeout=120)
    output.wait_for(r"^FIRST .*$", timeout=240)
    nodes.secret("shop", {"password": values[1]})
    ended = child.wait(240)
    logs = {"spark-submit": child.output(), **{name: each.output() for name, each in nodes.pods.items()}}
    finder = LeakFinder(values)
    shown = [name for name, text in logs.items() if finder.count(text.encode())]
    assert shown == [], "logs that show a value"
    assert ended == 0, output.output()[-4000:]
    digests = [hashlib.sha256(value.encode()).hexdigest() for value in values]
    said = output.output()
    assert f"\nFIRST {digests[0]}\n" in said
    assert f"\nSECOND {digests[1]}\n" in said

    executors = [pod for pod in site.api.objects("pods") if labels(pod)["spark-role"] == "executor"]
    assert len(executors) >= 2
    to_driver, to_executors = (policy["spec"] for policy in policies())
    assert all(selects(to_driver["ingress"][0]["from"][0], pod) for pod in executors)
    assert all(selects(to_executors, pod) for pod in executors)
    assert all(selects(to_executors["ingress"][0]["from"][0], pod) for pod in site.api.objects("pods"))
    made = {environment(pod).get("_SPARK_AUTH_SECRET", "") for pod in executors}
    if mounted:
        assert made == {""}, "a pod shows an authentication secret"
    else:
        (rpc,) = made
        assert rpc, "the page says that Spark writes it there"
    finder = LeakFinder([*values, rpc])
    written = list(site.api.recorded())
    assert len({what for what, body in written if "/configmaps" in what}) >= (2 if mode == "cluster" else 1)
    copied = [body["data"].get("shop.key") for body in site.api.objects("configmaps")]
    assert set(copied) == {KEY_FILE}, "the page says that Spark copies the folder SPARK_CONF_DIR"
    # Spark's own secret is in what executors are made from, and nowhere else.
    holders = [yaml.safe_load(body) for _, body in written if finder.count(body)]
    assert {labels(body)["spark-role"] for body in holders} == (set() if mounted else {"executor"})
    assert not any(LeakFinder(values).count(body) for _, body in written), "an object shows a value"
    assert [name for name, text in logs.items() if finder.count(text.encode())] == []
    files = (path for path in tmp_path.rglob("*") if path.is_file())
    searched = [*site.written(), *((path.name, path.read_bytes()) for path in files)]
    assert [name for name, body in searched if finder.count(body)] == []
    # Among what was searched: the confs as pods mount them, the event log.
    reference = confs["spark.shop.password"].encode()
    found = {name.rpartition("/")[2] for name, body in searched if reference in body.replace(b"\\", b"")}
    assert any(b'"SparkListenerApplicationStart"' in body for _, body in searched), (
        "no event log was searched"
    )
    assert mode == "client" or "spark.properties" in found

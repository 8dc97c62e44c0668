"""What ``spark-submit`` writes into a cluster of Kubernetes, in cluster mode: against an API server of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.leaks import LeakFinder
from support.processes import Run
from support.spark_on_kubernetes import Site, environment, policies, selects

KEY_FILE = "the-text-of-a-key-5d2e"
CORE_SITE = (
    "<configuration><property><name>a.password</name><value>in-clear</value></property></configuration>\n"
)


@pytest.fixture
def site(harness_run: Run) -> Iterator[Site]:
    site = Site(harness_run, "kubernetes-submit")
    yield site
    site.close()


def test_the_network_policies_are_such_objects() -> None:
    """The client drops what its model of the API does not know, and refuses what lacks something."""
    api = pytest.importorskip("kubernetes.client").ApiClient()
    for policy in policies():
        read = api.deserialize(json.dumps(policy), "V1NetworkPolicy", "application/json")
        assert api.sanitize_for_serialization(read) == policy
    misspelled = {**policy, "spec": {"podSelector": {}, "ingres": []}}
    read = api.deserialize(json.dumps(misspelled), "V1NetworkPolicy", "application/json")
    assert api.sanitize_for_serialization(read) != misspelled


@pytest.mark.spark
@pytest.mark.templates(client="spark-submit", documents=["kubernetes.conf.template"])
def test_what_spark_submit_writes(site: Site, tmp_path: Path) -> None:
    """References stay references; the two folders of confs are copied; the policies fit the pods."""
    (site.conf_dir / "shop.key").write_text(KEY_FILE)
    (site.conf_dir / "sparkconfig.conf").write_text("spark.config.providers = sealed\n")
    (tmp_path / "core-site.xml").write_text(CORE_SITE)
    confs = {**site.confs(), "spark.kubernetes.submission.waitAppCompletion": "false"}
    child = site.submit(["local:///opt/app/shop.py"], confs, env={"HADOOP_CONF_DIR": str(tmp_path)})
    assert child.wait(120) == 0, child.output()[-3000:]
    (driver,), (service,) = map(site.api.objects, ("pods", "services"))
    hadoop, config = sorted(
        site.api.objects("configmaps"), key=lambda each: "spark.properties" in each["data"]
    )
    assert hadoop["data"] == {"core-site.xml": CORE_SITE}
    properties = config["data"]["spark.properties"].replace("\\", "")
    assert f"spark.shop.password={confs['spark.shop.password']}\n" in properties
    # As the page says, Spark copies the folder, and mounts the copy over the image's own.
    assert set(config["data"]) == {"spark.properties", "spark.kubernetes.namespace", "shop.key"}
    assert config["data"]["shop.key"] == KEY_FILE
    (container,) = driver["spec"]["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts["spark-conf-volume-driver"] == "/opt/spark/conf"
    assert mounts["shop-volume"] == confs["spark.kubernetes.driver.secrets.shop"]
    assert "_SPARK_AUTH_SECRET" not in environment(driver)
    holders = [what for what, body in site.api.recorded() if LeakFinder([KEY_FILE]).count(body)]
    assert [what.split("/")[-2] for what in holders] == ["configmaps"]
    mine, executors = policies()
    assert selects(mine["spec"], driver)
    assert not selects(executors["spec"], driver)
    ports = {port["name"]: port["port"] for port in service["spec"]["ports"]}
    (rule,) = mine["spec"]["ingress"]
    assert {port["port"] for port in rule["ports"]} == {ports["driver-rpc-port"], ports["blockmanager"]}
    for policy in (mine, executors):
        assert policy["metadata"]["namespace"] == site.api.NAMESPACE

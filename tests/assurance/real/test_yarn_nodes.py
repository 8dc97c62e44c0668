"""Applications on two nodes of YARN, beside an operator's file; drivers and executors are killed. ``make yarn``."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from real.yarn_site import (
    Application,
    NoNodes,
    YarnSite,
    process,
    ship_python,
    start_site,
    while_running,
)
from sparkconfig.redaction import MASK
from support.node import Node
from support.processes import HarnessError, Run, wait_until
from support.real_vault import RealVault
from support.surfaces import ProcessWatch

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
]

SMALL_APP = Path(__file__).with_name("apps") / "in_clear.py"


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, harness_run: Run) -> Iterator[YarnSite]:
    with RealVault.of(request) as vault:
        try:
            site = start_site(harness_run, vault)
        except NoNodes as error:
            pytest.skip(str(error))
        yield site
        site.yarn.stop()


def nothing_is_left(machines: Sequence[Node]) -> None:
    """Folders and sockets of all processes are gone from each machine's ``/tmp``."""
    with contextlib.suppress(HarnessError):
        wait_until("the end of folders", lambda: not any(each.left() for each in machines), timeout=60)
    assert [path for each in machines for path in each.left()] == []


def port(name: str) -> str:
    return name.split("-")[1]


@pytest.mark.templates(client="spark-submit", documents=["yarn.conf.template"])
def test_a_python_from_an_archive(site: YarnSite) -> None:
    """Cluster mode as the template has it: jar and Python come from HDFS."""
    ship_python(site)
    first, application = site.rotate(), Application(site, "shipped", locked=False)
    confs = site.template(cluster_mode=True) | site.common("cluster")
    agent = confs["spark.config.agent.python"]
    with ProcessWatch() as watch:
        child = site.submit("shipped", application.command, {**confs, "spark.pyspark.python": agent})
        application.wait_for("driver", 1, first, child)
        application.wait_for("executor", 2, first, child)
        second = site.rotate()
        application.wait_for("driver", 1, second, child)
        application.wait_for("executor", 2, second, child)
        application.stop()
        assert child.wait(120) == 0, site.told(child)
    side = [text for text in watch.command_lines.values() if b"sparkconfig.agent" in text]
    assert any(b"/container_" in text.split(b"\0")[0] for text in side), "the side process has another Python"
    assert site.leaks(while_running(watch)) == []
    nothing_is_left(site.machines)


@pytest.mark.templates(client="spark-submit", documents=["yarn.conf.template", "sparkconfig.conf.template"])
def test_cluster_mode_with_a_killed_executor_and_a_killed_driver(site: YarnSite) -> None:
    application = Application(site, "cluster", locked=True)
    site.operate(application.locking())
    first = site.rotate()
    application.change_lock()
    with ProcessWatch() as watch:
        child = site.submit("cluster", application.command, site.common("cluster"))
        (driver,) = application.wait_for("driver", 1, first, child)
        executors = application.wait_for("executor", 2, first, child)
        assert len({port(name) for name in executors}) == 2, "both nodes take part"
        kept = [path for node in site.nodes for path in node.left()]
        assert all(path.endswith(".sock") for path in kept), (
            "YARN removes folders in a container's, and no others"
        )
        pages = list(site.pages())
        os.kill(process(executors[0]), signal.SIGKILL)
        (another,) = application.wait_for("executor", 1, first, child, without=executors)
        assert port(another) == port(executors[0]), "only there is room"
        second = site.rotate()
        application.wait_for("executor", 2, second, child)
        application.wait_for("driver", 1, second, child)
        application.change_lock()
        before = [*executors, another]
        os.kill(process(driver), signal.SIGKILL)
        (next_driver,) = application.wait_for("driver", 1, second, child, without=[driver])
        later = application.wait_for("executor", 2, second, child, without=before)
        third = site.rotate()
        application.wait_for("driver", 1, third, child, without=[driver])
        application.wait_for("executor", 2, third, child, without=before)
        application.change_lock()
        application.stop()
        assert child.wait(120) == 0, site.told(child)
    for kind, name in (("driver", next_driver), *(("executor", each) for each in later)):
        assert application.seen(kind)[name] == [second, third], "a value of before the kill"
    assert site.leaks([*while_running(watch), *pages]) == []
    nothing_is_left(site.machines)


@pytest.mark.templates(client="spark-submit", documents=["yarn.conf.template", "sparkconfig.conf.template"])
def test_client_mode_with_a_killed_executor_and_a_killed_driver(site: YarnSite) -> None:
    application = Application(site, "client", locked=True)
    site.operate(application.locking())
    first = site.rotate()
    application.change_lock()
    with ProcessWatch() as watch:
        child = site.submit("client", application.command, site.common("client"))
        application.wait_for("driver", 1, first, child)
        executors = application.wait_for("executor", 2, first, child)
        pages = list(site.pages())
        os.kill(process(executors[1]), signal.SIGKILL)
        application.wait_for("executor", 1, first, child, without=executors)
        second = site.rotate()
        application.wait_for("driver", 1, second, child)
        application.wait_for("executor", 2, second, child)
        running = [process(name) for name in application.seen("executor") if name != executors[1]]
        child.process.kill()
        child.wait(30)
        wait_until(
            "the executors' end",
            lambda: not any(Path(f"/proc/{each}").exists() for each in running),
            timeout=90,
        )
    said = child.output()
    assert f"printed {MASK} {MASK}\n" in said
    assert site.leaks([*while_running(watch), *pages]) == []
    nothing_is_left(site.nodes)
    # Nobody removes what the killed driver had on the machine that submits, until another one starts there.
    child = site.submit("next", [SMALL_APP], {**site.common("client"), "spark.shop.login": "none"})
    assert child.wait(120) == 0, site.told(child)
    nothing_is_left(site.machines)


def test_the_search_finds_a_value_in_clear(site: YarnSite) -> None:
    """Stock Spark with a value where jobs of others have a reference: the same search finds it."""
    value = secrets.token_hex(16)  # no shell changes it
    confs = {
        **site.common("cluster"),
        "spark.shop.login": value,
        "spark.executorEnv.SHOP_LOGIN": value,
        "spark.yarn.tags": value,
    }
    site.no_operator()
    with ProcessWatch() as watch:
        child = site.submit("clear", [SMALL_APP], confs)
        assert child.wait(180) == 0, "stock Spark did not run"
    places = site.leaks(while_running(watch), [value])
    for what in (
        r"node-\d/local/.*/__spark_conf__.properties",
        r"node-\d/local/.*/launch_container.sh",
        r"node-\d/logs/.*/stdout",
        r"data/.*/blk_\d+/__spark_conf__.properties",
        r"data/.*/blk_\d+",
        r"http://.*/ws/v1/cluster/apps",
        r"command line of .*",
        r"environment of .*",
    ):
        assert any(re.fullmatch(what, place) for place in places), f"not found in {what}"
    assert len(places) > 20
    copied = [name for name, _ in site.yarn.written() if name.endswith("/__hadoop_conf__/log4j.properties")]
    assert any(name.startswith("data/") for name in copied), "Spark copies HADOOP_CONF_DIR: the page says so"

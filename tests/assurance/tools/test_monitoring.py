"""``conf/monitoring`` in a real Prometheus, which scrapes a real driver while a store goes down.

Prometheus and promtool are Debian's (the package ``prometheus``). Grafana is not tested: its dashboard's queries are.
"""

from __future__ import annotations

import json
import subprocess
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import monitoring
from support.crawl import fetch
from support.processes import Run, wait_until
from support.rotation import provider_confs
from support.session import running_session

pytestmark = pytest.mark.spark

RULES = Path(__file__).with_name("alert-rules.test.yml")
SECRET = "Canary-of-the-metrics-41c7"


@dataclass
class Monitored:
    """A driver, the store that it reads, and a Prometheus that scrapes it."""

    store: Path
    address: str

    def ask(self, path: str, **arguments: str) -> Any:
        text = fetch(f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(arguments)}")
        assert SECRET.encode() not in text
        return json.loads(text)["data"]

    def alerts(self) -> dict[str, str]:
        """The state of each alert that is not inactive, by name."""
        return {each["labels"]["alertname"]: each["state"] for each in self.ask("alerts")["alerts"]}


@pytest.fixture(scope="module")
def monitored(tmp_path_factory: pytest.TempPathFactory, harness_run: Run) -> Iterator[Monitored]:
    folder = tmp_path_factory.mktemp("monitoring")
    store = folder / "shop.properties"
    store.write_text(f"password={SECRET}\n")
    conf = {
        **monitoring.spark_confs(),
        **provider_confs("remote", "support.flaky_store.FlakyStore", {}),
        "spark.master": "local[1]",
        "spark.config.providers": "remote",
        "spark.config.poll.interval": "500ms",
        "spark.config.stale.expiry": "14m",
        "spark.shop.password": f"${{remote:{store}:password}}",
    }
    with running_session(conf, folder=folder, env={"PYTHONPATH": _python_path()}) as spark:
        ui = spark.sparkContext.uiWebUrl
        driver = urllib.parse.urlsplit(ui).netloc
        yield Monitored(store, _prometheus(harness_run, folder, driver))


def _python_path() -> str:
    root = Path(__file__).parents[3]
    return f"{root / 'python'}:{root / 'tests'}"


def _prometheus(run: Run, folder: Path, driver: str) -> str:
    """Start Prometheus with the shipped configuration, at this driver and once a second."""
    text = (monitoring.FOLDER / "prometheus.yml").read_text()
    (folder / "alert-rules.yml").write_bytes((monitoring.FOLDER / "alert-rules.yml").read_bytes())
    fast = "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
    (folder / "prometheus.yml").write_text(fast + text.replace("127.0.0.1:4040", driver))
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    child = run.start("prometheus", [*command, "--web.listen-address=127.0.0.1:0", "--log.level=debug"])
    found = child.wait_for(r'Listening on" address=(127.0.0.1:[0-9]+)', timeout=60)
    return f"http://{found[1]}"


def test_promtool_finds_no_fault() -> None:
    for command in (["check", "config", monitoring.FOLDER / "prometheus.yml"], ["test", "rules", RULES]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.templates(
    client="Prometheus",
    documents=["spark-defaults.conf", "prometheus.yml", "alert-rules.yml", "grafana-dashboard.json"],
)
def test_each_query_of_the_dashboard_has_an_answer_and_an_outage_an_alert(monitored: Monitored) -> None:
    (up,) = (each for each in monitoring.dashboard_expressions() if " - " in each)
    wait_until("the first scrape", lambda: monitored.ask("query", query=up)["result"], timeout=60)
    assert monitored.alerts() == {}
    Path(f"{monitored.store}.down").touch()
    wait_until("the alerts of an outage", lambda: len(monitored.alerts()) == 2, timeout=60)
    # Of the first only after five minutes of it; of the second at once, since the last good value ends within 15.
    assert monitored.alerts() == {"SparkconfigStoreDown": "pending", "SparkconfigValuesExpireSoon": "firing"}
    empty = {
        query: answer
        for query in monitoring.dashboard_expressions()
        if not (answer := monitored.ask("query", query=query))["result"]
    }
    assert empty == {}
    Path(f"{monitored.store}.down").unlink()
    wait_until("the end of the alerts", lambda: monitored.alerts() == {}, timeout=120)

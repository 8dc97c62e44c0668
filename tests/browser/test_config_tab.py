"""The page Config in a real browser: what people see of providers, references, executors and policies.

``make browser`` runs it; SCREENSHOT=FILE keeps the picture that the docs show.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from sparkconfig._spark import driver
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.streaming import ManagedQuery, managed
from support.browser import PACKAGES, Browser, missing
from support.fakes.http_server import Fault
from support.fakes.vault import FakeVault
from support.processes import wait_until
from support.session import running_session

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.skipif(missing() is not None, reason=f"no {missing()} here: needs {PACKAGES}"),
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # selenium's connections, left to the garbage collector
]
PASSWORD = "${sealed:shop:password}"
SECRETS = ["Canary-shop-4411", "Canary-vault-5522", "Canary-shop-6633"]
RULES = {
    "rules": [
        {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": "50"},
        {"key": "spark.sql.ansi.enabled", "type": "forbidden"},
    ]
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Any]:
    with Browser(tmp_path_factory.mktemp("chromium")) as started:
        yield started.driver


@pytest.fixture(scope="module")
def page(cluster, tmp_path_factory) -> Iterator[str]:
    """The address of the page of an application with something to show: a rotation, an outage, policies."""
    folder = tmp_path_factory.mktemp("shop")
    sealed = Sealed(folder)
    home = folder / "operator"
    home.mkdir(mode=0o755)
    (home / "rules.json").write_text(json.dumps(RULES))
    conf = {
        **cluster.application(),
        "spark.app.name": "shop",
        "spark.shop.password": PASSWORD,
        "spark.warehouse.password": "${vault:db/prod:password}",
    }
    with FakeVault() as vault:
        vault.put("db/prod", {"password": SECRETS[1]})
        (folder / "token").write_text(vault.ROOT)
        (folder / "token").chmod(0o600)
        settings = {
            "spark.config.agent.python": sys.executable,
            "spark.config.providers": "sealed,vault",
            **sealed.settings,
            "spark.config.providers.vault.param.address": vault.url,
            "spark.config.providers.vault.param.token.file": folder / "token",
            "spark.config.poll.interval": "1s",
            "spark.config.override.policy": "Rules",
            "spark.config.override.policy.param.file": "rules.json",
            **cluster.security(),  # the operator's own, so that the job may have them
        }
        (home / "sparkconfig.conf").write_text("".join(f"{key}={text}\n" for key, text in settings.items()))
        with (
            running_session(conf, folder=folder, env={"SPARK_CONF_DIR": str(home)}) as spark,
            running_query(spark, folder) as query,
        ):
            policies(spark)
            sealed.put(SECRETS[2])
            vault.fault(*[Fault(status=503)] * 100_000)  # its connections live on: it has to refuse
            wait_until("the rotation", lambda: driver.generation() >= 2, timeout=30)
            wait_until("the restart", lambda: query.restarts, timeout=60)
            wait_until("both executors", lambda: _newest(driver.status()), timeout=60)
            wait_until("the outage", lambda: _down(driver.status()), timeout=60)
            yield f"{spark.sparkContext.uiWebUrl}/config/"


class Sealed:
    """A sealed file with one password, and its key."""

    def __init__(self, folder: Path) -> None:
        self._key = KeyFile(folder / "key")
        self._key.create()
        self._path = folder / "shop.sealed"
        editor.create(self._path, self._key)
        self.put(SECRETS[0])

    def put(self, password: str) -> None:
        editor.put(self._path, self._key, {EntryName("shop", "password"): password})

    @property
    def settings(self) -> dict[str, object]:
        root = "spark.config.providers.sealed"
        return {
            f"{root}.class": "sealed",
            f"{root}.param.file": self._path,
            f"{root}.param.key.file": self._key.path,
        }


@contextlib.contextmanager
def running_query(spark: Any, folder: Path) -> Iterator[ManagedQuery]:
    def start(_: Mapping[str, str]) -> Any:
        rows = spark.readStream.format("rate").load()
        sink = rows.writeStream.format("noop").queryName("orders")
        return sink.option("checkpointLocation", str(folder / "checkpoint")).start()

    query = managed(start, {"password": PASSWORD}, action="restart")
    try:
        yield query
    finally:
        query.stop()


def policies(spark: Any) -> None:
    """One setting that the operator's rules allow, and one that they do not."""
    spark.conf.set("spark.sql.shuffle.partitions", "20")
    spark.range(1).count()
    with pytest.raises(AnalysisException):
        spark.sql("SET spark.sql.ansi.enabled=false")


def _newest(state: dict[str, object]) -> bool:
    return [each["behind"] for each in state["executors"]] == [False, False]  # type: ignore[attr-defined]


def _down(state: dict[str, object]) -> bool:
    return [each["up"] for each in state["providers"]] == [True, False]  # type: ignore[attr-defined]


def rows(browser: Any, table: str) -> list[list[str]]:
    found = browser.find_elements("css selector", f"#{table} tbody tr")
    return [[cell.text for cell in row.find_elements("tag name", "td")] for row in found]


def test_the_tab_is_on_every_page_and_leads_to_the_page(browser: Any, page: str) -> None:
    browser.get(page.replace("/config/", "/jobs/"))
    browser.find_element("link text", "Config").click()
    assert browser.current_url.startswith(page.rstrip("/"))
    assert browser.find_element("css selector", ".navbar .active").text.strip() == "Config"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    empty = "return Array.from(document.styleSheets).filter(each => each.cssRules.length == 0).length"
    assert browser.execute_script(empty) == 0, "filters leave Spark's styles alone"


def test_the_page_shows_names_times_and_states_and_no_value(browser: Any, page: str) -> None:
    browser.get(page)
    assert int(browser.find_element("id", "generation").text) == driver.generation()
    assert browser.find_element("id", "behind").text == "0"
    secrets, vault = rows(browser, "providers")
    assert (secrets[0], secrets[2], vault[0]) == ("sealed", "up", "vault")
    assert vault[2].startswith("down")
    assert "min" in vault[7], "when the last good value ends"
    assert (secrets[4], vault[4]) == ("password", "password"), "the keys in use"
    shop, warehouse = rows(browser, "references")
    assert (shop[1], warehouse[1]) == ("spark.shop.password", "spark.warehouse.password")
    rotated = rows(browser, "generations")[0]
    assert (rotated[0], rotated[2]) == (str(driver.generation()), PASSWORD)
    assert int(browser.find_element("id", "denied").text) == 1
    assert [row[3] for row in rows(browser, "executors")] == ["newest", "newest"]
    decisions = {(row[4], row[5]) for row in rows(browser, "decisions")}
    assert all(row[2] for row in rows(browser, "decisions") if row[3] == "session"), "whose session it was"
    assert {("spark.sql.shuffle.partitions", "allowed"), ("spark.sql.ansi.enabled", "denied")} <= decisions
    assert [row[1:4:2] for row in rows(browser, "restarts")] == [["orders", "password"]]
    source = browser.page_source
    assert not any(secret in source for secret in SECRETS)
    target = Path(os.environ.get("SCREENSHOT") or Path(__file__).parents[2] / "build" / "config-tab.png")
    target.parent.mkdir(parents=True, exist_ok=True)
    height = browser.execute_script("return document.body.scrollHeight") + 150
    browser.set_window_size(1500, height)
    assert browser.save_screenshot(str(target))


def test_tables_are_as_wide_as_sparks_and_are_sorted_by_a_click(browser: Any, page: str) -> None:
    browser.get(page.replace("/config/", "/executors/"))
    browser.get(page)
    table = browser.find_element("id", "decisions")
    content = browser.find_element("id", "sparkconfig")
    assert table.size["width"] == content.size["width"]
    column = [row[4] for row in rows(browser, "decisions")]
    table.find_elements("css selector", "th")[4].click()
    assert [row[4] for row in rows(browser, "decisions")] == sorted(column) != column


def test_its_link_gives_the_same_as_json(browser: Any, page: str) -> None:
    browser.get(page)
    link = browser.find_element("link text", "the same as JSON").get_attribute("href")
    with urllib.request.urlopen(link, timeout=20) as answer:
        text = answer.read().decode()
    state = json.loads(text)
    assert state["generation"] == driver.generation()
    assert {item["subject"] for item in state["decisions"]} >= {"spark.sql.ansi.enabled"}
    assert [restart["query"] for restart in state["query_restarts"]] == ["orders"]
    assert not any(secret in text for secret in SECRETS)

"""Each source in one application on a cluster: write, read, rotate, leaks. Part of ``make real``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from real.site import Site, running_site
from real.sources import ALL
from support.processes import Run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WANTED = os.environ.get("REAL", "").split(",")
SOURCES = [each for each in ALL if WANTED in (["all"], [""]) or each.name in WANTED]
STEPS = ("write", "read", "rotate", "leaks")


@pytest.fixture(scope="module")
def site(cluster: Any, harness_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(SOURCES, cluster, harness_run, tmp_path_factory.mktemp("real")) as site:
        yield site


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_source(site: Site, name: str, step: str) -> None:
    if name in site.missing:
        pytest.skip(site.missing[name])
    source = site.sources[name]
    if step == "write":
        source.write(site.spark, range(20))
    elif step == "read":
        assert site.numbers(source.frame(site.spark)) == list(range(20))
    elif step == "rotate":
        site.follows(source, 20)
        site.follows(source, 30)
        if source.within:
            site.follows_within_a_task(source)
    else:
        site.search()


@pytest.fixture(scope="module")
def turned(site: Site) -> Site:
    """An application with our extension and listener in front of the others; until here they were behind them."""
    site.start(ours_first=True)
    return site


@pytest.mark.parametrize("name", [source.name for source in SOURCES if source.extension or source.listener])
def test_extension_behind_ours(turned: Site, name: str) -> None:
    if name in turned.missing:
        pytest.skip(turned.missing[name])
    source = turned.sources[name]
    turned.follows(source, 40)
    turned.search()

"""What is in ``conf/monitoring``, and the names of metrics that its expressions use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from support.templates import CONF, load

FOLDER = CONF / "monitoring"
_NAME = re.compile(r"\bmetrics_\w+")


def spark_confs() -> dict[str, str]:
    """The confs with which a driver prints its metrics for Prometheus."""
    return load(FOLDER / "spark-defaults.conf")


def printed(page: str) -> dict[str, float]:
    """The driver's own metrics on the page of PrometheusServlet."""
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if "_ConfigPlugin_" in line)
    return {name.partition("{")[0]: float(value) for name, value in lines}


def dashboard_expressions() -> Iterator[str]:
    """Each panel's queries, for all drivers."""
    for panel in json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$instance", ".*")


def names_in(text: str) -> set[str]:
    """The metrics that expressions name."""
    return set(_NAME.findall(text))

"""What all columns of the audit share: a cluster, a database, and compiled jobs."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from support.browser import Browser
from support.cluster import SparkCluster
from support.jdbc import postgresql_driver
from support.postgres import PostgresServer
from support.processes import Run

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
TESTS = CORPUS.parents[1]
ROLE = "audit"


@dataclass
class Stage:
    """Attributes:
    browser: None where there is none, or none is wanted.
    per_shape: how many pages of one kind the browser reads in one application.
    per_shape_http: how many the search over HTTP reads; all of them unless something else is said.
    """

    run: Run
    postgres: PostgresServer
    cluster: SparkCluster
    driver: Path
    browser: Browser | None = None
    per_shape: int = 1000
    per_shape_http: int = 100_000

    @property
    def jdbc(self) -> str:
        return self.postgres.jdbc_url(ROLE)


def prepare(run: Run, cache: Path, *, browser: Browser | None = None, per_shape: int = 1000) -> Stage:
    """Start what every column needs."""
    postgres = PostgresServer(run, cache=cache)
    postgres.create(role=ROLE, password=secrets.token_hex(16), database=ROLE)
    driver = postgresql_driver(run, cache=cache)
    # On two hosts, since Spark copies a straggler only to another one.
    cluster = SparkCluster(run, workers=2, hosts=("127.0.0.1", "127.0.0.2"))
    return Stage(run, postgres, cluster, driver, browser, per_shape)

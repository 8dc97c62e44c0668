"""What a user of a shared server caches answers that session's own queries, and those of nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.attacks import BAIT, prepare
from support.shipped_rules import shipped_rules
from support.sql_servers import Site, connect_server
from support.two_users import make_folders
from support.verdicts import connections

pytestmark = [pytest.mark.spark, pytest.mark.sparks(since="4.0")]  # guarded Connect servers


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("caches").resolve()
    prepare(folder)
    make_folders(folder, BAIT)
    return folder


@pytest.fixture(scope="module")
def sessions(harness_run, folder) -> Iterator[dict[str, Any]]:
    from pyspark.sql.connect.session import SparkSession

    settings = {
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.connect.user.trusted": "true",
        **connections(folder),
    }
    site = Site(harness_run, folder, shipped_rules(folder), **settings)
    with connect_server(site, "connect") as (address, _):
        made = {
            user: SparkSession.builder.remote(f"{address}/;user_id={user}").create()
            for user in ("ann", "bob")
        }
        yield made
        for each in made.values():
            each.stop()


def plan(frame: Any) -> str:
    return frame._explain_string()


def test_rows_of_files(sessions, folder):
    (folder / "lake" / "common").mkdir()
    (folder / "lake" / "common" / "a.txt").write_text("a")
    ann, bob = (sessions[user].read.text(f"file:{folder}/lake/common") for user in ("ann", "bob"))
    assert ann.persist().count() == 1
    (folder / "lake" / "common" / "b.txt").write_text("b")
    assert (ann.count(), bob.count()) == (1, 2)
    assert bob.cache().count() == 2
    bob.unpersist()
    assert ("InMemoryRelation" in plan(ann), "InMemoryRelation" in plan(bob)) == (True, False)
    ann.unpersist()
    assert "InMemoryRelation" not in plan(ann)


def test_what_spark_computes_for_one_user(sessions):
    text = "SELECT current_database() AS here, id FROM range(3)"
    sessions["ann"].sql("CREATE DATABASE other").collect()
    sessions["ann"].sql("USE other").collect()
    assert sessions["ann"].sql(text).persist().count() == 3
    assert {row.here for row in sessions["ann"].sql(text).collect()} == {"other"}
    assert {row.here for row in sessions["bob"].sql(text).collect()} == {"default"}


def test_tables_and_views_by_name(sessions):
    ann, bob = sessions["ann"], sessions["bob"]
    ann.sql("CREATE TABLE default.rows USING parquet AS SELECT 1 AS a").collect()
    for text in ("CACHE TABLE default.rows", "CACHE TABLE seen AS SELECT * FROM default.rows"):
        ann.sql(text).collect()
    query = "SELECT * FROM default.rows"
    assert ("InMemoryRelation" in plan(ann.sql(query)), "InMemoryRelation" in plan(bob.sql(query))) == (
        True,
        False,
    )
    assert ann.catalog.isCached("default.rows")
    assert not bob.catalog.isCached("default.rows")
    bob.sql("INSERT INTO default.rows SELECT 2").collect()
    assert (ann.table("seen").count(), bob.table("default.rows").count()) == (1, 2)
    ann.sql("REFRESH TABLE default.rows").collect()
    assert (ann.table("seen").count(), ann.table("default.rows").count()) == (2, 2)
    ann.sql("INSERT INTO default.rows SELECT 3").collect()
    assert (ann.table("seen").count(), ann.table("default.rows").count()) == (3, 3)
    ann.sql("UNCACHE TABLE default.rows").collect()
    assert "InMemoryRelation" not in plan(ann.sql(query))

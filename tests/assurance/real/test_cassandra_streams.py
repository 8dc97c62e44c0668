"""Streams into Cassandra, whose connector takes no V1 sink, and connects as soon as it is asked for a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from real.site import Site, running_site
from real.sources.cassandra import CassandraCatalog, CassandraOptions
from support.processes import Run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def site(cluster: Any, harness_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("streams")
    with running_site([CassandraOptions, CassandraCatalog], cluster, harness_run, folder) as site:
        if site.missing:
            pytest.skip("; ".join(site.missing.values()))
        yield site


def stream(site: Site, number: int) -> Any:
    """A stream of one number, which ends by itself."""
    rows, checkpoint = site.folder / f"rows-{number}", site.folder / f"checkpoint-{number}"
    site.spark.range(number, number + 1).write.parquet(str(rows))
    writer = site.spark.readStream.schema("id long").parquet(str(rows)).writeStream
    return writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)


def test_a_stream_into_a_table_of_the_catalog(site: Site) -> None:
    source = site.sources[CassandraCatalog.name]
    assert stream(site, 1).toTable("cass.cassandra_catalog.numbers").awaitTermination(120)
    assert site.numbers(source.frame(site.spark)) == [1]


def test_batches_of_a_stream_by_options(site: Site) -> None:
    source = site.sources[CassandraOptions.name]

    def write(frame: Any, _: int) -> None:
        source.write(site.spark, [row.id for row in frame.collect()])

    for number in (11, 12):
        assert stream(site, number).foreachBatch(write).start().awaitTermination(120)
        source.rotate()
        site.news()
    assert site.numbers(source.frame(site.spark)) == [11, 12]

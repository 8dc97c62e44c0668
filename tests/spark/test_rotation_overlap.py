"""A JDBC job while its credentials rotate every two seconds, old and new ones being good for an overlap."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from support.overlap import RotatingRoles
from support.rotation import Site, running_site
from support.shim import shim_jar

pytestmark = [pytest.mark.spark, pytest.mark.cluster]
AT_LEAST = 4


@pytest.fixture(scope="module")
def site(cluster, pg_driver, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("overlap")
    conf = {"spark.jars": f"{shim_jar()},{pg_driver}", "spark.config.poll.interval": "500ms"}
    with running_site(cluster, folder, module=__name__, conf=conf) as site:
        yield site


def test_no_connection_is_refused_while_old_and_new_credentials_overlap(site: Site, postgres) -> None:
    # An overlap of six seconds: a busy machine may take long from the reading of a value to its use.
    roles = RotatingRoles(postgres, site.folder, roles=4)
    stop, reads = threading.Event(), 0

    def rotate() -> None:
        while not stop.wait(2):
            roles.rotate()

    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        while reads < AT_LEAST or len(roles.passwords) <= AT_LEAST + 1:
            assert site.spark.read.format("jdbc").options(**roles.options()).load().count() == 1000
            reads += 1
    finally:
        stop.set()
        rotating.join()
    authorized, refused = roles.connections()
    assert refused == 0
    assert authorized >= 4 * reads
    # The log tells of what is refused: without an overlap, something would be.
    assert not postgres.accepts(role="overlap_0", password=roles.passwords[0], database="overlap")
    assert roles.connections()[1] > 0

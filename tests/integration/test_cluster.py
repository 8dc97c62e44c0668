"""The cluster of the tests is what it says: two workers, and a secret that no command line shows."""

import pytest

from support.surfaces import ProcessWatch, daemon_pages

pytestmark = pytest.mark.cluster


def test_two_workers_are_registered(cluster):
    workers = cluster.state()["workers"]

    assert [worker["state"] for worker in workers] == ["ALIVE", "ALIVE"]
    assert [worker["cores"] for worker in workers] == [1, 1]


def test_everything_listens_on_loopback(cluster):
    for address in [cluster.url, cluster.master_ui, *cluster.worker_uis]:
        assert address.split("//")[1].startswith("127.0.0.1:")


def test_the_clusters_secret_is_on_no_command_line_and_page(cluster):
    watch = ProcessWatch()
    watch.look()
    masters = [line for line in watch.command_lines.values() if b"deploy.master.Master" in line]
    pages = dict(daemon_pages([cluster.master_ui, *cluster.worker_uis]))

    assert masters
    assert all(cluster.auth_secret.encode() not in line for line in watch.command_lines.values())
    assert len(pages) > 3
    assert all(cluster.auth_secret.encode() not in page for page in pages.values())

"""A provider that cannot be reached when a query needs its value."""

from __future__ import annotations

import time

import pytest
from pyspark.errors import AnalysisException

from spark.options.doors import STALE_EXPIRY_S

pytestmark = pytest.mark.spark


@pytest.fixture
def remote(application):
    """A store that is down while its file `.down` exists, with the password in it."""
    application.rotate()
    application.store.clear()
    application.fill(1)
    store = application.folder / "remote.properties"
    store.write_text(f"pw={application.passwords[-1]}\n")
    down = store.with_name(f"{store.name}.down")
    yield application, f"${{remote:{store}:pw}}", down
    down.unlink(missing_ok=True)


def test_the_last_good_value_serves_until_its_expiry_then_queries_fail_with_its_name(remote):
    doors, reference, down = remote

    def read(front, source="storev1"):
        options = {**doors.jdbc("(select 1 as id) numbers"), "password": reference}
        frame = doors.sessions[front].read.format(source).options(**options).load()
        return sorted(row[0] for row in frame.collect())

    def all_read():
        for front in doors.sessions:
            for source in ("storev1", "storev2", "jdbc"):
                assert read(front, source) == [1]

    all_read()  # first queries take longest, and the outage must not last for too long
    started = time.monotonic()
    down.touch()
    all_read()
    in_time = time.monotonic() - started < STALE_EXPIRY_S
    assert in_time, "this machine is too slow for this test: the queries took longer than the expiry"

    def refused(front, source):
        with pytest.raises(Exception) as error:
            read(front, source)
        return error.value

    while time.monotonic() - started < STALE_EXPIRY_S + 1:
        time.sleep(0.2)
    for front in doors.sessions:
        for source in ("storev1", "storev2", "jdbc"):
            error = refused(front, source)
            assert isinstance(error, AnalysisException), type(error)
            for part in ("'password'", f"'{source}'", reference, "cannot be reached"):
                assert part in str(error), part
            doors.assert_hidden(str(error))
        assert doors.sessions[front].range(3).count() == 3, "other queries go on"
    down.unlink()
    for front in doors.sessions:
        assert read(front) == [1]

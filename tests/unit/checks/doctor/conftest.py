"""The doctor's tests run in a process that belongs to no driver."""

from collections.abc import Iterator

import pytest

from sparkconfig.providers.hadoop import jvm


@pytest.fixture(autouse=True)
def _no_driver() -> Iterator[None]:
    """Other tests of this process may have made a side process, which knows a driver."""
    before = jvm.driver()
    jvm.connect(None)
    yield
    jvm.connect(before)

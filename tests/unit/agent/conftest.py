"""A side process's brain, without a JVM."""

from collections.abc import Iterator

import pytest

from sparkconfig.agent.service import AgentService


@pytest.fixture
def service() -> Iterator[AgentService]:
    made = AgentService()
    yield made
    made.close()

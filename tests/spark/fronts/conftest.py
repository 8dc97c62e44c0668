"""The one application of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.fronts import FRONTS, Fronts, running_fronts


@pytest.fixture(scope="package")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fronts]:
    with running_fronts(tmp_path_factory.mktemp("fronts")) as fronts:
        yield fronts


@pytest.fixture(params=FRONTS)
def spark(request: pytest.FixtureRequest, application: Fronts) -> Any:
    return application.sessions[request.param]

"""A part of `make spark-suites` that touches each place where sparkconfig stands in Spark's way."""

from __future__ import annotations

import pytest

from suites import plan, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def test_sparks_own_tests_do_not_notice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main([plan.QUICK]) == 0, capsys.readouterr().out

"""What `make growth` takes for growth."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "assurance"))

from growth import measure
from growth.run import rows


def samples(heap, descriptors=5.0, milliseconds=1.0):
    return {
        at: {"heap": heap(at), "descriptors": descriptors, "milliseconds": milliseconds}
        for at in range(0, 1300, 100)
    }


def test_what_warms_up_and_what_falls_out_of_line_is_no_growth():
    odd = samples(lambda at: min(at, 400) * 1e6 + (5e6 if at == 800 else 0))
    assert dict(measure.slopes(odd))["heap"] == 0


def test_a_steady_growth_is_found_in_noise():
    noisy = samples(lambda at: 12_000 * at + at * 7919 % 1000)
    assert dict(measure.slopes(noisy))["heap"] == pytest.approx(12_000, rel=0.01)


def verdicts(ours, stock):
    return {row["what"]: row["within"] for row in rows("starts", ours, stock)}


def test_more_than_stock_spark_and_what_chance_adds_is_above_the_bound():
    flat = samples(lambda _: 1e6)
    assert verdicts(samples(lambda at: 1e6 + 12_000 * at), flat)["heap"] is False
    assert verdicts(samples(lambda at: 1e6 + 100 * at), flat)["heap"] is True
    assert verdicts(samples(lambda at: 1e6 + 12_000 * at), samples(lambda at: 12_000 * at))["heap"] is True


def test_a_descriptor_for_each_is_above_the_bound():
    flat = samples(lambda _: 1e6)
    leaking = {at: {**each, "descriptors": each["descriptors"] + at} for at, each in flat.items()}
    assert verdicts(leaking, flat) == {"heap": True, "descriptors": False, "milliseconds": True}


def test_stock_spark_that_shrinks_makes_no_bound_lower():
    assert verdicts(samples(lambda _: 1e6), samples(lambda at: 9e9 - 1e6 * at))["heap"] is True


def test_without_stock_spark_the_bound_is_what_chance_adds():
    (heap, *_) = rows("rotations", samples(lambda at: 50 * at), None)
    assert (heap["stock"], heap["bound"], heap["within"]) == (None, 2500, True)

"""The audit trail of this application; the file stands last, since it reads what the tests of the others have left."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark.policy_doors.policy import SECRET
from sparkconfig._spark import driver
from support.policies import of_event, records
from support.processes import wait_until

pytestmark = pytest.mark.spark


def test_audit_records_name_decisions_and_no_value(application):
    found = records(application["folder"])
    seen = {(record["scope"], record["decision"]) for record in found}
    scopes = "application", "session", "source", "sink", "catalog", "hadoop", "worker"
    assert {(scope, "denied") for scope in scopes} <= seen
    assert {
        (record["scope"], record["decision"]) for record in found if record["subject"].startswith("${")
    } >= {
        ("application", "allowed"),
        ("application", "denied"),
        ("worker", "allowed"),
        ("worker", "denied"),
    }
    assert ("session", "allowed") in seen
    assert by_text(logged(application["folder"], "policy")) == by_text(found)
    assert SECRET not in (application["folder"] / "audit.jsonl").read_text()


def test_generations_are_recorded_beside_decisions_and_reach_the_same_logger(application):
    found = records(application["folder"], "rotation")
    assert [each["generation"] for each in found] == list(range(1, len(found) + 1))
    assert any(text.endswith(":password}") for each in found for text in each["added"])
    wait_until(  # the side process hands them over with its next answer to the driver's long poll
        "the records in the driver's log",
        lambda: by_text(logged(application["folder"], "rotation")) == by_text(found),
        timeout=60,
    )


def test_what_cannot_be_recorded_is_refused(application):
    spark, file = application["classic"], application["folder"] / "audit.jsonl"
    kept = file.rename(file.with_name("kept.jsonl"))
    file.mkdir()
    with pytest.raises(Exception, match=r"audit\.required"):
        spark.conf.set("spark.shop.token", "unrecorded")
    assert spark.conf.get("spark.shop.token", "none") != "unrecorded"
    wait_until(
        "the failure in the status", lambda: driver.status()["policy"]["audit_failures"] > 0, timeout=60
    )
    file.rmdir()
    kept.rename(file)
    spark.conf.set("spark.shop.token", "recorded")
    assert spark.conf.get("spark.shop.token") == "recorded"


def logged(folder, event: str) -> list[dict[str, Any]]:
    """The audit's records of one kind in the driver's log."""
    lines = (folder / "driver.log").read_text().splitlines()
    return of_event(
        (line.removeprefix("shop.audit ") for line in lines if line.startswith("shop.audit ")), event
    )


def by_text(found: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(record, sort_keys=True) for record in found)

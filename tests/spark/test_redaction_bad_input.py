"""Sinks under texts and values that are made to break them: size, faults, hostile values, every event log codec."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leaks.support import bare_jvm, compile_scala
from spark.test_redaction_logs import OPENED, configure
from sparkconfig.redaction import MASK, WITHHELD
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark

PROBE = Path(__file__).parents[1] / "jvm" / "SinkProbe.scala"
WITHHELD_EVENT = "io.sparkconfig.redaction.WithheldEvent"
SECRET = "canary-bad-input-7Qz41"
#: Repeated beginnings of each other, the mask, a tag, a conf key, what regular expressions and escapes are made of.
AWKWARD = [
    "a" * 4096, "a" * 2048, "ab" * 1000, f"x{MASK}", "colgroup", "spark.app.name", "&amp;" * 20,
    "(a+)+$(a+)+$", ".*.*.*.*.*=x", "[[[[[[[[[[[[", "{1,99999}{1,99999}", "overlapAAA111",
    "overlapAAA111222", "111222tail333",
]  # fmt: skip


@pytest.fixture(scope="module")
def jvm(tmp_path_factory):
    classes = tmp_path_factory.mktemp("probe")
    compile_scala(PROBE, classes)
    with bare_jvm(OPENED, classes=classes) as gateway:
        redactor = scala_object(gateway.jvm, "io.sparkconfig.redaction.engine.Redactor")
        redactor.registerAll([SECRET, *(f"tenant-password-{i:05d}-x" for i in range(10_000))])
        yield gateway.jvm


@pytest.mark.parametrize("rolling", [False, True])
@pytest.mark.parametrize("codec", ["none", "lz4", "lzf", "snappy", "zstd"])
def test_event_logs_of_every_kind(jvm, tmp_path, codec, rolling):
    text = jvm.io.sparkconfig.redaction.probe.SinkProbe.eventLog(str(tmp_path), codec, rolling, SECRET)
    events = [json.loads(line) for line in text.splitlines()]
    assert [event["Event"] for event in events] == ["SparkListenerLogStart", "shop.Sold", "shop.Closed"]
    assert events[1]["note"] == MASK


def test_an_event_of_200_megabytes(jvm):
    """In a JVM of 1 GB, with 10,000 values."""
    assert jvm.io.sparkconfig.redaction.probe.SinkProbe.hugeEvent(200, SECRET) == "0 2 false"


def test_a_log_message_of_50_megabytes(jvm, tmp_path):
    configure(jvm, tmp_path, "HUGE")
    scala_object(jvm, "io.sparkconfig.redaction.sinks.LogRedaction").hook()
    answer = jvm.io.sparkconfig.redaction.probe.SinkProbe.hugeMessage(50, SECRET, str(tmp_path / "log"))
    more, masks, leaked = answer.split()
    assert (masks, leaked) == ("2", "false")
    assert 0 < int(more) < 200, "the layout adds a few words"


def test_a_fault_inside_redaction_withholds_and_counts(jvm, tmp_path):
    configure(jvm, tmp_path, "FAULTY")
    scala_object(jvm, "io.sparkconfig.redaction.sinks.LogRedaction").hook()
    before = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor").faults()
    jvm.io.sparkconfig.redaction.probe.SinkProbe.faulty(SECRET)
    text = (tmp_path / "log").read_text()
    assert SECRET not in text
    assert WITHHELD in text
    assert "harmless" in text
    assert scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor").faults() == before + 2


def written(jvm, event: dict) -> dict:
    """What the event log has of an event, which Spark writes without spaces."""
    text = json.dumps(event, separators=(",", ":"))
    return json.loads(jvm.io.sparkconfig.redaction.probe.SinkProbe.event(text))


def test_hostile_values_leave_events_whole(jvm):
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    redactor.registerAllDeclared(AWKWARD)
    event = {"Event": "shop.Sold", "notes": AWKWARD, "nested": json.dumps(AWKWARD), "key": "colgroup"}
    answer = written(jvm, event)
    assert answer["Event"] == "shop.Sold"
    assert answer["notes"] == [MASK] * len(AWKWARD)
    assert answer["key"] == MASK
    assert not redactor.contains(json.dumps(answer))


def test_a_text_that_costs_too_much_is_withheld_and_counted(jvm):
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    redactor.registerAllDeclared(["\\" * 64, "a" * 4096])
    for note in ("\\" * 64, ("a" * 4095 + "b") * 60):
        before = redactor.faults()
        answer = written(jvm, {"Event": "shop.Sold", "note": note})
        withheld = answer["Event"] != "shop.Sold"
        assert redactor.faults() - before == withheld
        assert withheld or note != "\\" * 64 or answer["note"] == MASK


def test_a_value_of_signs_of_json_leaves_no_line_that_is_not_an_event(jvm):
    """One such line, and the history server could not read the log."""
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    before = redactor.faults()
    redactor.registerAllDeclared(['"note":"'])
    assert written(jvm, {"Event": "shop.Sold", "note": "x"})["Event"] == WITHHELD_EVENT
    assert written(jvm, {"Event": "shop.Sold", "other": "x"})["other"] == "x"
    assert redactor.faults() == before + 1

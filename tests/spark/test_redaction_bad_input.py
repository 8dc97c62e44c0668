"""Sinks under texts and values that are made to break them: size, faults, hostile values, every event log codec."""

from __future__ import annotations

import json

import pytest

from leaks.support import bare_jvm, jvm_classes
from spark.test_redaction_logs import OPENED, configure
from sparkconfig.redaction import MASK, WITHHELD
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark

WITHHELD_EVENT = "io.sparkconfig.redaction.WithheldEvent"
SECRET = "canary-bad-input-7Qz41"
#: Repeated beginnings of each other, the mask, a tag, a conf key, what regular expressions and escapes are made of.
AWKWARD = [
    "a" * 4096, "a" * 2048, "ab" * 1000, f"x{MASK}", "&amp;" * 20,
    "(a+)+$(a+)+$", ".*.*.*.*.*=x", "[[[[[[[[[[[[", "{1,99999}{1,99999}", "overlapAAA111",
    "overlapAAA111222", "111222tail333",
]  # fmt: skip


@pytest.fixture(scope="module")
def jvm():
    with bare_jvm(OPENED, classes=jvm_classes()) as gateway:
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


@pytest.mark.parametrize(
    ("part", "occurs"),
    [
        ("a" * 4095 + "b", False),
        ("\\" * 4096 + "n", True),
        ("&amp;", True),
        ("%25", True),
        ("\\u005c", True),
        ("!?" * 20 + "!!", False),
    ],
    ids=["beginnings", "backslashes", "entities", "percents", "escapes", "almost"],
)
def test_hostile_texts_take_linear_time(jvm, part, occurs):
    """Were it the square of the length, this would not end before the test's deadline."""
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    redactor.registerAll(["a" * 4096, "\\" * 64, "&" * 40, "%" * 40, "!?" * 30])
    text = part * (300_000 // len(part))
    answer = redactor.redact(text)
    assert answer == WITHHELD or (MASK in answer and part * 64 not in answer if occurs else answer == text)


def test_json_keeps_its_numbers_and_the_keys_that_spark_gave(jvm):
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    numbers = list(b"canary-in-a-list-5")
    words = ["childNodes", "Some Words", "value-with-9-signs", "SparkListenerThing"]
    redactor.registerAll(["canary-in-a-list-5", "8675309867", *words])
    event = {
        "Event": "org.apache.spark.SparkListenerThing",
        "childNodes": [{"Some Words": "of childNodes", "value-with-9-signs": 1}],
        "Properties": {"childNodes": "Some Words", 'x"': '{"childNodes": 1}'},
        "bytes": numbers,
        "text": str(numbers),
        "n": 8675309867,
        "Timestamp": 1867530986712,
    }
    answer = json.loads(redactor.redactJson(json.dumps(event)))
    assert set(answer.pop("bytes")) <= {1, 11, 111}
    assert answer == {
        "Event": "org.apache.spark.SparkListenerThing",
        "childNodes": [{"Some Words": f"of {MASK}", MASK: 1}],
        "Properties": {MASK: MASK, 'x"': f'{{"{MASK}": 1}}'},
        "text": f"[{MASK}]",
        "n": 1111111111,
        "Timestamp": 1867530986712,
    }


def written(jvm, event: dict) -> dict:
    """What the event log has of an event, which Spark writes without spaces."""
    text = json.dumps(event, separators=(",", ":"))
    return json.loads(jvm.io.sparkconfig.redaction.probe.SinkProbe.event(text))


def test_hostile_values_leave_events_whole(jvm):
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    redactor.registerAll(AWKWARD)
    event = {"Event": "shop.Sold", "notes": AWKWARD, "nested": json.dumps(AWKWARD)}
    answer = written(jvm, event)
    assert answer["Event"] == "shop.Sold"
    assert answer["notes"] == [MASK] * len(AWKWARD)
    assert not redactor.contains(json.dumps(answer))


def test_a_value_of_signs_of_json_leaves_no_line_that_is_not_an_event(jvm):
    """One such line, and the history server could not read the log."""
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    before = redactor.faults()
    redactor.registerAll(['"note":"'])
    assert written(jvm, {"Event": "shop.Sold", "note": "x"})["Event"] == WITHHELD_EVENT
    assert written(jvm, {"Event": "shop.Sold", "other": "x"})["other"] == "x"
    assert redactor.faults() == before + 1

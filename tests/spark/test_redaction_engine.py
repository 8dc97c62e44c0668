"""The masking of texts on the JVM, in a bare JVM without a Spark application."""

from __future__ import annotations

import itertools
import json
import random
import re

import pytest

from leaks.support import bare_jvm
from leaks.values import CANARIES, ENCODINGS, LAYERS
from sparkconfig.redaction import MASK, WITHHELD
from sparkconfig.redaction.canonical import forms
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark


# This JVM computes for a minute and more: the optimizing compiler, which the tests' JVMs do without, halves that.
COMPUTES = "-XX:TieredStopAtLevel=4"


@pytest.fixture(scope="module")
def redactor():
    with bare_jvm(COMPUTES) as gateway:
        redactor = scala_object(gateway.jvm, "io.sparkconfig.redaction.engine.Redactor")
        assert redactor.isEmpty()
        redactor.registerAllDeclared(list(CANARIES.values()))
        yield redactor


def _shown(redactor, text, name):
    """Signs at the ends of a value may be taken for those of the text around it: what is left of them, and no more."""
    answer = redactor.redact(text)
    if name != "edges":
        return answer
    *_, left = forms(answer)
    return re.sub(rf"[\\'\"]*{re.escape(MASK)}[\\'\"]*", lambda _: MASK, left.text)


@pytest.mark.parametrize("name", CANARIES)
@pytest.mark.parametrize("layer", ["raw", *LAYERS])
def test_one_layer_of_escapes(redactor, name, layer):
    text = CANARIES[name] if layer == "raw" else LAYERS[layer](CANARIES[name])
    assert _shown(redactor, f"before {text} after", name) == f"before {MASK} after"
    assert _shown(redactor, f"<td>{text}</td>", name) == f"<td>{MASK}</td>"


@pytest.mark.parametrize("name", CANARIES)
def test_stacks_of_escapes(redactor, name):
    for stack in itertools.product(LAYERS, repeat=2):
        text = CANARIES[name]
        for layer in stack:
            text = LAYERS[layer](text)
        assert _shown(redactor, f"before {text} after", name) == f"before {MASK} after", f"{name}: {stack}"
    for stack in [("xml", "xml", "json"), ("sql-backslash", "xml", "xml"), ("json", "json", "json")]:
        text = CANARIES[name]
        for layer in stack:
            text = LAYERS[layer](text)
        assert _shown(redactor, f"before {text} after", name) == f"before {MASK} after", f"{name}: {stack}"


@pytest.mark.parametrize("name", CANARIES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(redactor, name, encoding):
    text = ENCODINGS[encoding](CANARIES[name])
    answer = redactor.redact(f"before {text} after")
    assert MASK in answer, encoding
    assert len(answer) < len("before  after") + len(MASK) + 12, "most of the encoded text is still there"


def test_numbers_of_a_list_in_json_stay_numbers(redactor):
    value = "canary-in-a-list-5"
    redactor.registerAll([value])
    event = {"bytes": list(value.encode()), "text": str(list(value.encode()))}
    answer = json.loads(redactor.redactJson(json.dumps(event)))
    assert set(answer["bytes"]) <= {1, 11, 111}
    assert answer["text"] == f"[{MASK}]"


@pytest.mark.parametrize("name", CANARIES)
def test_json_stays_json(redactor, name):
    value = CANARIES[name]
    for event in (
        {"a": value, "b": [value, f"x{value}", f"{value}y", f"\n{value}\\", f'\\"{value}"']},
        {value: "as a key", "deep": json.dumps({"inner": [value, '"']})},
    ):
        for ascii_only in (True, False):
            answer = redactor.redactJson(json.dumps(event, ensure_ascii=ascii_only))
            assert MASK in answer
            assert not redactor.contains(answer)
            json.loads(answer)


def test_text_without_a_value_is_returned_as_it_is(redactor):
    for text in ("", "nothing here", "canaryPlain7Qz4", "\\u00e4\\n&amp;%25" * 100, "\U0001d55c" * 1000):
        assert redactor.redact(text) == text
        assert not redactor.contains(text)


def test_user_and_password_in_a_url(redactor):
    value = LAYERS["percent"](CANARIES["awkward"])
    assert redactor.redact(f"jdbc:x://shop:{value}@db/s") == f"jdbc:x://shop:{MASK}@db/s"


def test_prefixes_and_overlaps(redactor):
    redactor.registerAll(["overlapAAA111", "overlapAAA111222", "111222tail333", "abcabcabcabc"])
    assert redactor.redact("x overlapAAA111 y") == f"x {MASK} y"
    assert redactor.redact("x overlapAAA111222 y") == f"x {MASK} y"
    assert redactor.redact("x overlapAAA111222tail333 y") == f"x {MASK} y"
    assert "abcabcabc" not in redactor.redact("abcabcabcabcabcabc")


def test_values_like_the_mask_do_not_mask_masks(redactor):
    redactor.registerAllDeclared(["redacted", "*********", f"x{MASK}y"])
    assert redactor.redact(f"a {MASK} b") == f"a {MASK} b"
    assert redactor.redact("it was redacted here") == f"it was {MASK} here"
    assert redactor.redact(f"a x{MASK}y b") == f"a {MASK} b"


def test_short_and_common_values_are_left_alone_unless_declared(redactor):
    size = redactor.size()
    redactor.registerAll(["a", "short77", "password", "textarea", "spark.app.name"])
    assert redactor.size() == size
    redactor.registerAllDeclared(["qqq", "~"])
    assert redactor.redact("<b>qqq~</b>") == f"<b>{MASK}{MASK}</b>"


def test_numbers_in_json(redactor):
    redactor.registerAll(["8675309867"])
    event = '{"Timestamp":1867530986712,"n":8675309867,"s":"8675309867"}'
    answer = json.loads(redactor.redactJson(event))
    assert answer == {"Timestamp": 1867530986712, "n": 1111111111, "s": MASK}


def test_lines_of_a_value_are_values(redactor):
    redactor.registerAll(["-----BEGIN X-----\nMIIfirstline0001\nMIIsecondline002\n-----END X-----"])
    assert redactor.redact("  MIIsecondline002") == f"  {MASK}"
    assert redactor.redact("-----BEGIN X-----") == "-----BEGIN X-----"


def test_a_long_value_that_was_cut(redactor):
    """Python's errors show the first 200 characters of a text, Spark's pages more or fewer."""
    value = "".join(f"{i * i * 7919:06x}kQzR" for i in range(60))
    redactor.registerAll([value])
    answer = redactor.redact(f"invalid literal: '{value[:200]}")
    assert answer == f"invalid literal: '{MASK * 3}{value[192:200]}"
    parts, rest = divmod(len(value), 64)
    assert redactor.redact(f"... {value[128:]}") == f"... {MASK * (parts - 2)}{value[-rest:]}"
    assert redactor.redact(value) == MASK
    redactor.registerAll(["-" * 100 + "rule" + "-" * 100])
    assert redactor.redact("-" * 90) == "-" * 90


def test_many_values_that_share_their_letters(redactor):
    redactor.registerAll([f"tenant-password-{i:05d}-x" for i in range(10_000)])
    text = " ".join(f"tenant-password-{i:05d}-x tenant-password-{i:05d}-y" for i in range(0, 10_000, 7))
    answer = redactor.redact(text)
    assert answer.count(MASK) == len(range(0, 10_000, 7))
    assert "-x" not in answer


def test_random_values_in_random_places(redactor):
    rng = random.Random(7)
    alphabet = "aZ09&<>\"'\\/%+= \n;#xé鍵"
    values = ["".join(rng.choice(alphabet) for _ in range(rng.randint(12, 40))) for _ in range(200)]
    redactor.registerAllDeclared(values)
    for value in values:
        stack = [rng.choice(list(LAYERS)) for _ in range(rng.randint(0, 2))]
        text = value
        for layer in stack:
            text = LAYERS[layer](text)
        answer = redactor.redact(f"[{text}]")
        assert MASK in answer
        assert text not in answer, f"{stack}"


@pytest.fixture
def fresh_redactor():
    """A redactor with few values; what other tests declare makes it slow (`~` stands everywhere)."""
    with bare_jvm(COMPUTES) as gateway:
        yield scala_object(gateway.jvm, "io.sparkconfig.redaction.engine.Redactor")


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
def test_hostile_texts_take_linear_time(fresh_redactor, part, occurs):
    """Were it the square of the length, this would not end before the test's deadline."""
    fresh_redactor.registerAllDeclared(["a" * 4096, "\\" * 64, "&" * 40, "%" * 40, "!?" * 30])
    text = part * (300_000 // len(part))
    answer = fresh_redactor.redact(text)
    assert answer == WITHHELD or (MASK in answer and part * 64 not in answer if occurs else answer == text)


def test_a_very_long_text(fresh_redactor):
    """50 MB in one message, a value at its beginning, its end and in between."""
    fresh_redactor.registerAllDeclared(list(CANARIES.values()))
    value = CANARIES["plain"]
    text = value + "a line of a log with nothing in it; " * 1_400_000 + LAYERS["json"](CANARIES["awkward"])
    answer = fresh_redactor.redact(text + value)
    assert answer.count(MASK) == 3
    assert len(answer) == len(text) - len(value) - len(LAYERS["json"](CANARIES["awkward"])) + 3 * len(MASK)


def test_json_keeps_the_keys_that_spark_gave(redactor):
    redactor.registerAllDeclared(["childNodes", "Some Words", "value-with-9-signs", "SparkListenerThing"])
    event = {
        "Event": "org.apache.spark.SparkListenerThing",
        "childNodes": [{"Some Words": "of childNodes", "value-with-9-signs": 1}],
        "Properties": {"childNodes": "Some Words", 'x"': '{"childNodes": 1}'},
    }
    assert json.loads(redactor.redactJson(json.dumps(event))) == {
        "Event": "org.apache.spark.SparkListenerThing",
        "childNodes": [{"Some Words": f"of {MASK}", MASK: 1}],
        "Properties": {MASK: MASK, 'x"': f'{{"{MASK}": 1}}'},
    }
    assert redactor.redact('{"childNodes": 1}') == f'{{"{MASK}": 1}}', "a text that is not known as JSON"

"""Values of the driver's JVM, of which Python holds fingerprints alone.

The JVM here is ours, made of Python's engine: `tests/spark/test_redaction_engine.py` does the same with the real one.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import multiprocessing
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest

from leaks.values import CANARIES, ENCODINGS, LAYERS
from sparkconfig.redaction import MASK, Registry
from sparkconfig.redaction import jvm as driver_jvm
from sparkconfig.redaction.fingerprints import Elsewhere
from sparkconfig.redaction.patterns import patterns, texts

CASES = json.loads(
    (Path(__file__).parents[2] / "conformance" / "redaction" / "cases.json").read_text(encoding="utf-8")
)
SALT = "0a1b2c3d"
VALUE = "pA5s-w0rd!Qz71"


def fingerprints(values: Iterable[str]) -> list[int]:
    """What `Fingerprints.scala` makes of values."""
    found = dict.fromkeys(
        _fingerprint(pattern.text) for value in values for text in texts(value) for pattern in patterns(text)
    )
    return list(found)


def _fingerprint(text: str) -> int:
    for window, bits in ((8, 24), (4, 12), (2, 6)):
        pieces = [
            run[at : at + window] for run in re.findall("[A-Za-z0-9]+", text[:512]) for at in range(len(run))
        ]
        if whole := [piece for piece in pieces if len(piece) == window]:
            piece = max(
                whole,
                key=lambda each: sum(bool(re.search(kind, each)) for kind in ("[a-z]", "[A-Z]", "[0-9]")),
            )
            digest = hashlib.sha256((SALT + piece).encode()).digest()
            return window << 32 | int.from_bytes(digest[:4], "big") >> (32 - bits)
    return 0


class Jvm:
    """Ours: what the driver's JVM answers."""

    def __init__(self, values: Iterable[str], *, declared: bool = False) -> None:
        self.registry = Registry()
        self.given = list(values)
        (self.registry.declare if declared else self.registry.register)(self.given)
        self.asked: list[str] = []
        self.ended = False
        self.elsewhere = Elsewhere(self.places)
        self.elsewhere.add(
            SALT, fingerprints(value for value in self.given if self.registry.generation(value) == 0)
        )

    def places(self, text: str, record: bool, goes_on: bool) -> tuple[list[tuple[int, int]], int] | None:
        self.asked.append(text)
        if self.ended:
            return None
        waits = len(self.registry.split(text)[1]) if goes_on else 0
        return self.registry._find(text, record=record), waits

    def python(self, *own: str) -> Registry:
        """The registry of a Python process that holds no value but its own."""
        python = Registry()
        python.declare(own)
        python.mask_too(self.elsewhere)
        return python


def test_every_case_is_masked_as_by_the_engine() -> None:
    answers = {
        case["name"]: Jvm(case["values"]).python().redact(case["text"], record=case.get("record", False))
        for case in CASES
    }
    assert answers == {case["name"]: case["answer"] for case in CASES}


@pytest.mark.parametrize("name", CANARIES)
def test_no_writing_of_a_value_passes_unasked(name: str) -> None:
    jvm = Jvm([CANARIES[name]], declared=True)
    python = jvm.python()
    writings = [write(CANARIES[name]) for write in (*ENCODINGS.values(), *LAYERS.values())]
    # Two layers of escapes, each with the one beside it.
    stacks = itertools.pairwise(LAYERS.values())
    writings += [outer(inner(CANARIES[name])) for inner, outer in stacks if len(CANARIES[name]) < 100]
    for writing in [CANARIES[name], *writings]:
        text = f"before {writing} after"
        assert python.redact(text) == jvm.registry.redact(text)
        assert MASK in python.redact(text)


def test_a_text_without_a_fingerprint_needs_no_question() -> None:
    jvm = Jvm([VALUE])
    python = jvm.python()
    for number in range(100):
        text = f"row {number} of a table: {number * 7919} at 10.0.0.{number}, shop_orders"
        assert python.redact(text) is text
    assert jvm.asked == []
    long = "words of a long text " * 5000
    assert python.redact(long) is long
    assert jvm.asked == [long], "to search a long text costs less there"


def test_a_value_without_letters_in_a_row_is_asked_about_always() -> None:
    python = Jvm(["!@#$%^&*-=_+"]).python()
    assert python.redact("a !@#$%^&*-=_+ b") == f"a {MASK} b"


def test_no_value_is_in_what_is_held() -> None:
    jvm = Jvm([VALUE])
    held = repr(vars(jvm.elsewhere)) + repr(jvm.python())
    assert all(piece not in held for piece in re.findall("[A-Za-z0-9]{3,}", VALUE))


def test_a_value_here_that_begins_a_longer_one_there_leaves_no_rest() -> None:
    python = Jvm([f"{VALUE}-and-4n0ther"]).python(VALUE)
    assert python.redact(f"a {VALUE}-and-4n0ther b") == f"a {MASK} b"
    assert python.split(f"a {VALUE}-and-4n0ther b")[0] == f"a {MASK} b"


def test_values_of_two_jvms_are_masked() -> None:
    python = Jvm([VALUE]).python()
    python.mask_too(Jvm(["tR4nsport.Kx93"]).elsewhere)
    assert python.redact(f"{VALUE} tR4nsport.Kx93 x") == f"{MASK} {MASK} x"


def test_a_value_in_pieces_is_masked_for_any_cut() -> None:
    for cut in range(1, len(VALUE)):
        python = Jvm([VALUE]).python()
        first, waiting = python.split(f"a {VALUE[:cut]}")
        second, rest = python.split(f"{waiting}{VALUE[cut:]} b")
        assert first + second + python.redact(rest) == f"a {MASK} b"


def test_of_a_jvm_that_has_ended_each_line_that_may_hold_a_value_is_masked() -> None:
    jvm = Jvm([VALUE])
    python = jvm.python()
    jvm.ended = True
    assert python.redact(f"first\n  x {VALUE} y\r\nlast") == f"first\n{MASK}\r\nlast"
    encoded = ENCODINGS["base64-1"](VALUE)
    assert python.redact(encoded) == MASK
    for case in CASES:
        jvm = Jvm(case["values"])
        jvm.ended = True
        if case["answer"] != case["text"]:
            assert jvm.python().redact(case["text"], record=case.get("record", False)) != case["text"], case[
                "name"
            ]
            for value in case["values"]:
                assert value not in jvm.python().redact(case["text"])


def test_of_a_jvm_that_has_ended_what_is_not_finished_waits() -> None:
    jvm = Jvm([VALUE])
    jvm.ended = True
    for cut in range(1, len(VALUE)):
        python = jvm.python()
        first, waiting = python.split(f"a {VALUE[:cut]}")
        assert first in ("a ", "")
        assert python.redact(f"{waiting}{VALUE[cut:]}\n") == f"{MASK}\n"
    assert jvm.python().split("a prompt: ") == ("a prompt: ", "")


def test_fingerprints_may_come_while_others_look() -> None:
    jvm = Jvm([VALUE])
    python = jvm.python()
    faults: list[str] = []
    end = threading.Event()

    def look() -> None:
        number = 0
        while not end.is_set():
            number += 1
            if python.redact(f"word{number} {VALUE}") != f"word{number} {MASK}":
                faults.append("shown or withheld")

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(300):
        jvm.elsewhere.add(SALT, [window << 32 | number for window in (8, 4, 2)])
    end.set()
    for thread in threads:
        thread.join()
    assert faults == []


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> tuple[SimpleNamespace, Registry]:
    """This process's link to a JVM of ours, and its registry."""
    jvm, calls = Jvm([VALUE]), []

    def answer(text: str, _record: bool, _goes_on: bool) -> str:
        calls.append(os.getpid())
        text = json.loads(text)
        units = [len(text[:at].encode("utf-16-le")) // 2 for span in jvm.registry.spans(text) for at in span]
        return json.dumps({"found": units, "beginning": 0})

    prints = fingerprints([VALUE])
    api = SimpleNamespace(
        fingerprints=lambda start: json.dumps({"values": 1, "salt": SALT, "prints": prints[start:]}),
        places=answer,
    )
    registry = Registry()
    monkeypatch.setattr(driver_jvm, "REGISTRY", registry)
    driver_jvm._Jvm(object(), api).learn()
    return SimpleNamespace(calls=calls, api=api), registry


def test_a_text_outside_the_basic_plane_is_masked_where_the_value_is(
    learned: tuple[SimpleNamespace, Registry],
) -> None:
    _, registry = learned
    assert registry.redact(f"\U0001d55c {VALUE} \U0001d55c!") == f"\U0001d55c {MASK} \U0001d55c!"


def _in_a_child(registry: Registry, answers: multiprocessing.SimpleQueue[str]) -> None:
    answers.put(registry.redact(f"no value here\nx {VALUE} y"))


def test_a_forked_child_masks_without_its_parents_socket(learned: tuple[SimpleNamespace, Registry]) -> None:
    link, registry = learned
    assert registry.redact(f"x {VALUE} y") == f"x {MASK} y"
    before = len(link.calls)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_in_a_child, args=(registry, answers))
    child.start()
    assert answers.get() == f"no value here\n{MASK}"
    child.join()
    assert child.exitcode == 0
    assert len(link.calls) == before


def test_a_jvm_that_fails_to_answer_counts_as_one_that_has_ended(
    learned: tuple[SimpleNamespace, Registry],
) -> None:
    link, registry = learned
    for answer in ("", "{}", '{"found": [0], "beginning": 0}'):
        link.api.places = lambda *_, answer=answer: answer
        assert registry.redact(f"before\nx {VALUE} y") == f"before\n{MASK}"

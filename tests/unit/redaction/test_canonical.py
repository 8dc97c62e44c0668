"""One canonical form: the cases of both engines, the property they stand for, and what adding a value costs."""

from __future__ import annotations

import json
import threading
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkconfig.redaction import MASK, WITHHELD, Registry
from sparkconfig.redaction.canonical import forms
from sparkconfig.redaction.windows import Windows, raw
from support.machines import limits

CASES = Path(__file__).resolve().parents[2] / "conformance" / "redaction"
INTRODUCERS = ["", "\\", "\\\\", "%", "%2", "&", "&amp", "\\x", "\\u00", "+", "C:\\"]
LAYERS = [lambda text: json.dumps(text)[1:-1], lambda text: quote(text, safe=""), escape]


def cases(name: str) -> list[dict]:
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


def masked(values: list[str], text: str) -> str:
    registry = Registry()
    registry.register(values)
    return registry.redact(text)


@pytest.mark.parametrize("case", cases("reports"), ids=lambda case: f"{case['tool']}: {case['name']}")
def test_what_users_of_other_maskers_have_reported(case):
    assert masked(case["values"], case["text"]) == case["answer"]


@pytest.mark.parametrize("name", ["layers", "introducers"])
def test_a_value_is_found_under_layers_and_beside_introducers(name):
    missed = [case for case in cases(name) if MASK not in masked(case["values"], case["text"])]
    assert not missed


@pytest.mark.parametrize("case", cases("given_up"), ids=lambda case: case["name"])
def test_what_was_given_up_has_a_reason_and_is_not_masked(case):
    assert case["reason"]
    assert masked(case["values"], case["text"]) != case["old_answer"]


@limits(60)
@given(
    value=st.builds(
        str.__add__,
        st.from_regex(r"[a-zA-Z0-9]{4,8}", fullmatch=True),
        st.text("\\'\"&%+=/ ;<>é鍵aZ07xun", min_size=4, max_size=12).map(lambda text: f"{text.strip()}Qz71"),
    ),
    introducer=st.sampled_from(INTRODUCERS),
    layers=st.lists(st.sampled_from(LAYERS), max_size=3),
    behind=st.booleans(),
)
def test_each_value_behind_and_before_each_introducer_under_each_layer(value, introducer, layers, behind):
    text = introducer + value if behind else value + introducer
    for layer in layers:
        text = layer(text)
    assert MASK in masked([value], f"at {text} end")


@limits(100)
@given(text=st.text("\\'\"&%+=/ ;<>é鍵aZ07xun#-\U0001d55c", max_size=40))
def test_places_in_every_form_lead_back_into_the_text_in_order(text):
    for form in forms(text):
        places = [form.raw(at) for at in range(len(form.text) + 1)]
        assert places == sorted(places)
        assert places[-1] == len(text)
        assert form.before is None or len(form.text) <= len(form.before.text)


def test_a_value_ages_out_after_many_generations_and_a_day_but_not_while_it_is_answered():
    now = [0.0]
    registry = Registry(clock=lambda: now[0])
    registry.declare(["declared-secret-1"])
    old = [f"old-secret-value-{number}" for number in range(4)]
    registry.register([*old, "kept-secret-value-2\nshared-line-of-both"], generation=1)
    registry.register(["kept-secret-value-2\nshared-line-of-both"], generation=2)
    now[0] = 90_000.0
    registry.register(["kept-secret-value-2\nshared-line-of-both"], generation=900)
    assert registry.redact(" ".join(old)) == " ".join([MASK] * 4), "too few generations"
    registry.register(["kept-secret-value-2\nshared-line-of-both"], generation=1002)
    assert registry.redact(" ".join(old)) == " ".join(old)
    assert registry.redact("kept-secret-value-2 shared-line-of-both declared-secret-1") == " ".join(
        [MASK] * 3
    )
    assert len(registry) == 2


def test_adding_a_value_touches_what_the_value_has_and_nothing_else(monkeypatch):
    """Counted, not timed: as many needles with 10 values known as with 5,000."""
    from sparkconfig.redaction.search import Search

    added = []
    add = Search.add
    monkeypatch.setattr(Search, "add", lambda self, needle: (added.append(needle), add(self, needle))[1])
    registry = Registry()
    counts = []
    for many in (10, 5_000):
        registry.register(f"tenant-{many}-{number:05d}-Qz71" for number in range(many))
        registry.redact("-")
        added.clear()
        registry.register([f"the-one-{many:05d}-more-Qz71"])
        registry.redact("-")
        counts.append(len(added))
    assert counts[0] == counts[1] < 40


def test_adding_waits_for_no_needles_and_a_search_has_those_of_all_values(monkeypatch):
    registry = Registry()
    making, go_on = threading.Event(), threading.Event()

    def slow(text):
        making.set()
        assert registry.redact("of a finalizer") == WITHHELD, (
            "it has no needles while its own thread makes some"
        )
        go_on.wait(30)
        return [text]

    monkeypatch.setattr("sparkconfig.redaction.registry.texts", slow)
    registry.register(["first-secret-value-1"], generation=1)
    thread = threading.Thread(target=registry.redact, args=("something",))
    thread.start()
    assert making.wait(30)
    try:
        registry.register(["second-secret-value-2", "third-secret-value-3"], generation=1)
        registry.forget(["third-secret-value-3"])
        assert len(registry) == 2
    finally:
        go_on.set()
        thread.join()
    shown = "first-secret-value-1 second-secret-value-2 third-secret-value-3"
    assert registry.redact(shown) == f"{MASK} {MASK} third-secret-value-3"
    registry.forget(["first-secret-value-1"])
    assert registry.redact(shown) == f"first-secret-value-1 {MASK} third-secret-value-3"


@pytest.mark.parametrize("full", ["registry.needles", "search.Beginnings.add", "search.Windows.add"])
def test_a_value_whose_needles_could_not_be_made_is_tried_again(full, monkeypatch):
    def fails(*_):
        raise MemoryError

    registry = Registry()
    registry.register(["first-secret-value-1"])
    with monkeypatch.context() as patch:
        patch.setattr(f"sparkconfig.redaction.{full}", fails)
        assert registry.redact("a first-secret-value-1") == WITHHELD
    assert registry.redact("a first-secret-value-1") == f"a {MASK}"


def test_texts_are_searched_while_values_are_added_in_another_thread():
    registry = Registry()
    registry.register(["first-secret-value-1"])
    done = threading.Event()

    def add():
        for number in range(3_000):
            registry.register([f"other-{number:06d}-'\"\\Qz71"])
            if done.is_set():
                return

    thread = threading.Thread(target=add)
    thread.start()
    try:
        answers = {registry.redact('"a first-secret-value-1\\n" and more \\"') for _ in range(3_000)}
    finally:
        done.set()
        thread.join()
    assert answers == {f'"a {MASK}\\n" and more \\"'}
    assert registry.faults == 0
    assert WITHHELD not in answers


@limits(60)
@given(
    known=st.lists(st.text("abQ7é鍵=\\", min_size=1, max_size=40), min_size=1, max_size=6, unique=True),
    before=st.text("abQ7é鍵=", max_size=12),
)
def test_windows_are_found_at_every_place(known, before):
    windows = [Windows(8, 8), Windows(8, 4), Windows(4, 4), Windows(4, 1), Windows(1, 1)]
    for each in known:
        for one in (one for one in windows if one.least <= len(each)):
            one.add(each)
            one.add(each)
            assert (len(before), len(each)) in one.find(raw(before + each + before))
            assert (len(before), len(each)) not in one.find(raw(before + each[:-1]))


def test_texts_of_one_script_are_told_apart():
    windows = Windows(8, 8)
    windows.add("пароль-ключ-семь")
    assert not list(windows.find(raw("совсем другой текст без него " * 9)))

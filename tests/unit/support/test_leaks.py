"""The search for leaks must find a value in every disguise, or its zeros mean nothing."""

import base64
import html
import itertools
import json
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

import pytest

from leaks.values import CANARIES, ENCODINGS, LAYERS
from support.leaks import LeakFinder

VALUE = "k3y&<\"'+/%Zq9xW4 é"


def as_javascript(text: str) -> str:
    return "".join(char if char.isalnum() else f"\\x{ord(char):02x}" for char in text)


FORMS = [
    VALUE,
    escape(VALUE),
    escape(escape(VALUE)),
    html.escape(VALUE),
    "".join(char if char.isalnum() else f"&#{ord(char)};" for char in VALUE),
    json.dumps(VALUE),
    json.dumps(json.dumps(VALUE)),
    json.dumps(VALUE, ensure_ascii=False),
    json.dumps(html.escape(VALUE)),
    as_javascript(VALUE),
    quote(VALUE),
    quote_plus(VALUE),
    quote(quote(VALUE)),
    *(base64.b64encode(b"x" * offset + VALUE.encode() + b" tail").decode() for offset in range(3)),
    base64.urlsafe_b64encode(VALUE.encode()).decode(),
    VALUE.encode().hex(),
]


@pytest.mark.parametrize("form", FORMS)
def test_finds_each_form_once(form):
    text = f"before {form} after".encode()

    assert LeakFinder([VALUE]).count(text) == 1


def test_finds_each_form_among_many_values_in_a_long_text():
    finder = LeakFinder([VALUE, *(f"another-value-{number:05d}" for number in range(500))])
    for form in FORMS:
        assert finder.count(f"{'a line of a log; ' * 3000}{form} after".encode()) == 1, form


# Without a letter or digit there is nothing that stays the same under all of them.
@pytest.mark.parametrize("name", sorted(CANARIES.keys() - {"symbols"}))
def test_finds_canaries_under_every_layer(name):
    finder = LeakFinder([CANARIES[name]])
    for inner, outer in itertools.product(LAYERS, repeat=2):
        text = f"before {LAYERS[outer](LAYERS[inner](CANARIES[name]))} after"
        assert finder.count(text.encode()) == 1, f"{inner}, then {outer}"


@pytest.mark.parametrize("name", CANARIES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_finds_canaries_in_every_encoding(name, encoding):
    text = f"before {ENCODINGS[encoding](CANARIES[name])} after"
    assert LeakFinder([CANARIES[name]]).count(text.encode()) == 1


@pytest.mark.parametrize(
    "text", ["", "k3y", "${sealed:shop:password}", VALUE[:-1], "*********(redacted)", VALUE.upper()]
)
def test_finds_nothing_in_other_texts(text):
    assert LeakFinder([VALUE]).count(text.encode()) == 0


def test_counts_all_values():
    finder = LeakFinder(["first-value", "second-value"])

    assert finder.count(b"first-value, second-value, first-value") == 3


@pytest.mark.parametrize("gap", [0, 1, 100, 300, 350, 400, 700, 2000])
def test_counts_each_of_many_places(gap):
    forms = [VALUE, html.escape(VALUE), quote(quote(VALUE)), json.dumps(json.dumps(VALUE))]
    text = ("-" * gap).join(form for form in forms * 3).encode()

    assert LeakFinder([VALUE]).count(text) == 12


def test_a_long_stack_of_escapes_between_its_letters_is_found_too():
    value = "k3yLongest&&&&&&&&&&&&&&tail"
    text = value.replace("&", "&amp;" + "amp;" * 40)

    assert LeakFinder([value]).count(f"{'.' * 5000}{text}{'.' * 5000}".encode()) == 1

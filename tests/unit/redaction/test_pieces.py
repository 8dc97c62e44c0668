"""Texts that come in pieces: what waits for its rest, for how long, and what that costs."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from sparkconfig.redaction import MASK, Registry
from sparkconfig.redaction.registry import Unfinished

VALUE = "pA5s-w0rd!Qz71"
FOREIGN = "pä5swörd-鍵-Qz71"
STREAMS = json.loads(
    (Path(__file__).parents[2] / "conformance/redaction/streams.json").read_text(encoding="utf-8")
)
LONG = "".join(f"{i * i * 7919:06x}kQzR/+~?" for i in range(60))


def streamed(registry: Registry, pieces: Iterable[str], most: int = 1 << 14) -> str:
    """What a stream shows of these pieces, of which no more than ``most`` characters may wait."""
    shown, waiting = [], Unfinished()
    for piece in pieces:
        more, waiting = waiting.then(registry, waiting.held + piece, last=piece.endswith("\n"))
        shown.append(more)
        assert len(waiting.held) <= most
    return "".join([*shown, waiting.then(registry, waiting.held, last=True)[0]])


def registry_of(*values: str) -> Registry:
    registry = Registry()
    registry.declare(values)
    return registry


@pytest.mark.parametrize("value", [VALUE, FOREIGN])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("comma", [", ", ","])
def test_a_list_of_bytes_waits_from_where_a_value_may_begin(value, signed, comma):
    registry = registry_of(value)
    octets = [octet - 256 if signed and octet > 127 else octet for octet in value.encode()]
    before = f"say [1{comma}255{comma}"
    written = comma.join(map(str, octets))
    for cut in range(1, len(written)):
        shown, waiting = registry.split(before + written[:cut])
        assert shown == before, cut
        assert registry.redact(f"{waiting}{written[cut:]}{comma}7] end") == f"{MASK}{comma}7] end", cut


def test_what_follows_an_encoding_that_was_cut_is_shown_once_the_value_cannot_go_on():
    registry = registry_of(LONG)
    blob = base64.b64encode(LONG.encode() + bytes(range(256)) * 400).decode()
    shown = streamed(registry, (blob[at : at + 64] for at in range(0, len(blob), 64)), most=2 * len(LONG))
    encoded = len(LONG) * 4 // 3
    assert shown.startswith(MASK)
    assert blob.endswith(shown.removeprefix(MASK))
    assert len(blob) - encoded - 4 < len(shown.removeprefix(MASK)) <= len(blob) - encoded


def test_an_encoding_that_comes_in_many_pieces_is_searched_a_few_times(monkeypatch):
    registry = registry_of(LONG)
    searched = 0
    split = Registry.split

    def counting(self, text):
        nonlocal searched
        searched += len(text)
        return split(self, text)

    monkeypatch.setattr(Registry, "split", counting)
    written = base64.b64encode(LONG.encode()).decode()
    assert streamed(registry, f"say {written} end").replace("=", "") == f"say {MASK} end"
    # Each piece while little waits, and then when it has grown by an eighth.
    assert searched < 1024**2 / 2 + 20 * len(written)


def test_a_line_of_one_value_after_the_other_goes_on_to_be_shown():
    shown = streamed(registry_of("x" * 12), ["x" * 5000] * 40)
    assert set(shown.split(MASK)) == {""}


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_a_stream_shows_no_value_wherever_it_is_cut(case):
    registry = Registry()
    registry.register(case["values"])
    assert streamed(registry, case["pieces"]) == case["answer"]


_PERCENT = "".join(f"%{octet:x}" for octet in b"plainSecret77")


@pytest.mark.parametrize(
    "text",
    [
        "C:" + "\\" * 300_000,
        "\\" * 300_000 + "u0061",
        "\\\\u0061" * 40_000,
        "&amp;" * 50_000,
        "%25" * 100_000,
        _PERCENT * 3_000,
        "a={" * 50_000,
    ],
    ids=["backslashes", "an escape behind them", "escapes", "entities", "percent signs", "values", "braces"],
)
def test_a_run_of_signs_takes_linear_time_in_a_text_and_in_a_value(text):
    # In a process of its own: a search that takes quadratic time can be ended from outside only.
    code = (
        "import sys; from sparkconfig.redaction import Registry, forms; r = Registry()\n"
        "r.register(['plainSecret77']); text = sys.stdin.read(); forms.texts(text); print(len(r.redact(text)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True, timeout=30
    )
    assert int(done.stdout) == len(text.replace(_PERCENT, MASK))

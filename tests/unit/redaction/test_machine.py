"""A registry that learns values while texts pass, whole and in pieces, beside a model that decodes whole texts."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from fuzz.redaction_model import leaks, may_be_masked
from leaks.values import ENCODINGS, LAYERS
from sparkconfig.redaction import MASK, WITHHELD, Registry
from support.machines import limits

SIGNS = st.sampled_from([*"\\'\"&%+=/ \n;<>`]}é鍵:aZ07xun-#\U0001d55c", "amp", "\\\\", "&amp;", "%25"])
NOISE = st.lists(SIGNS, max_size=8).map("".join)
VALUES = st.builds(
    lambda before, core, after: before + core + after,
    NOISE,
    st.from_regex(r"[a-zA-Z0-9]{8,12}", fullmatch=True),
    NOISE,
).filter(lambda value: value not in MASK)
WRITINGS = st.lists(st.sampled_from(sorted(LAYERS)), max_size=2)


class Texts(RuleBasedStateMachine):
    """What was registered once stays masked, in every text that comes after."""

    def __init__(self) -> None:
        super().__init__()
        self.registry = Registry()
        self.values: list[str] = []

    @rule(value=VALUES)
    def learn(self, value: str) -> None:
        self.registry.declare([value])
        self.values.append(value)
        # An odd backslash at the end stays: it may belong to a quote behind it.
        assert self.registry.redact(value) in (MASK, f"{MASK}\\")

    @precondition(lambda self: self.values)
    @rule(which=st.integers(0, 9), layers=WRITINGS, before=NOISE, after=NOISE, cut=st.floats(0, 1))
    def show(self, which: int, layers: list[str], before: str, after: str, cut: float) -> None:
        """A value in a text, under up to two layers of escapes, in one piece and in two."""
        written = self.values[which % len(self.values)]
        for layer in layers:
            written = LAYERS[layer](written)
        text = before + written + after
        answer = self.registry.redact(text)
        assert MASK in answer
        assert all(written not in part for part in answer.split(MASK))
        assert not leaks(answer.split(MASK), self.values)
        at = int(cut * len(text))
        shown, rest = self.registry.split(text[:at])
        more, last = self.registry.split(rest + text[at:])
        streamed = shown + more + self.registry.redact(last)
        assert not [value for value in self.values if any(value in part for part in streamed.split(MASK))]

    @precondition(lambda self: self.values)
    @rule(which=st.integers(0, 9), encoding=st.sampled_from(sorted(ENCODINGS)), times=st.integers(1, 3))
    def show_encoded(self, which: int, encoding: str, times: int) -> None:
        """Also several times without a gap."""
        value = self.values[which % len(self.values)]
        written = ENCODINGS[encoding](value * times)
        answer = self.registry.redact(f"<{written}>")
        assert MASK in answer
        assert max(map(len, answer.split(MASK))) < 12, "most of the encoded text is still there"

    @rule(text=NOISE)
    def show_nothing(self, text: str) -> None:
        answer = self.registry.redact(text)
        assert answer != WITHHELD
        assert answer is text or may_be_masked(text, self.values)


TestTexts = Texts.TestCase
TestTexts.settings = limits(12)

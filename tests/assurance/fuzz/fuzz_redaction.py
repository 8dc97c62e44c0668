"""Fuzz redaction: both engines answer the same, nothing that is a writing of a value is left, the rest is.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_redaction -max_total_time=60
"""

import re

import atheris

with atheris.instrument_imports(include=["sparkconfig.redaction"]):
    from sparkconfig.redaction.canonical import forms
    from sparkconfig.redaction.forms import worth_registering
    from sparkconfig.redaction.registry import MASK, WITHHELD, Registry

from fuzz import redaction_model as model
from fuzz.jvm import Jvm
from fuzz.start import fuzz
from leaks.values import ENCODINGS, LAYERS

WORDS = r"""amp quot 25 5c ab Q7 \u005c \\ &amp; &#39; %25 %5C '' "" \x5c \134 &lt; \n ... …"""
SIGNS = (*"\\'\"&%+= /\n;<>`]}é鍵\U0001d55c:abZQ07xun#\t-[,.@?", *WORDS.split(), MASK[:12])
LAYER_NAMES = sorted(LAYERS)
ENCODING_NAMES = sorted(ENCODINGS)
PADDING = "kQ7'xZ0b"  # a value that is shorter would not be registered


def text_of(given, longest):
    return "".join(
        SIGNS[byte % len(SIGNS)] for byte in given.ConsumeBytes(given.ConsumeIntInRange(0, longest))
    )


def value_of(given):
    """A value that is worth registering; most have some letters in a row, as real ones do."""
    value = text_of(given, 12)
    if given.ConsumeIntInRange(0, 3):
        at = given.ConsumeIntInRange(0, len(value))
        value = (
            value[:at]
            + "".join("abQZ07xk"[byte % 8] for byte in given.ConsumeBytes(given.ConsumeIntInRange(4, 12)))
            + value[at:]
        )
    value += PADDING[len(value) :]
    value = re.sub("(?i)%5c", r"\g<0> ", value)  # as `joined` does it
    # What is left of a value when its own escapes are undone may be too short to be looked for.
    return value if all(worth_registering(form.text) for form in forms(value)) else value + PADDING


def piece_of(given, values):
    """A piece of a text, and whether it is a writing of a value."""
    kind = given.ConsumeIntInRange(0, 5)
    if kind < 2:
        return text_of(given, 10), False
    value = given.PickValueInList(values)
    if kind == 2:
        return value[: given.ConsumeIntInRange(0, len(value))], False
    if kind == 3:
        return ENCODINGS[given.PickValueInList(ENCODING_NAMES)](value), False
    written = value
    for _ in range(given.ConsumeIntInRange(0, 2)):
        written = LAYERS[given.PickValueInList(LAYER_NAMES)](written)
    return written, True


def joined(pieces):
    """One after the other; nobody can tell whose escape a backslash begins right before what is escaped twice."""
    text = ""
    for piece in pieces:
        text += (" " if text.endswith(("\\", "%5C", "%5c")) else "") + piece
    return text


def check_with(jvm):
    def check(data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        values = [value_of(given) for _ in range(given.ConsumeIntInRange(1, 3))]
        # A value inside the mask masks nothing of masks.
        values = [value for value in values if value not in MASK] or [PADDING]
        pieces = [piece_of(given, values) for _ in range(given.ConsumeIntInRange(1, 4))]
        text = joined(piece for piece, _ in pieces)
        cut = given.ConsumeBool() and given.ConsumeIntInRange(0, len(text))
        python = Registry()
        python.declare(values)
        jvm.register(values)
        answer = python.redact(text)
        (theirs,) = jvm.redact([text])
        shown = ascii((values, text))
        assert WITHHELD not in (answer, theirs), shown
        # Where writings of values touch each other, an engine may see one where the other sees two: both hide the same.
        # The JVM undoes no escape that no encoder writes, such as a backslash before a letter in the middle of a value.
        same = merged(answer) == merged(theirs) or model.repeats(values)
        assert same or not model.leaks(theirs.split(MASK), values), (
            shown,
            ascii(answer),
            ascii(theirs),
        )
        rest = answer.split(MASK)
        for value in values:
            assert all(value not in part for part in rest), (shown, ascii(answer))
        for piece, whole in pieces:
            if whole and piece not in MASK:
                assert all(piece not in part for part in rest), (shown, ascii(piece), ascii(answer))
        assert not model.leaks(rest, values), (shown, ascii(answer))
        assert answer == text or model.may_be_masked(text, values), (shown, ascii(answer))
        if cut:
            check_stream(python, jvm, values, text, cut)

    return check


def merged(answer):
    """The answer with one mask for several in a row."""
    return re.sub(f"(?:{re.escape(MASK)})+", MASK, answer)


def check_stream(python, jvm, values, text, cut):
    """What a stream shows of a text that comes in two pieces."""
    shown = ascii((values, text, cut))
    (ours,) = [len(rest) for _, rest in [python.split(text[:cut])]]
    if MASK not in text and python.redact(text[:cut]) == text[:cut]:
        (theirs,) = jvm.beginnings([text[:cut]])
        assert ours == theirs or not text[:cut].isascii(), (shown, ours, theirs)
    first, waiting = python.split(text[:cut])
    second, last = python.split(waiting + text[cut:])
    answer = first + second + python.redact(last)
    for value in values:
        assert all(value not in part for part in answer.split(MASK)), (shown, ascii(answer))


if __name__ == "__main__":
    fuzz(check_with(Jvm()))

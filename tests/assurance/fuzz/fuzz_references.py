"""Fuzz KIP-297: the scanner agrees with Kafka's expression, and what was replaced is never scanned again.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_references -max_total_time=60
"""

import sys

import atheris

with atheris.instrument_imports():
    from sparkconfig._base.text import shorten
    from sparkconfig.language.references import replace, scan

from fuzz.models import references as model
from fuzz.text import text_of

MODEL_LIMIT = 120  # Kafka's expression takes cubic time


def check(data: bytes) -> None:
    text = text_of(data)
    found = scan(text)
    if len(text) <= MODEL_LIMIT:
        assert [tuple(reference) for reference in found] == model(text), ascii(text)
    position = 0
    for reference in found:
        assert position <= reference.start < reference.end <= len(text)
        assert text[reference.start : reference.start + 2] == "${"
        assert text[reference.end - 1] == "}"
        position = reference.end
    assert replace(text, found, [None] * len(found)) == text
    same = [text[reference.start : reference.end] for reference in found]
    assert replace(text, found, same) == text
    filled = replace(text, found, ["${p:k}"] * len(found))
    assert filled.count("${p:k}") >= len(found)
    assert shorten(text).isprintable()


def main() -> None:
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

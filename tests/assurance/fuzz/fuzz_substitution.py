"""Fuzz KIP-269: the scanner agrees with the model, and evaluation ends in a result or in an error by name.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_substitution -max_total_time=60
"""

import logging
import sys

import atheris

with atheris.instrument_imports():
    from sparkconfig import Secret
    from sparkconfig.errors import SubstitutionError
    from sparkconfig.substitution import (
        REDACTED,
        Allowlists,
        Command,
        Malformed,
        RedactableObject,
        SubstitutableValues,
        SubstituterType,
        SubstituterTypeHelper,
        iter_segments,
        parse,
        referenced_keys,
        sibling_texts,
    )

from fuzz.models import segments as model
from fuzz.text import text_of

MODEL_LIMIT = 2000


class Echo(SubstituterType):
    def do_substitution(self, kind, modifiers, identifier, values):
        found = values.get_substitution_result(identifier)
        return RedactableObject(identifier) if found is None else found


class Helped(SubstituterTypeHelper):
    def retrieve_result(self, kind, identifier, redact, flags, arguments, values):
        return RedactableObject(len(identifier)) if identifier else None


def shape(text):
    out = []
    for segment in iter_segments(text):
        if isinstance(segment, Command):
            out.append(("cmd", segment.type, segment.modifiers, segment.identifier))
        elif isinstance(segment, Malformed):
            out.append(("bad", segment.raw))
        else:
            out.append(segment)
    return out


def check(data: bytes) -> None:
    half, third = len(data) // 2, len(data) * 3 // 4
    texts = {"a": text_of(data[:half]), "b": text_of(data[half:third]), "c": Secret(text_of(data[third:]))}
    for text in (texts["a"], texts["b"]):
        assert parse(text).segments or not text
        if len(text) <= MODEL_LIMIT:
            assert shape(text) == model(text), ascii(text)
        referenced_keys(text)

    def make(values):
        return SubstitutableValues(
            values,
            environ={"p": "$[keyValue=a]"},
            sysprops={"p": "", "a": " "},
            allow=Allowlists(file_paths=[]),
            definitions={"echoSubstituterType": Echo, "helpedSubstituterType": Helped},
        )

    def ask(values, key):
        try:
            return values.get_substitution_result(key, required=True)
        except SubstitutionError as error:
            if error.__cause__ is not None:
                raise
            return None

    one, two = make(texts), make(texts)
    forward = {key: ask(one, key) for key in "abc"}
    backward = {key: ask(two, key) for key in "cba"}
    assert forward == backward, ascii(texts)
    secret = forward["c"]
    if secret is not None:
        assert secret.redacted
        assert secret.display == REDACTED
    if "$[" not in texts["a"]:
        assert forward["a"] == RedactableObject(texts["a"])
    part = {**sibling_texts(texts["a"], texts), "a": texts["a"]}
    assert ask(make(part), "a") == forward["a"], ascii(texts)


def main() -> None:
    logging.disable(logging.CRITICAL)
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

import itertools
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from leaks.values import CANARIES, ENCODINGS, LAYERS
from sparkconfig.redaction import MASK, WITHHELD, Registry, worth_registering
from sparkconfig.redaction.deep import redact_deep

ROOT = Path(__file__).resolve().parents[3]
SCALA = ROOT / "jvm-shim" / "src" / "main" / "scala" / "io" / "sparkconfig" / "redaction" / "engine"


@pytest.fixture(scope="module")
def registry():
    registry = Registry()
    registry.declare(CANARIES.values())
    return registry


@pytest.mark.parametrize("name", CANARIES)
def test_every_layer_and_stack_of_escapes(registry, name):
    for stack in [(), *itertools.product(LAYERS, repeat=1), *itertools.product(LAYERS, repeat=2)]:
        if name in ("long", "regex", "sql", "percent") and len(stack) > 1:
            continue
        text = CANARIES[name]
        for layer in stack:
            text = LAYERS[layer](text)
        answer = registry.redact(f"before {text} after")
        if name == "edges":  # of the signs at its ends some may stay
            assert answer.startswith("before "), stack
            assert MASK in answer, stack
            assert "canary" not in answer, stack
        else:
            assert answer == f"before {MASK} after", f"{name}: {stack}"


def test_a_long_value_that_was_cut():
    registry = Registry()
    value = "".join(f"{i * i * 7919:06x}kQzR" for i in range(60))
    registry.register([value, "-" * 100 + "rule" + "-" * 100])
    assert (
        registry.redact(f"invalid literal: '{value[:200]}") == f"invalid literal: '{MASK * 3}{value[192:200]}"
    )
    assert registry.redact(value) == MASK
    assert registry.redact("-" * 90) == "-" * 90


@pytest.mark.parametrize("name", CANARIES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(registry, name, encoding):
    answer = registry.redact(f"before {ENCODINGS[encoding](CANARIES[name])} after")
    assert MASK in answer
    assert len(answer) < len("before  after") + len(MASK) + 12


@pytest.mark.parametrize("name", CANARIES)
def test_json_stays_json(registry, name):
    value = CANARIES[name]
    text = json.dumps({"a": value, "b": [f"x{value}", f"\n{value}\\", f'\\"{value}"']})
    answer = registry.redact(text)
    assert MASK in answer
    assert registry.redact(answer) is answer
    json.loads(answer)


CASES = json.loads((ROOT / "tests" / "conformance" / "redaction" / "cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases_that_both_engines_pass(case):
    registry = Registry()
    registry.register(case["values"])
    assert registry.redact(case["text"]) == case["answer"]
    assert (MASK in case["answer"]) == (not case["name"].startswith("not: "))


@pytest.mark.parametrize("ellipsis", ["...", "\u2026"])
def test_a_beginning_before_an_ellipsis_is_masked_wherever_the_text_is_cut(ellipsis):
    registry = Registry()
    registry.register(["canaryPlain7Qz41"])
    text = f"say canaryPlain7Q{ellipsis} end"
    for cut in range(len(text)):
        shown, waiting = registry.split(text[:cut])
        assert shown + registry.redact(waiting + text[cut:]) == f"say {MASK}{ellipsis} end", cut
    # Seven characters are too few, and so is a sentence's end.
    assert registry.split("say canaryP..") == ("say canaryP..", "")
    assert registry.split("the end.") == ("the end.", "")


LONG = "".join(f"{i * i * 7919:06x}kQzR/+" for i in range(60))
SHORT = "pA5s-w0rd!Qz71"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_is_masked_wherever_the_text_is_cut(encoding):
    written = ENCODINGS[encoding](LONG)
    registry = Registry()
    registry.register([LONG])
    whole = len(registry.redact(f"say {written} end").replace(MASK, ""))
    for cut in range(1, len(written), max(1, len(written) // 24)):
        shown, waiting = registry.split(f"say {written[:cut]}")
        assert shown.startswith("say ")
        more, last = registry.split(f"{waiting}{written[cut:]} end")
        answer = (shown + more + registry.redact(last)).replace(MASK, "")
        # A character beside a match may stay: it holds a few bits.
        assert len(answer) <= whole + 2, cut


@pytest.mark.parametrize(
    "text", ["choose one of [1, 2, 3]", "choose [y/n", "at 12:01:02", "[300, 9", "[1 9", "a:b"]
)
def test_prompts_with_numbers_appear(text):
    registry = Registry()
    registry.register([SHORT])
    assert registry.split(text) == (text, "")


def test_text_without_a_value_is_the_same_object(registry):
    text = "nothing to see " * 10
    assert registry.redact(text) is text
    assert Registry().redact(text) is text


def test_old_generations_stay():
    registry = Registry()
    registry.register(["first-generation-1"], generation=1)
    registry.register(["second-generation-2", "first-generation-1"], generation=2)
    assert registry.redact("first-generation-1 second-generation-2") == f"{MASK} {MASK}"
    assert len(registry) == 2
    assert "first" not in repr(registry)


def test_short_and_common_values_need_a_declaration():
    registry = Registry()
    for value in ("a", "1234567", "password", " textarea ", "spark.app.name"):
        assert not worth_registering(value)
        registry.register([value])
    assert len(registry) == 0
    registry.declare(["abc", ""])
    assert registry.redact("<abc>") == f"<{MASK}>"


def test_overlaps_and_prefixes():
    registry = Registry()
    registry.register(["overlapAAA111", "overlapAAA111222", "111222tail333", MASK[:9], f"x{MASK}y"])
    assert registry.redact("overlapAAA111222tail333") == MASK
    assert registry.redact(f"{MASK} x{MASK}y") == f"{MASK} {MASK}"


def test_ten_thousand_values():
    registry = Registry()
    registry.register(f"tenant-password-{i:05d}-x" for i in range(10_000))
    text = " ".join(f"tenant-password-{i:05d}-x tenant-password-{i:05d}-y" for i in range(0, 10_000, 50))
    assert registry.redact(text).count(MASK) == 200


def test_a_fault_withholds_the_text(monkeypatch):
    registry = Registry()
    registry.register(["some-secret-value-1"])

    def broken(*_):
        raise MemoryError

    monkeypatch.setattr("sparkconfig.redaction.registry.replace", broken)
    assert registry.redact("a some-secret-value-1") == WITHHELD
    assert registry.faults == 1


def test_both_languages_have_one_mask():
    for name in ("Mask", "Withheld"):
        found = re.search(rf'val {name} = "(.*)"', (SCALA / "Redactor.scala").read_text(encoding="utf-8"))
        assert found.group(1) == {"Mask": MASK, "Withheld": WITHHELD}[name]


HOOKED = """
import logging, sys
from sparkconfig import redaction
value = "hooked-secret-<value>-7"
redaction.install()
redaction.install()
class Json(logging.Formatter):
    def format(self, record):
        text = f"{record.msg} {record.args} {getattr(record, 'context', None)}"
        return text + (self.formatException(record.exc_info) if record.exc_info else "") + (record.exc_text or "")
logging.basicConfig(format="%(message)s")
other = logging.getLogger("other")
handler = logging.StreamHandler()
handler.setFormatter(Json())
other.addHandler(handler)
logging.warning("untouched %s", "line")
redaction.register([value])
logging.warning("argument %s", value)
other.warning("extra", extra={"context": {"deep": [value, 1]}})
try:
    raise ValueError(value)
except ValueError:
    other.exception("caught")
class Broken(Exception):
    def __str__(self):
        raise OSError(value)
sys.stdout.buffer.write(b"\\xff bytes " + value.encode() + b"\\n")
from sparkconfig.secret import Secret
print(Secret("revealed-secret-8!").reveal())
assert "pyspark" not in sys.modules
try:
    raise KeyError(value)
except KeyError as error:
    raise Broken() from error
"""


def test_hooks_cover_logs_and_tracebacks():
    done = subprocess.run(
        [sys.executable, "-c", HOOKED],
        capture_output=True, text=True, errors="surrogateescape", check=False,
        env={"PYTHONPATH": str(ROOT / "python")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "hooked-secret" not in done.stderr + done.stdout
    assert done.stdout == f"\udcff bytes {MASK}\n{MASK}\n"
    assert "untouched line" in done.stderr
    for seen in (
        f"argument {MASK}",
        f"ValueError: {MASK}",
        "KeyError",
    ):
        assert seen in done.stderr
    assert f"'deep': ['{MASK}', 1]" in done.stderr


LATE = """
from sparkconfig import redaction
redaction.install()
redaction.register(["late-secret-value"])
class Late:
    def __del__(self):
        print("late", "late-secret-value")
late = Late()
"""


def test_what_is_printed_while_python_ends():
    done = subprocess.run(
        [sys.executable, "-c", LATE],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT / "python")},
    )  # fmt: skip
    # By then Python has taken apart what searches, or not yet.
    assert done.stdout.rstrip() in (f"late {MASK}", WITHHELD)


def test_records_without_a_value_are_passed_on_as_they_are(registry, monkeypatch):
    from sparkconfig.redaction import deep
    from sparkconfig.redaction.sinks import logging as logging_sink

    # Tests before this one may have left values of their own in the process's registry.
    for module in (deep, logging_sink):
        monkeypatch.setattr(module, "REGISTRY", registry)
    record = logging.makeLogRecord({"msg": "%s and %d", "args": ("text", 5), "context": {"a": [1, "b"]}})
    assert logging_sink._safe_record(record) is record


PIECES = """
import sys
from sparkconfig import redaction
redaction.install()
values = ["s3cret-<piece>'s-71", "zweites Geheimnis ä", "third.one/Kx93"]
redaction.register(values)
for value in values:
    for writing in (value, value.replace("'", "''"), value.encode("unicode_escape").decode(), value.encode().hex()):
        for at in range(1, len(writing)):
            for out in (sys.stdout, sys.stderr):
                out.write("[" + writing[:at])
                out.flush()
                out.write(writing[at:] + "]")
                out.flush()
        for char in writing:
            sys.stdout.buffer.write(char.encode())
            sys.stdout.flush()
        print(flush=True)
raw = values[1].encode()
for at in range(1, len(raw)):
    sys.stdout.buffer.write(raw[:at])
    sys.stdout.flush()
    sys.stdout.buffer.write(raw[at:] + b"\\n")
print("Continue? [y/N] ", end="", flush=True)
sys.stdin.readline()
print("an end that could be a beginning: s3cr", end="")
"""


def test_a_value_that_is_written_in_pieces_is_masked_for_any_cut_and_a_prompt_appears():
    process = subprocess.Popen(
        [sys.executable, "-c", PIECES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "python"), "PYTHONUTF8": "1"},
    )  # fmt: skip
    shown = b""
    while not shown.endswith(b"Continue? [y/N] "):
        shown += process.stdout.read(1)
    rest, errors = process.communicate(b"y\n")
    assert process.returncode == 0, "the program itself failed"
    assert rest == b"an end that could be a beginning: s3cr"
    for output in (shown, errors):
        text = output.decode()
        masks = text.replace(MASK, "").replace("\n", "").replace("Continue? [y/N] ", "")
        assert set(masks) == {"[", "]"}
    assert shown.decode().count(MASK) > 200


def test_deep_containers_are_cut_and_other_objects_are_the_callers_to_show():
    class Odd:
        pass

    odd, shown = Odd(), []
    assert redact_deep([["a", [["b"]]], odd], deepest=2) == [["a", ["<list>"]], odd]
    assert redact_deep({"k": (odd,)}, other=lambda each: shown.append(each) or "shown") == {"k": ["shown"]}
    assert shown == [odd]

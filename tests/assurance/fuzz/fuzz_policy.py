"""Fuzz policy documents: they are read as a slow model reads them, or refused with a line; rules decide as it does.

PYTHONPATH=tests:tests/assurance python -m fuzz.fuzz_policy -max_total_time=60
"""

import json

import atheris

with atheris.instrument_imports():
    from sparkconfig.errors import ConfigurationError
    from sparkconfig.policy.builtin.rules import RulesPolicy
    from sparkconfig.policy.request import OverrideRequest
    from sparkconfig.policy.rules import document, rulebook

from fuzz import policy_model as model
from fuzz.start import fuzz
from fuzz.text import text_of

TOKENS = (
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        "\\",
        "\n",
        " ",
        "//",
        "/*",
        "*/",
        "#",
        "=",
        ".",
        "'",
        "[[",
        "]]",
        '"""',
    ),
    *(
        '{"rules":[',
        '{"key":"spark.x","type":"',
        '"},',
        "]}",
        '"type"',
        '"rules"',
        '"references"',
        '"tables"',
    ),
    *(
        '"spark_conf.spark.x"',
        '{"type":"fixed","value":"a"}',
        '"values":["a","b"]',
        '"minValue":1',
        '"maxValue":"2g"',
    ),
    *(
        '"pattern":"a+"',
        '"provider":"vault"',
        '"version":1',
        "NaN",
        "Infinity",
        "1e999",
        "-0",
        "true",
        "null",
        "\\u0061",
    ),
    *(
        "rules",
        "key",
        "type",
        "fixed",
        "\\u0000",
        "\\ud800",
        "\x00",
        "é",
        "\u2028",
        "\t",
        "\r",
        '"a":',
        '"a":1,',
    ),
)
KEYS = [
    "spark.acme.x",
    "spark.acme.y",
    "spark.acme.*",
    "spark.*",
    "*",
    "Spark.Acme.X",
    "acme.*.z",
    "*.x",
    "acme.q.z",
]
NAMES = [
    "spark.acme.x",
    "spark.acme.y",
    "SPARK.ACME.X",
    "acme.q.z",
    "acme.z",
    "spark.other",
    "spark.acme.xx",
    "x.x",
]
VALUES = ["a", " a ", "A", "b", "true", "TRUE", "false", "", "ab", "${vault:p:k}", None]
TEXTS = ["a", "b", "A", "true", "False", " b ", "c"]
TYPES = ["fixed", "forbidden", "unlimited", "allowlist", "blocklist"]
JOBS = ["batch", "streaming", "sql", "connect", "interactive"]
SCOPES = ["application", "session", "source", "sink", "catalog", "hadoop", "worker"]


def check(data: bytes) -> None:
    given = atheris.FuzzedDataProvider(data)
    kind = given.ConsumeIntInRange(0, 3)
    if kind == 0:
        check_decision(given)
    elif kind == 1:
        check_toml(text_of(given.ConsumeBytes(len(data)), TOKENS))
    else:
        check_json(text_of(given.ConsumeBytes(len(data)), TOKENS))


def check_json(text: str) -> None:
    try:
        content = model.parse(text)
        whole = isinstance(content, dict)
    except model.RepeatedNameError:
        content, whole = None, False
    except (ValueError, RecursionError):
        content, whole = None, False
    try:
        found = document.parse(text, "p.json")
    except ConfigurationError as error:
        check_message(error)
        found = None
    assert (found is not None) == whole, ascii(text)
    if found is None:
        return
    assert found.data == content, ascii(text)
    assert dict(found.lines) == model.lines(text), ascii(text)
    check_book(found)


def check_toml(text: str) -> None:
    try:
        found = document.parse(text, "p.toml")
    except ConfigurationError as error:
        check_message(error)
        return
    last = text.count("\n") + 1
    assert all(1 <= line <= last or len(text.splitlines()) > last for line in found.lines.values()), ascii(
        text
    )
    check_book(found)


def check_book(found: document.Document) -> None:
    try:
        book = rulebook.load(found)
    except ConfigurationError as error:
        check_message(error)
        return
    policy = RulesPolicy()
    policy.use(book)
    request = OverrideRequest(job_name="j", job_type="batch", props={"spark.x": "a"})
    for value in policy.validate(request):
        assert all(error.isprintable() for error in value.errors)


def check_message(error: ConfigurationError) -> None:
    assert error.__cause__ is None
    text = str(error)
    assert text.replace("\n", "").isprintable(), ascii(text)
    assert len(text) < 20_000


def rule(given: atheris.FuzzedDataProvider) -> dict:
    kind = given.PickValueInList(TYPES)
    made = {"key": given.PickValueInList(KEYS), "type": kind}
    if kind == "fixed":
        made["value"] = given.PickValueInList(TEXTS)
    if kind in ("allowlist", "blocklist"):
        made["values"] = [given.PickValueInList(TEXTS) for _ in range(given.ConsumeIntInRange(1, 3))]
    if given.ConsumeBool():
        made["jobTypes"] = sorted({given.PickValueInList(JOBS) for _ in range(given.ConsumeIntInRange(1, 2))})
    if given.ConsumeBool():
        made["scopes"] = sorted({given.PickValueInList(SCOPES) for _ in range(given.ConsumeIntInRange(1, 2))})
    if kind not in ("fixed", "forbidden") and "*" not in made["key"] and given.ConsumeBool():
        made["isOptional"] = given.ConsumeBool()
    return made


def check_decision(given: atheris.FuzzedDataProvider) -> None:
    rules = [rule(given) for _ in range(given.ConsumeIntInRange(1, 6))]
    text = json.dumps({"rules": rules}, indent=1)
    policy = RulesPolicy()
    policy.use(rulebook.load(document.parse(text, "p.json")))
    for _ in range(given.ConsumeIntInRange(1, 4)):
        job, scope = given.PickValueInList(JOBS), given.PickValueInList(SCOPES)
        name, value = given.PickValueInList(NAMES), given.PickValueInList(VALUES)
        request = OverrideRequest(job_name="j", job_type=job, scope=scope, props={name: value})
        (found,) = policy.validate(request)
        expected = model.allowed(rules, job, scope, _in_scope(name, scope), value)
        assert (not found.errors) == bool(expected), (rules, job, scope, name, value, found.errors)
        assert policy.names(request, name) == (expected is not None)


def _in_scope(name: str, scope: str) -> str:
    # In this scope every name is a Hadoop key.
    return name if scope != "hadoop" or name.lower().startswith("spark.") else f"spark.hadoop.{name}"


if __name__ == "__main__":
    fuzz(check)

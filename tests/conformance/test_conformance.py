"""Every shared conformance case through the adapter: the answers of Kafka and of KIP-269's author."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance import adapter

HERE = Path(__file__).parent

# Stricter on purpose: id to the fields of our answer. See the adapter's docstring.
STRICTER = {"FP-40": {"data": {"x": "${file:@ROOT@/sl/a.properties:user}"}}}

# For these the error's class must be right; for the first three its message, too.
WITH_MESSAGE = {"ConfigException", "ConnectException", "IllegalStateException"}
WITH_CLASS = {*WITH_MESSAGE, "IOException"}


def _cases() -> Iterator[object]:
    for path in sorted(HERE.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            if case.get("runnable", True) and case["op"] not in adapter.UNSUPPORTED:
                yield pytest.param(case, id=case["id"])


def _walk(item: object, change: Callable[[str], str]) -> object:
    if isinstance(item, str):
        return change(item)
    if isinstance(item, list):
        return [_walk(part, change) for part in item]
    if isinstance(item, dict):
        return {change(key): _walk(value, change) for key, value in item.items()}
    return item


def _create(root: Path, files: list[dict[str, object]]) -> None:
    for spec in files:
        path = root / spec["path"]
        (path if spec.get("dir") else path.parent).mkdir(parents=True, exist_ok=True)
        if "symlink" in spec:
            path.symlink_to(spec["symlink"].replace("@ROOT@", str(root)))
        elif "base64" in spec:
            path.write_bytes(base64.b64decode(spec["base64"]))
        elif not spec.get("dir"):
            path.write_bytes(spec["text"].replace("@ROOT@", str(root)).encode())


def _answer(case: dict[str, object], root: Path) -> dict[str, object]:
    given = _walk(case["input"], lambda text: text.replace("@ROOT@", str(root)))
    try:
        answer = adapter.run(case["op"], given, case.get("process_env") or {})
    except Exception as error:
        kind = type(error).__name__
        answer = {
            "ok": False,
            "error": {"class": adapter.ERROR_NAMES.get(kind, kind), "message": str(error)},
        }
    else:
        answer = {**answer, "ok": True}
    return _walk(answer, lambda text: text.replace(str(root), "@ROOT@"))


def _same_error(expected: dict[str, str], got: dict[str, str], *, any_message: bool = False) -> bool:
    wanted = expected["class"].rpartition(".")[2]
    if wanted not in WITH_CLASS:
        return True
    messages = any_message or wanted not in WITH_MESSAGE or got["message"] == expected["message"]
    return adapter.ERROR_NAMES.get(got["class"], got["class"]) == wanted and messages


def _check_recommended(case: dict[str, object], answer: dict[str, object]) -> None:
    results = {result["key"]: result for result in answer["results"]}
    for key, wanted in case["recommended"].items():
        fields = [field for field in ("ok", "value", "redacted") if field in wanted]
        if not wanted["ok"]:
            fields = ["ok"]
        assert {field: results[key].get(field) for field in fields} == {
            field: wanted[field] for field in fields
        }


def _accept_errors(answer: dict[str, object], expected: dict[str, object]) -> None:
    """Errors inside of steps and results follow the same rule as whole answers."""
    for field in ("steps", "results"):
        for got, wanted in zip(answer.get(field, []), expected.get(field, []), strict=True):
            if "error" in got and "error" in wanted and _same_error(wanted["error"], got["error"]):
                got["error"] = wanted["error"]


@pytest.mark.parametrize("case", list(_cases()))
def test_case(case: dict[str, object], tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    _create(root, case.get("files", []))
    answer = _answer(case, root)
    expected = case["expected"]
    if case["id"] in STRICTER:
        assert answer | STRICTER[case["id"]] == answer
        assert answer != expected, "no longer stricter: take it out of STRICTER"
    elif case.get("recommended"):
        _check_recommended(case, answer)
    elif not expected["ok"]:
        assert not answer["ok"]
        loose = bool(case.get("order_dependent"))
        assert _same_error(expected["error"], answer["error"], any_message=loose), answer["error"]
    elif case.get("order_dependent"):
        assert (answer["ok"], answer.get("data")) == (True, expected.get("data"))
    else:
        _accept_errors(answer, expected)
        assert answer == expected


def test_only_what_does_not_apply_is_left_out() -> None:
    """``create_topic_request`` is about Kafka topics; everything else must be built."""
    assert {"create_topic_request"} <= adapter.UNSUPPORTED
    assert not adapter.UNSUPPORTED & adapter.OPS.keys()

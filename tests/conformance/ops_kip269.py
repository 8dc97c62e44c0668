# ruff: noqa: A002 - the names of the KIP
"""The op ``kip269`` of the conformance cases, through the public API.

The cases name Java classes as custom types; their Python counterparts, with the answers that the cases' "about"
describes, stand here. No case is known by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from conformance.ops_kip297 import environment
from sparkconfig import Secret
from sparkconfig.substitution import (
    FROM_VALUES,
    RedactableObject,
    SubstitutableValues,
    SubstituterType,
    SubstituterTypeHelper,
)

ERROR_NAMES = {"SubstitutionError": "IOException", "ConfigurationError": "ConfigException"}


class EchoType(SubstituterType):
    def do_substitution(self, type, modifiers: Sequence[str], identifier, substitutable_values):
        text = f"{identifier}[{', '.join(modifiers)}]"
        return RedactableObject(text, "redact" in modifiers)


class HelperType(SubstituterTypeHelper):
    def retrieve_result(
        self,
        type,
        identifier,
        redact,
        additional_flags: Set[str],
        additional_args: Mapping[str, str],
        substitutable_values,
    ):
        if identifier == "none":
            return None
        flags = ", ".join(sorted(additional_flags))
        arguments = ", ".join(f"{name}={value}" for name, value in sorted(additional_args.items()))
        return RedactableObject(f"{type}|{identifier}|[{flags}]|{{{arguments}}}", redact)


class IntType(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return RedactableObject(len(identifier.encode("utf-16-le", "surrogatepass")) // 2)


class NullType(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):
        return None


JAVA_CLASSES: dict[str, type] = {
    "oracle.Oracle$EchoType": EchoType,
    "oracle.Oracle$HelperType": HelperType,
    "oracle.Oracle$IntType": IntType,
    "oracle.Oracle$NullType": NullType,
    "java.lang.String": str,
    "java.lang.Object": object,
}
_JAVA_NAMES = {cls: name for name, cls in JAVA_CLASSES.items()}


class _Recording:
    """The underlying map, with the order in which keys are asked for."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = {key: _typed(value) for key, value in values.items()}
        self.reads: list[str] = []

    def get(self, key: str) -> object:
        self.reads.append(key)
        return self.values.get(key)


def _typed(value: object) -> object:
    if isinstance(value, dict) and "$password" in value:
        return Secret(value["$password"])
    if isinstance(value, dict) and "$class" in value:
        return JAVA_CLASSES[value["$class"]]
    return value


def _object_type(item: object) -> str:
    kinds = {
        str: "String",
        bool: "Boolean",
        int: "Integer",
        float: "Double",
        list: "ArrayList",
        type: "Class",
    }
    if isinstance(item, int) and not isinstance(item, bool) and not -(2**31) <= item < 2**31:
        return "Long"
    return next((name for kind, name in kinds.items() if type(item) is kind), "LinkedHashMap")


def _text(result: RedactableObject) -> str:
    if isinstance(result.object, type):
        return f"class {_JAVA_NAMES.get(result.object, result.object.__name__)}"
    return result.value


def run(op: str, case: Mapping[str, object], process_env: Mapping[str, str | None]) -> dict[str, object]:
    """Answer one case; an error of one request is part of the answer."""
    assert op == "kip269"
    underlying = _Recording(case["values"])
    with environment(process_env):
        values = SubstitutableValues(
            underlying,
            prefix=case.get("prefix") or "",
            sysprops=case.get("sysprops") or {},
            definitions=FROM_VALUES,
            load=JAVA_CLASSES.__getitem__,
        )
        results = [_request(values, underlying, request) for request in case["get"]]
    return {
        "results": results,
        "processed_keys": sorted(values.substitution_results),
        "underlying_reads": underlying.reads,
    }


def _request(values: SubstitutableValues, underlying: _Recording, request: object) -> dict[str, object]:
    wanted = request if isinstance(request, dict) else {"key": request}
    key = wanted["key"]
    for name, value in (wanted.get("then_set") or {}).items():
        underlying.values[name] = _typed(value)
    try:
        result = values.get_substitution_result(key, bool(wanted.get("required")))
    except Exception as error:
        kind = type(error).__name__
        return {
            "key": key,
            "ok": False,
            "error": {"class": ERROR_NAMES.get(kind, kind), "message": str(error)},
        }
    if result is None:
        return {"key": key, "ok": True, "exists": False}
    text = _text(result)
    return {
        "key": key,
        "ok": True,
        "exists": True,
        "value": text,
        "redacted": result.redacted,
        "display": "[redacted]" if result.redacted else text,
        "object_type": _object_type(result.object),
    }

"""The JSON Schema of policy documents, for editors: our own form, or a cluster policy of Databricks."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from sparkconfig.policy.rules import schema

__all__ = ["text"]

_CONF = r"^spark_conf\."


def text() -> str:
    """Return the schema as the file ``conf/policies/policy.schema.json`` holds it."""
    own = TypeAdapter(schema.Own).json_schema(by_alias=True)
    element: dict[str, Any] = TypeAdapter(schema.Element).json_schema(by_alias=True)
    own["minProperties"] = 1
    definitions = {**own.pop("$defs"), **element.pop("$defs")}
    # Databricks' other attributes, such as node types, are left alone.
    databricks = {
        "description": "A cluster policy of Databricks: its spark_conf rules.",
        "type": "object",
        "patternProperties": {_CONF: element},
    }
    # Not anyOf: an editor would say no more than that neither form fits.
    top = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A policy document of sparkconfig",
        "type": "object",
        "if": {
            "not": {
                "anyOf": [
                    {"propertyNames": {"not": {"pattern": _CONF}}},
                    *({"required": [name]} for name in own["properties"] if not name.startswith("$")),
                ]
            }
        },
        "then": databricks,
        "else": own,
    }
    lines = [f"  {json.dumps(name)}: {_short(each)}" for name, each in sorted(definitions.items())]
    return _short(top).removesuffix("}") + ', "$defs": {\n' + ",\n".join(lines) + "\n}}\n"


def _short(node: Any) -> str:  # noqa: ANN401 - parsed JSON
    return json.dumps(_bare(node), sort_keys=True)


def _bare(node: Any, *, named: bool = False) -> Any:  # noqa: ANN401 - parsed JSON
    """Without the titles, which repeat names, and the null of a field that is left out."""
    if isinstance(node, list):
        return [_bare(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {
        name: _bare(each, named=name in ("properties", "patternProperties"))
        for name, each in node.items()
        if named
        or (not (name == "title" and isinstance(each, str) and "policy" not in each) and name != "default")
    }
    if not named and {"type": "null"} in found.get("anyOf", ()):
        others = [each for each in found.pop("anyOf") if each != {"type": "null"}]
        return {**found, **(others[0] if len(others) == 1 else {"anyOf": others})}
    return found

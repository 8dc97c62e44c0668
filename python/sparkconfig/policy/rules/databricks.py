"""What a cluster policy of Databricks has that only Databricks understands: its export, and ``{{secrets/...}}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkconfig.policy.rules.document import Document, parse
from sparkconfig.settings.placeholders import is_databricks_secret

__all__ = ["holds_databricks_secret", "unwrapped", "without_databricks_secrets"]

# A pattern that only the text of one would match.
_IN_PATTERN = re.compile(r"\{.{0,8}secrets")
_WRAPPERS = ("definition", "policy_family_definition_overrides")


def unwrapped(document: Document) -> Document:
    """Return the policy inside what Databricks' API and command line export: ``{"definition": "..."}``.

    Raises:
        ConfigurationError: the text inside is not JSON.
    """
    for name in _WRAPPERS:
        inner = document.data.get(name)
        if isinstance(inner, str):
            return parse(inner, f"{document.name} ({name})")
        if isinstance(inner, Mapping) and "type" not in inner:
            lines = {place[1:]: line for place, line in document.lines.items() if place[:1] == (name,)}
            return Document(document.name, inner, lines)
    return document


def holds_databricks_secret(element: Any) -> bool:  # noqa: ANN401 - parsed JSON
    """Whether a value of an element is ``{{secrets/SCOPE/KEY}}``, or has one in it, or its pattern wants one."""
    return isinstance(element, dict) and (
        any(map(_is_secret, _values(element))) or _IN_PATTERN.search(str(element.get("pattern"))) is not None
    )


def without_databricks_secrets(element: Any) -> Any:  # noqa: ANN401 - parsed JSON
    """Return an element that any value passes where only Databricks could compare.

    A cluster's confs are expanded before the driver starts: the text is no value to put in place, and none to compare.
    """
    if not holds_databricks_secret(element):
        return element
    if _is_secret(element.get("defaultValue")):
        element = {key: value for key, value in element.items() if key != "defaultValue"} | {
            "isOptional": True
        }
    kind, values = element.get("type"), element.get("values")
    kept = [each for each in values if not _is_secret(each)] if isinstance(values, list) else []
    if kind in ("blocklist", "blacklist") and kept:
        return {**element, "values": kept}
    if not holds_databricks_secret(element):
        return element
    optional = {"isOptional": True} if kind == "fixed" else {}
    return {key: value for key, value in element.items() if key not in ("value", "values", "pattern")} | {
        "type": "unlimited",
        **optional,
    }


def _values(element: dict[str, Any]) -> list[Any]:
    values = element.get("values")
    return [
        element.get("value"),
        element.get("defaultValue"),
        *(values if isinstance(values, list) else ()),
    ]


def _is_secret(value: object) -> bool:
    return isinstance(value, str) and is_databricks_secret(value)

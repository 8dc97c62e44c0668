"""What a cluster policy of Databricks has that only Databricks understands: its export, and ``{{secrets/...}}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.rules.document import Document, Location, parse
from sparkconfig.settings.placeholders import is_databricks_secret

__all__ = ["holds_databricks_secret", "unwrapped", "without_databricks_secrets"]

# A pattern that only the text of one would match, and how braces are written in patterns.
_IN_PATTERN = re.compile(r"\{.{0,8}secrets")
_OPEN, _CLOSE = (rf"(?:\\?\{each}|\[\{each}\]){{2}}|(?:\\\{each}|\[\{each}\])\{{2\}}" for each in "{}")
_SECRET = re.compile(r"\{\{\s*secrets/[^{}]*\}\}")
_WRITTEN = re.compile(rf"(?:{_OPEN})(?:\\s[*+]|\s)*secrets/.{{0,500}}?(?:{_CLOSE})")
_WRAPPERS = ("definition", "policy_family_definition_overrides")


def unwrapped(document: Document) -> Document:
    """Return the policy inside what Databricks' API and command line export: ``{"definition": "..."}``, or a list.

    Raises:
        ConfigurationError: the text inside is not JSON, or there are several policies.
    """
    listed = document.data.get("policies")
    if isinstance(listed, list):
        policies = [each for each in listed if isinstance(each, Mapping)]
        if len(policies) != 1:
            names = ", ".join(shorten(str(each.get("name", "?")), 40) for each in policies[:9])
            raise ConfigurationError(
                f"the policy {document.name} lists {len(policies)} policies of Databricks ({names}); keep the one that"
                " this cluster has"
            )
        place = ("policies", listed.index(policies[0]))
        return unwrapped(_within(document, place, policies[0]))
    for name in _WRAPPERS:
        inner = document.data.get(name)
        if isinstance(inner, str):
            return parse(inner, f"{document.name} ({name})")
        if isinstance(inner, Mapping) and "type" not in inner:
            return _within(document, (name,), inner)
    return document


def _within(document: Document, place: Location, data: Mapping[str, Any]) -> Document:
    depth = len(place)
    lines = {each[depth:]: line for each, line in document.lines.items() if each[:depth] == place}
    return Document(document.name, data, lines)


def holds_databricks_secret(element: Any) -> bool:  # noqa: ANN401 - parsed JSON
    """Whether a value of an element is ``{{secrets/SCOPE/KEY}}``, or has one in it, or its pattern wants one."""
    return isinstance(element, dict) and (
        any(map(_is_secret, _values(element))) or _IN_PATTERN.search(str(element.get("pattern"))) is not None
    )


def without_databricks_secrets(element: Any) -> Any:  # noqa: ANN401 - parsed JSON
    """Return an element that lets any value pass where only Databricks could compare, and what stands beside it counts.

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
    bare = {
        key: value for key, value in element.items() if key not in ("value", "values", "pattern")
    } | optional
    pattern = _pattern_of(element)
    return bare | ({"type": "unlimited"} if pattern is None else {"type": "regex", "pattern": pattern})


def _pattern_of(element: dict[str, Any]) -> str | None:
    """A pattern for what a cluster's conf is after Databricks has expanded it; None: it may be anything."""
    kind = element.get("type")
    if kind == "fixed":
        return _expanded(str(element.get("value")))
    if kind in ("allowlist", "whitelist"):
        each = [_expanded(str(value)) for value in element.get("values") or ()]
        return None if None in each else "|".join(f"(?:{pattern})" for pattern in each)
    pattern = str(element.get("pattern"))
    beside = _WRITTEN.sub("", pattern)
    if (
        kind != "regex"
        or beside == pattern
        or not re.search(r"\w", re.sub(r"\\[AzZbQE]|\(\?[:imsx]+", "", beside))
    ):
        return None
    return _WRITTEN.sub(lambda found: _any(pattern[: found.start()], pattern[found.end() :]), pattern)


def _expanded(text: str) -> str | None:
    """A pattern for a text with secrets in it; None: it is one secret as a whole."""
    if _SECRET.fullmatch(text.strip()):
        return None
    pattern, at = "", 0
    for found in _SECRET.finditer(text):
        pattern += re.escape(text[at : found.start()]) + _any(text[: found.start()], text[found.end() :])
        at = found.end()
    return pattern + re.escape(text[at:])


def _any(before: str, after: str) -> str:
    """A pattern for a secret: it ends no text that it stands in, and before the host of a URL no part of its place."""
    quote = before[-1:] if before[-1:] in ("'", '"') else ""
    place = "://" in before and re.match(r"[^/?#]*@", after)
    ends = quote or ("\\s&;\"'/?#@" if place else "\\s&;\"'")
    return rf"(?:\{{\{{\s*secrets/[^{{}}]*\}}\}}|[^{ends}]+)"


def _values(element: dict[str, Any]) -> list[Any]:
    values = element.get("values")
    return [
        element.get("value"),
        element.get("defaultValue"),
        *(values if isinstance(values, list) else ()),
    ]


def _is_secret(value: object) -> bool:
    return isinstance(value, str) and is_databricks_secret(value)

"""Secrets in the value of a conf or an option, which has a key."""

from __future__ import annotations

import re

from sparkconfig.detection.shapes import Span, entropy, shapes
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.expressions import is_literal
from sparkconfig.settings.placeholders import is_placeholder, is_whole_placeholder
from sparkconfig.settings.secret_names import could_name_secret

__all__ = ["BY_KEY", "find"]

BY_KEY = "its key names a secret"
"""The shape of a value that is a secret because of its key."""

_SHORTEST_RANDOM = 16
_RANDOM_BITS = 3.5
_RANDOM = re.compile(r"[A-Za-z0-9+/=_~.!@#$%^&*-]+")
_NAMES_OF_SQL_AND_PATHS = re.compile(
    r"[/\\]|://|^[a-z_.]+$|^[A-Z_.]+$|^[\w]+(\.[\w]+){2,}$|^[a-z]+(\.[A-Za-z]\w*)+$"
)
# What a constant or a table of names holds: "fs.s3a.secret.key".
_NAME_OF_CONF = re.compile(
    r"[a-z][a-z-]*(?:\.[a-z0-9_-]+)*\.(?:key|secret|password|passwd|token|credentials?|[a-z]+-(?:key|password|token))"
)
_JAAS_WHOLE = re.compile(r"\s*[\w.$]+\s+(required|requisite|sufficient|optional)\b")


def find(key: str, value: str) -> list[Span]:
    """Return where secrets are in ``value``, left to right; empty for references, placeholders and switches.

    Args:
        key: the conf or option that holds it; may be empty.
        value: its text.
    """
    if not value.strip() or is_whole_placeholder(value):
        return []
    if value.isupper() and value.lower() in ("name", key.lower()):
        return []  # --password PASSWORD: how it is used
    inner = [span for span in shapes(value, prose=False) if is_literal(value[span.start : span.end])]
    if _JAAS_WHOLE.match(value) or any("address" in span.shape for span in inner):
        return inner
    if not is_literal(value) or is_placeholder(value) or _NAME_OF_CONF.fullmatch(value):
        return inner
    if conf_warnings.is_secret(key, value) or _is_random(key, value):
        # Blanks at the ends are not part of it: Spark trims confs.
        start = len(value) - len(value.lstrip())
        reason = BY_KEY if conf_warnings.is_secret(key, value) else "high entropy beside the name of a secret"
        return [Span(start, len(value.rstrip()), reason)]
    return inner


def _is_random(key: str, value: str) -> bool:
    text = value.strip()
    return (
        len(text) >= _SHORTEST_RANDOM
        and could_name_secret(key)
        and _RANDOM.fullmatch(text) is not None
        and _NAMES_OF_SQL_AND_PATHS.search(text) is None
        and any(map(str.isdigit, text))
        and entropy(text) >= _RANDOM_BITS
    )

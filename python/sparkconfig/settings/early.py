"""Confs that no plugin can resolve: Spark reads them before plugins start."""

from __future__ import annotations

import pkgutil
from functools import lru_cache

__all__ = ["advice_if_early", "is_read_early"]


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], tuple[str, ...]]:
    text = pkgutil.get_data("sparkconfig", "data/read_before_plugins.txt") or b""
    lines = [line.strip() for line in text.decode().splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    return (
        frozenset(name for name in names if not name.endswith("*")),
        tuple(name[:-1] for name in names if name.endswith("*")),
    )


def is_read_early(key: str) -> bool:
    """Whether Spark has read this conf before a driver plugin's init runs (measured on 3.5 and 4.3)."""
    exact, prefixes = _names()
    return key in exact or key.startswith(prefixes)


def advice_if_early(key: str) -> str | None:
    """Return why a reference cannot be in a conf that is read early and what to do, or None for other confs."""
    if key.startswith("spark.ssl."):
        return (
            f"{key}: Spark reads it before plugins start. Name a Hadoop credential provider in"
            " spark.ssl.*.credentialProviderPath or the like, or write the value into a file that only Spark reads"
        )
    if is_read_early(key):
        return (
            f"{key}: Spark reads it before plugins start, so a reference here would be used as text."
            " Write the value itself; a secret does not belong in this conf"
        )
    return None

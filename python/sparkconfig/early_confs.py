"""Confs that no plugin can resolve: Spark reads them before plugins start."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

__all__ = ["advice_for", "is_read_early"]

_EXECUTOR_ENV = "spark.executorEnv."


@lru_cache(maxsize=1)
def _names() -> tuple[frozenset[str], tuple[str, ...]]:
    text = resources.files("sparkconfig").joinpath("data/read_before_plugins.txt").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    return (
        frozenset(name for name in names if not name.endswith("*")),
        tuple(name[:-1] for name in names if name.endswith("*")),
    )


def is_read_early(key: str) -> bool:
    """Whether Spark has read this conf before a driver plugin's init runs (measured on 3.5 and 4.3)."""
    exact, prefixes = _names()
    return key in exact or key.startswith(prefixes)


def advice_for(key: str, *, executor_env: bool) -> str | None:
    """Return why a reference cannot stand in this conf and what to do, or None if it can.

    Args:
        key: the Spark conf.
        executor_env: the setting ``spark.config.executor.env``.
    """
    if key.startswith("spark.ssl."):
        return (
            f"{key}: Spark reads it before plugins start. Name a Hadoop credential provider in"
            " spark.ssl.*.credentialProviderPath or the like, or write the value into a file that only Spark reads"
        )
    if is_read_early(key):
        return (
            f"{key}: Spark reads it before plugins start, so a reference here would be used as text."
            " Write the value itself; a secret does not belong into this conf"
        )
    if key.startswith(_EXECUTOR_ENV) and not executor_env:
        return (
            f"{key}: environment variables of executors show in launch scripts, pod specs, /proc and the master's"
            " page. Read the value where it is used, or accept that with spark.config.executor.env=true"
        )
    return None

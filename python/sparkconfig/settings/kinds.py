"""The types that a setting can have: how its text is read, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from sparkconfig._base.durations import milliseconds
from sparkconfig._base.record import Record
from sparkconfig._base.text import shorten

__all__ = [
    "DURATION",
    "Kind",
    "boolean",
    "choice",
    "count",
    "duration",
    "names",
    "optional_text",
    "patterns",
    "references",
]

T = TypeVar("T")
DURATION = "duration (ms)"


class Kind(Record, Generic[T]):
    """A type of setting: its name for help texts, and ``parse``, which raises ValueError with the reason."""

    name: str
    parse: Callable[[str | None], T]


def duration(*, low: int = 0) -> Kind[int]:
    """Milliseconds, written as Spark writes durations: ``10s``, ``500ms``, or a number of milliseconds."""
    return Kind(DURATION, lambda given: milliseconds(given or "", low))


def count(*, low: int = 0) -> Kind[int]:
    """A whole number."""

    def parse(given: str | None) -> int:
        stripped = (given or "").strip()
        if re.fullmatch(r"-?[0-9]{1,9}", stripped) is None or int(stripped) < low:
            raise ValueError(f"expected a whole number from {low}, got '{shorten(stripped, 40)}'")
        return int(stripped)

    return Kind("number", parse)


def choice(*words: str, optional: bool = False) -> Kind[str | None]:
    """One of ``words``; case does not matter; ``optional`` ones may be unset."""

    def parse(given: str | None) -> str | None:
        if given is None and optional:
            return None
        word = (given or "").strip().lower()
        if word not in words:
            raise ValueError(f"expected one of {', '.join(words)}, got '{shorten(given or '', 40)}'")
        return word

    return Kind(" | ".join(words), parse)


def _boolean(given: str | None) -> bool:
    word = (given or "").strip().lower()
    if word not in ("true", "false"):
        raise ValueError(f"expected true or false, got '{shorten(given or '', 40)}'")
    return word == "true"


def _names(given: str | None) -> tuple[str, ...]:
    parts = [part.strip() for part in (given or "").split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))


def _references(given: str | None) -> tuple[str, ...]:
    """Patterns of references; braces are taken off, as they are often copied along."""
    found = tuple(re.sub(r"^\$\{(.*)\}$", r"\1", name) for name in _names(given))
    for name in found:
        if ":" not in name:
            raise ValueError(f"expected PROVIDER:PATH:KEY, with * for any text, got '{shorten(name, 40)}'")
    return found


def _variables(given: str | None) -> tuple[str, ...]:
    """Names of environment variables; the shim reads them before any Python runs (`OperatorFile.scala`)."""
    found = _names(given)
    for name in found:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", name):
            raise ValueError(
                f"expected names of environment variables, a final * for any text, got '{shorten(name, 40)}'"
            )
        if re.fullmatch(r"PATH|HOME|GCONV_PATH|(LD_|DYLD_|PYTHON|OPENSSL_|SPARK_).*", name):
            raise ValueError(f"'{shorten(name, 40)}' chooses what code runs, so the job's is never kept")
    return found


def _optional_text(given: str | None) -> str | None:
    stripped = (given or "").strip()
    return stripped or None


boolean: Kind[bool] = Kind("true | false", _boolean)
names: Kind[tuple[str, ...]] = Kind("names, separated by commas", _names)
references: Kind[tuple[str, ...]] = Kind("patterns of references, separated by commas", _references)
variables: Kind[tuple[str, ...]] = Kind("names of variables, separated by commas", _variables)
patterns: Kind[tuple[str, ...]] = Kind("patterns, separated by commas", _names)
optional_text: Kind[str | None] = Kind("text", _optional_text)

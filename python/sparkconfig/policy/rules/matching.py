"""The operator's regular expressions on text that a job supplies: they always end in time.

The engine is the ``regex`` package, with a time limit, and not a linear engine such as RE2: policies that were
written for Databricks use Java's syntax, look-ahead included, which RE2 does not know, and such a policy has to
work unchanged. ``regex`` knows nearly all of Java's syntax and looks at its clock while it matches. A match that
takes longer counts as "does not match", and so refuses.
"""

from __future__ import annotations

import time

from sparkconfig.errors import ConfigurationError

__all__ = ["MATCH_SECONDS", "Budget", "Matcher"]

MATCH_SECONDS = 0.1
"""Time limit of one match."""

_MOST_CHARACTERS = 1_000_000


class Budget:
    """The time that all matches of one request may take together: 10,000 properties must not add up."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._left = seconds

    def take(self) -> float:
        """The time limit of the next match."""
        return min(MATCH_SECONDS, self._left)

    def spend(self, seconds: float) -> None:
        """Note that a match took this long."""
        self._left -= seconds


class Matcher:
    """A compiled pattern.

    Raises:
        ConfigurationError: it is not a pattern.
    """

    def __init__(self, pattern: str) -> None:
        import regex

        problem = ""
        try:
            self._compiled = regex.compile(pattern, regex.VERSION0)
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            problem = f"the pattern is not a regular expression: {error}"
        if problem:
            raise ConfigurationError(problem)

    def matches(self, text: str, budget: Budget) -> bool | None:
        """Whether the whole text matches; None: the time was over."""
        limit = budget.take()
        if limit <= 0 or len(text) > _MOST_CHARACTERS:
            return None
        start = time.monotonic()
        try:
            return self._compiled.fullmatch(text, timeout=limit) is not None
        except TimeoutError:
            return None
        finally:
            budget.spend(time.monotonic() - start)

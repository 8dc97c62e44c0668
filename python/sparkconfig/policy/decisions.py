"""Several decisions about one thing, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkconfig.policy.evaluation import Decision


def merged(decisions: Sequence[Decision]) -> Decision:
    """All decisions together: what one of them refuses is refused."""
    first, *others = decisions
    values = list(first.values)
    for other in others:
        values = [
            mine
            if not theirs.errors
            else mine._replace(errors=tuple(dict.fromkeys((*mine.errors, *theirs.errors))))
            for mine, theirs in zip(values, other.values, strict=True)
        ]
    return replace(
        first,
        values=tuple(values),
        violations=tuple(dict.fromkeys(text for d in decisions for text in d.violations)),
        explanation=tuple(dict.fromkeys(item for d in decisions for item in d.explanation)),
        refused=frozenset(name for d in decisions for name in d.refused),
    )

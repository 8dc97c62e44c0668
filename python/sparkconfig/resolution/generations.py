"""What differs between two generations."""

from __future__ import annotations

from collections import deque

__all__ = ["Generations"]

_MOST_GENERATIONS = 256


class Generations:
    """Which entries the last generations changed, so that only these travel."""

    def __init__(self) -> None:
        self._last: deque[tuple[int, frozenset[str] | None]] = deque(maxlen=_MOST_GENERATIONS)

    def add(self, generation: int, differing: frozenset[str] | None) -> None:
        """Remember a generation; None: it can only travel as a whole."""
        self._last.append((generation, differing))

    def between(self, known: int, newest: int) -> set[str] | None:
        """Return the ids whose entries may differ between two generations; None: that is not known."""
        found: set[str] = set()
        count = 0
        for generation, differing in list(self._last):
            if known < generation <= newest:
                if differing is None:
                    return None
                found |= differing
                count += 1
        return found if count == newest - known else None

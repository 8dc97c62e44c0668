"""What a thread is evaluating: for circles, nesting, and who asks for whom."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Running"]


class Running(threading.local):
    """What one thread is doing: a key may be in evaluation on two threads, which is not a circle.

    Attributes:
        active: the keys in evaluation.
        nested: how many evaluations are nested, through custom types.
        current: the key for which a custom type is at work, None outside of one.
    """

    def __init__(self) -> None:
        self.active: set[str] = set()
        self.nested = 0
        self.current: str | None = None

    @contextmanager
    def evaluating(self, key: str) -> Iterator[None]:
        """Set :attr:`current` meanwhile."""
        before, self.current = self.current, key
        try:
            yield
        finally:
            self.current = before

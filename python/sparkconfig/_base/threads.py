"""The threads of this package: each has a name, and none keeps a process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["daemon"]


def daemon(name: str, target: Callable[..., object], *args: object) -> threading.Thread:
    """Return a thread that is not started yet."""
    return threading.Thread(target=target, args=args, name=f"sparkconfig-{name}", daemon=True)

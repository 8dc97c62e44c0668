"""The detectors of detect-secrets, if it is installed (extra ``detect``): tokens of many more services.

Its detectors of single tokens only: those for entropy and keywords know less about Spark's keys than ``literals``
does. Nothing is verified over the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sparkconfig.detection.shapes import Span

__all__ = ["find", "is_installed"]

_UNFIT = frozenset(
    {
        "Base64HighEntropyString",
        "BasicAuthDetector",  # ours, which knows what else is in addresses
        "HexHighEntropyString",
        "IPPublicDetector",
        "KeywordDetector",
        "PrivateKeyDetector",  # finds the heading only
    }
)


def is_installed() -> bool:
    """Whether :func:`find` can find anything."""
    return bool(_plugins())


def find(text: str) -> Iterator[Span]:
    """Return where a detector of detect-secrets finds a token; nothing if the package is not installed."""
    for name, plugin in _plugins():
        for secret in set(plugin.analyze_string(text)):
            if isinstance(secret, str) and secret:
                yield from (Span(*found.span(), name) for found in re.finditer(re.escape(secret), text))


@lru_cache(maxsize=1)
def _plugins() -> tuple[tuple[str, Any], ...]:
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError:
        return ()
    classes: list[Any] = list(get_mapping_from_secret_type_to_class().values())
    return tuple((str(each.secret_type), each()) for each in classes if each.__name__ not in _UNFIT)

"""Regular expressions that are compiled at their first use, since the side process starts with every driver."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

__all__ = ["late"]


class _Late:
    def __init__(self, pattern: Any, flags: int) -> None:  # noqa: ANN401 - text or bytes
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a pattern's own
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what ``re.compile`` does, made when it is first asked."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))

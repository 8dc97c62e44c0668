"""Secrets that are made on demand and live for a short time."""

from __future__ import annotations

import math

from sparkconfig.errors import ProviderUnavailableError
from sparkconfig.providers._kit.params import Param, ParamValues

__all__ = ["DEFAULT_LIFE", "ttl_of"]

DEFAULT_LIFE = Param("default.life", "how long a token lives if the server does not say", default="5m")

_SHARE = 0.75


def ttl_of(seconds: object, values: ParamValues, where: str) -> int:
    """Return after how many milliseconds a new one is made: three quarters of the life.

    Args:
        seconds: the life that the server tells, as a number or its text; None: `default.life` counts.
        values: the params.
        where: names provider and path in errors.

    Raises:
        ProviderUnavailableError: what was made has no life left.
    """
    if seconds is None:
        return int((values.milliseconds("default.life") or 300_000) * _SHARE)
    try:
        life = float(str(seconds))
    except ValueError:
        life = math.nan
    if not life > 0 or math.isinf(life):
        raise ProviderUnavailableError(f"{where}: the server issued a credential without a time to live")
    return max(int(life * 1000 * _SHARE), 1)

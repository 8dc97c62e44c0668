"""Rules about users: whom they concern."""

from __future__ import annotations

from collections.abc import Sequence

from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import OverrideRequest

__all__ = ["concerns_user"]


def concerns_user(users: Sequence[Pattern] | None, request: OverrideRequest, *, allow: bool) -> bool:
    """Whether a rule about ``users`` (None: it is about all) concerns who asks.

    Without an authenticated user an allowing rule does not, and a forbidding rule does: the user could be the one
    whom it names.
    """
    if users is None:
        return True
    if not request.principal:
        return not allow
    return any(pattern.matches(request.principal) for pattern in users)

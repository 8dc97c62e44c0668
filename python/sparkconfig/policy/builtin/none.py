"""The built-in policy ``None`` (KIP-458): no override is allowed."""

from __future__ import annotations

from sparkconfig.policy.base import KeyPolicy
from sparkconfig.policy.request import OverrideRequest

__all__ = ["NonePolicy"]


class NonePolicy(KeyPolicy):
    """No override is allowed; what is not an override stays free."""

    policy_name = "None"

    def allows(self, request: OverrideRequest, name: str) -> bool:  # noqa: ARG002
        """Nothing."""
        return False

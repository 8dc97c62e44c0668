"""The built-in policy ``All`` (KIP-458): every override is allowed."""

from __future__ import annotations

from sparkconfig.policy.base import KeyPolicy
from sparkconfig.policy.request import OverrideRequest

__all__ = ["AllPolicy"]


class AllPolicy(KeyPolicy):
    """Every override is allowed, except what is the operator's alone (``spark.config.*``)."""

    policy_name = "All"

    def allows(self, request: OverrideRequest, name: str) -> bool:  # noqa: ARG002
        """Everything."""
        return True

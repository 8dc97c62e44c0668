"""Override policies: what each type of job may set (KIP-458, KIP-108; docs/policies.md)."""

from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.request import ConfigValue, OverrideRequest, PolicyViolation, ReferenceUse

__all__ = ["ConfigValue", "OverridePolicy", "OverrideRequest", "PolicyViolation", "ReferenceUse"]

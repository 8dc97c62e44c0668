"""Override policies: what each type of job may set (KIP-458, KIP-108; docs/policies.md)."""

from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.request import OverrideRequest, ReferenceUse
from sparkconfig.policy.value import ConfigValue, PolicyViolation

__all__ = ["ConfigValue", "OverridePolicy", "OverrideRequest", "PolicyViolation", "ReferenceUse"]

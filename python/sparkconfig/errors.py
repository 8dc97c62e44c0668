"""Every error that sparkconfig raises, in one hierarchy.

* SparkConfigError
    * ConfigurationError            a setting is wrong (Kafka: ConfigException)
    * UnresolvedReferenceError      references that no provider could answer, all of them in one error
    * ProviderError                 a provider could not answer
        * SecretNotFoundError       "not found": the path or key does not exist
        * AccessDeniedError         "not allowed": credentials, permissions, forbidden paths
        * ProviderUnavailableError  "not reachable": the only kind for which a last good value may still serve
            * ProviderTimeoutError  no answer before the deadline
        * ProviderStateError        used before configure (Kafka: IllegalStateException)
    * SubstitutionError             KIP-269 evaluation failed (its reference implementation: IOException)
    * SealedFileError               a sealed file cannot be read: wrong key, touched bytes, bad format
    * SecretExposureError           a Secret was about to be turned into text; also a TypeError
    * PolicyViolationError          an override is not allowed (KIP-458)
    * AgentError                    the side process, or the bridge to it, failed

No message, cause or context of these errors ever holds a secret value: messages name keys, providers and
paths, and third-party exceptions are dropped (``raise ... from None``), since their text may hold responses.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AccessDeniedError",
    "AgentError",
    "ConfigurationError",
    "PolicyViolationError",
    "ProviderError",
    "ProviderStateError",
    "ProviderTimeoutError",
    "ProviderUnavailableError",
    "SealedFileError",
    "SecretExposureError",
    "SecretNotFoundError",
    "SparkConfigError",
    "SubstitutionError",
    "UnresolvedReferenceError",
]


class SparkConfigError(Exception):
    """Root of all errors of this package."""


class ConfigurationError(SparkConfigError):
    """A setting is missing, malformed or contradicts another; the message names its key.

    Attributes:
        problems: one text for each wrong setting.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        self.problems: tuple[str, ...] = tuple(problems) or (message,)
        super().__init__(message)

    @classmethod
    def of(cls, problems: Sequence[str]) -> ConfigurationError:
        """One error for all problems of a configuration."""
        if len(problems) == 1:
            return cls(problems[0])
        return cls("\n  - ".join([f"{len(problems)} settings are wrong:", *problems]), problems)


class UnresolvedReferenceError(SparkConfigError):
    """One or more references could not be resolved.

    Attributes:
        problems: one text for each problem: the conf key, the reference, the provider and what to do.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        count = len(self.problems)
        head = "1 reference cannot be resolved" if count == 1 else f"{count} references cannot be resolved"
        super().__init__("\n  - ".join([head + ":", *self.problems]))


class ProviderError(SparkConfigError):
    """A provider could not answer; the message names provider and path, never what the store sent."""


class SecretNotFoundError(ProviderError):
    """The path or key does not exist in the store."""


class AccessDeniedError(ProviderError):
    """The store, or the provider's own allowlist, refuses access; a last good value ends at once."""


class ProviderUnavailableError(ProviderError):
    """The store cannot be reached or answers garbage; a last good value may serve until its expiry."""


class ProviderTimeoutError(ProviderUnavailableError):
    """The provider did not answer before the deadline (``spark.config.provider.timeout``)."""


class ProviderStateError(ProviderError):
    """The provider was used before it was configured."""


class SubstitutionError(SparkConfigError):
    """A well-formed ``$[...]`` could not be evaluated (KIP-269: IOException)."""


class SealedFileError(SparkConfigError):
    """A sealed file cannot be used: wrong key, changed bytes, unknown format."""


class SecretExposureError(SparkConfigError, TypeError):
    """A Secret was about to be turned into text, pickled or serialised; call ``.reveal()`` on purpose."""


class PolicyViolationError(SparkConfigError):
    """An override is not allowed by the policy (KIP-458)."""


class AgentError(SparkConfigError):
    """The side process or the bridge to it failed."""

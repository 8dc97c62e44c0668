"""The contract of an override policy (KIP-458, ``ConnectorClientConfigOverridePolicy``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.request import ConfigValue, OverrideRequest, ReferenceUse, StatementItem

__all__ = ["KeyPolicy", "OverridePolicy"]

_Self = TypeVar("_Self", bound="OverridePolicy")


class OverridePolicy(ABC):
    """Decides what jobs may set.

    Life cycle: created without arguments, :meth:`configure` once, any number of calls from any thread,
    :meth:`close` once (also after a configure that failed). Errors name keys and say what to do; they never
    hold a value. A policy that raises from :meth:`validate` refuses everything in that request.

    Attributes:
        policy_name: what it is called; the alias of one that ships with sparkconfig.
        sees_written_names: whether requests hold names as the job spells them, instead of canonical ones.
    """

    policy_name: str = ""
    sees_written_names: bool = False

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Take the policy's own params (``spark.config.override.policy.param.*``) and the operator's defaults.

        Args:
            params: name to text.
            defaults: the confs that the operator's file sets, which jobs may want to override.

        Raises:
            ConfigurationError: a param is missing, unknown or malformed, or a document cannot be read.
        """

    @abstractmethod
    def validate(self, request: OverrideRequest) -> list[ConfigValue]:
        """Evaluate every property of ``request.props``: exactly one ConfigValue each, with its errors."""

    def names(self, request: OverrideRequest, name: str) -> bool:  # noqa: ARG002 - for subclasses
        """Whether the policy has a say about ``name`` even if the operator does not set it.

        Names that are not the operator's, not protected and not named here stay free and are not put into
        requests. The default lets a custom policy see everything; the built-in ones see overrides only.
        """
        return True

    def needs_value(self, request: OverrideRequest, name: str) -> bool:  # noqa: ARG002 - for subclasses
        """Whether the decision about ``name`` depends on its value, so that its references have to be resolved."""
        return True

    def check_reference(self, request: OverrideRequest, use: ReferenceUse) -> tuple[str | None, str]:  # noqa: ARG002
        """Say why this job may not use this reference (None: it may), and which rule decided."""
        return None, ""

    def goes_elsewhere(self, request: OverrideRequest, use: ReferenceUse) -> bool:  # noqa: ARG002
        """Whether the policy binds one of the operator's references to other places than the one in ``request``."""
        return False

    def depends_on_users(self) -> bool:
        """Whether it depends on the user which references may be used."""
        return False

    def evaluates_statements(self, job_type: str) -> bool:  # noqa: ARG002
        """Whether the policy has a say about the statements of such jobs; else it is not asked."""
        return False

    def paths(self, job_type: str) -> tuple[str, ...] | None:  # noqa: ARG002
        """The patterns of paths that such jobs may name, for all users alike; None: any path."""
        return None

    def confs(self, job_type: str) -> tuple[str, ...] | None:  # noqa: ARG002
        """The patterns of confs whose values such jobs see; None: any conf."""
        return None

    def check_statement(
        self,
        request: OverrideRequest,  # noqa: ARG002
        item: StatementItem,  # noqa: ARG002
    ) -> tuple[str | None, str]:
        """Say why this job may not run this, or name it in a statement (None: it may), and which rule decided."""
        return None, ""

    def defaults(self, request: OverrideRequest) -> Mapping[str, str]:  # noqa: ARG002
        """Values that the policy itself puts in place where a job of this kind sets none."""
        return {}

    def required(self, request: OverrideRequest) -> Mapping[str, str]:  # noqa: ARG002
        """Names that a job of this kind must set, and which rule says so."""
        return {}

    def about_missing(self, request: OverrideRequest, name: str) -> str | None:  # noqa: ARG002
        """The operator's own text for a job that does not set the required ``name``; None: there is none."""
        return None

    def close(self) -> None:  # noqa: B027 - optional
        """Release what the policy holds. Called once, also after a failed configure."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class KeyPolicy(OverridePolicy):
    """A policy that looks at names only. Subclasses say their name, and which names they allow."""

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: ARG002
        """Take no params.

        Raises:
            ConfigurationError: there is one.
        """
        if params:
            listed = ", ".join(shorten(name) for name in sorted(params))
            raise ConfigurationError(f"the policy '{self.policy_name}' takes no params, but has: {listed}")

    @abstractmethod
    def allows(self, request: OverrideRequest, name: str) -> bool:
        """Whether a job may override ``name``."""

    def validate(self, request: OverrideRequest) -> list[ConfigValue]:
        """Evaluate every property by its name."""
        decided_by = f"policy {self.policy_name}"
        return [
            ConfigValue(
                name,
                value,
                () if self.allows(request, name) else (refusal(self.policy_name, name, request.scope),),
                decided_by,
            )
            for name, value in request.props.items()
        ]

    def names(self, request: OverrideRequest, name: str) -> bool:  # noqa: ARG002
        """Only overrides are looked at."""
        return False


def refusal(policy: str, name: str, scope: str) -> str:
    """The sentence of Kafka's built-in policies; scope ``connector`` uses Kafka's very words."""
    return f"The '{policy}' policy does not allow '{shorten(name)}' to be overridden in the {scope} configuration."

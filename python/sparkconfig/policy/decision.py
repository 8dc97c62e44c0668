"""The outcome of one check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sparkconfig.policy.value import ConfigValue, PolicyViolation

__all__ = ["Decision", "Explained", "Verdict"]

Verdict = Literal["free", "default", "allowed", "denied"]


class Explained(NamedTuple):
    """Which rule decided about one property or reference.

    Attributes:
        subject: the property, or the reference.
        canonical: the name under which the policy saw it.
        verdict: ``free``: no override; ``default``: the operator's own value; else what the policy said.
        reason: why, for people.
        decided_by: the rule, with its place in the document, or the policy.
    """

    subject: str
    canonical: str
    verdict: Verdict
    reason: str
    decided_by: str


@dataclass(frozen=True)
class Decision:
    """What a job may set.

    Attributes:
        values: one judgement for each property of the request, in its order.
        violations: why it is refused, one text for each problem; empty: it may go on. Names, no values.
        warned: what would have been refused, in mode ``warn``.
        explanation: which rule decided each property and reference.
        defaults: values that the policy puts in place where the job sets none.
        records: what the audit recorded.
        head: the first line of the error.
    """

    values: tuple[ConfigValue, ...] = ()
    violations: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    explanation: tuple[Explained, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)
    records: tuple[Mapping[str, object], ...] = field(default=(), compare=False, repr=False)
    head: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the job may go on."""
        return not self.violations

    @property
    def message(self) -> str | None:
        """The text of the error, or None."""
        return None if self.allowed else str(self._error())

    def raise_if_denied(self) -> None:
        """Raise PolicyViolation with every violation, if there is one."""
        if not self.allowed:
            raise self._error()

    def _error(self) -> PolicyViolation:
        bad = [value for value in self.values if value.errors]
        return PolicyViolation(self.violations, values=bad, head=self.head)

"""What a policy answers: one ConfigValue for each property (Kafka: ``org.apache.kafka.common.config.ConfigValue``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sparkconfig.errors import PolicyViolationError
from sparkconfig.references import shorten

__all__ = ["ConfigValue", "PolicyViolation"]

_MOST = 100


@dataclass(frozen=True)
class ConfigValue:
    """The judgement on one property.

    Attributes:
        name: the property, as the job wrote it.
        value: its value. Never shown by ``repr`` or ``str``; keep it out of messages.
        errors: why it is not allowed; empty: it is allowed.
        decided_by: what decided: a rule with its place in the policy's document, or the policy's name.
        visible: False if the operator hides this property from users (Databricks: ``hidden``).
    """

    name: str
    value: object = field(default=None, repr=False)
    errors: tuple[str, ...] = ()
    decided_by: str = field(default="", compare=False)
    visible: bool = True

    def __post_init__(self) -> None:
        errors = (self.errors,) if isinstance(self.errors, str) else tuple(self.errors)
        object.__setattr__(self, "errors", errors)

    @property
    def allowed(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def with_error(self, error: str, decided_by: str = "") -> ConfigValue:
        """The same judgement with one more error."""
        return replace(self, errors=(*self.errors, error), decided_by=decided_by or self.decided_by)

    def __str__(self) -> str:
        verdict = "; ".join(self.errors) if self.errors else "allowed"
        return f"{shorten(self.name)}: {verdict}"


class PolicyViolation(PolicyViolationError):  # noqa: N818 - the name that KIP-108 gives it
    """Properties, references or a table are not allowed; names keys, never values.

    Attributes:
        values: the judgements with errors (empty for a table).
        problems: one text for each problem.
    """

    def __init__(
        self, problems: Iterable[str], *, values: Sequence[ConfigValue] = (), head: str = ""
    ) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        self.values: tuple[ConfigValue, ...] = tuple(values)
        shown = list(self.problems[:_MOST])
        if len(self.problems) > _MOST:
            shown.append(f"... and {len(self.problems) - _MOST} more")
        super().__init__("\n  - ".join([head + ":", *shown]) if head else "\n".join(shown))

    @classmethod
    def of_text(cls, message: str) -> PolicyViolation:
        """The violation whose text came over a bridge."""
        head, *problems = message.split("\n  - ")
        return cls(problems, head=head.removesuffix(":")) if problems else cls([message])

"""The seam between the resolver and what a text may hold: ``${...}`` alone, or with ``$[...]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from sparkconfig._base.record import Record, field
from sparkconfig.errors import SparkConfigError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import Reference, scan

if TYPE_CHECKING:
    from sparkconfig.substitution import Command

__all__ = ["Evaluated", "Fill", "Language", "PlainLanguage", "own_references"]

Fill = Callable[[str, Sequence[Reference]], tuple[str, list[Reference]]]
"""Replaces a text's references by this round's values; see :meth:`.lookup.Lookups.fill`."""


class Evaluated(Record, frozen=False):
    """An evaluated expression.

    Attributes:
        text: the result; meaningless when there is an error.
        redact: whether a secret is in it.
        changed: whether anything was put in place.
        answered: the references that had a value.
        empty: the references that had none, and are in ``text`` as they are written.
        inert: references inside of ``$[...]`` that is not a substitution: text by the rules, hardly by intent.
        secrets: what KIP-269's ``redact`` and custom types hide, besides the values of the references.
        error: why it could not be evaluated.
    """

    text: str
    redact: bool = False
    changed: bool = False
    answered: list[Reference] = field(default_factory=list)
    empty: list[Reference] = field(default_factory=list)
    inert: list[Reference] = field(default_factory=list)
    secrets: tuple[str, ...] = field(default=())
    error: SparkConfigError | None = None


class Language(Protocol):
    """What a text may hold, under the settings of one application."""

    @property
    def custom(self) -> bool:
        """Whether code of third parties takes part in an evaluation, which may hang."""

    def begin(self) -> Round:
        """What serves one round: it may keep what the round's expressions share."""

    def substitutions(self, text: str) -> list[Command | None]:
        """The ``$[...]`` of a text, for people who ask; None: it is not one and stays as it is."""


class Round(Protocol):
    """Finds what a text needs from providers, and puts the text together when the answers are there."""

    def references(self, expression: Expression) -> Sequence[Reference]:
        """All references that the evaluation may need."""

    def evaluate(self, expression: Expression, references: Sequence[Reference], fill: Fill) -> Evaluated:
        """Evaluate with the answers; never raises for single failures.

        Args:
            expression: what to evaluate.
            references: what :meth:`references` returned for it, so that no text is read twice in a round.
            fill: replaces references by values.
        """


class PlainLanguage:
    """KIP-297 alone."""

    def substitutions(self, text: str) -> list[Command | None]:  # noqa: ARG002
        """``$[`` is text."""
        return []

    @property
    def custom(self) -> bool:
        """There is nothing to evaluate."""
        return False

    def begin(self) -> PlainLanguage:
        """Expressions share nothing."""
        return self

    def references(self, expression: Expression) -> Sequence[Reference]:
        """All references of the text."""
        return own_references(expression.text, expression)

    def evaluate(self, expression: Expression, references: Sequence[Reference], fill: Fill) -> Evaluated:
        """Replace the references by values."""
        text, empty = fill(expression.text, references)
        missing = set(empty)
        answered = [each for each in references if each not in missing] if missing else list(references)
        found = bool(answered)
        return Evaluated(text, redact=found, changed=found, answered=answered, empty=empty)


def own_references(text: str, expression: Expression) -> list[Reference]:
    """The references of ``text`` that are ours to resolve.

    Not what the map's own ``kafka.config.providers`` declares: Kafka's clients resolve them, on the executors.
    """
    found = scan(text)
    if expression.siblings and (owned := kafka_options.declared(expression.siblings)):
        return [reference for reference in found if reference.provider not in owned]
    return found

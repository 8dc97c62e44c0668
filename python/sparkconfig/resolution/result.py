"""What a resolver answers: values, errors, and where each part comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sparkconfig._base.record import Record, field
from sparkconfig.errors import SparkConfigError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.files import StoredFile
from sparkconfig.secret import Secret

__all__ = ["Place", "Resolution", "ResolvedValue", "Source"]

Place = tuple[str, str]
"""Provider name and path: the unit of one ``get``, of one ttl, of one generation."""


class ResolvedValue:
    """The value of an expression.

    Attributes:
        value: a :class:`Secret` if it must be redacted, else plain text.
        redact: whether a secret is in it: a provider's value, or KIP-269's ``redact``.
        secrets: the secrets in it, which redaction masks: the values of its references, and what KIP-269's
            ``redact`` hides. The text around them is not a secret, nor are the values of plain references.
        resolved: whether anything was put in place; False: it is the text that was given.
        files: id to content of the files whose markers are in the value.
    """

    __slots__ = ("files", "redact", "resolved", "secrets", "value")

    def __init__(
        self,
        text: str,
        *,
        redact: bool,
        resolved: bool,
        secrets: tuple[str, ...] | None = None,
        files: Mapping[str, StoredFile] | None = None,
    ) -> None:
        # A secret of unknown parts is masked as a whole.
        self.secrets: tuple[str, ...] = () if not redact else (text,) if secrets is None else secrets
        self.value: Secret | str = Secret(text, self.secrets) if redact else text
        self.redact = redact
        self.files: Mapping[str, StoredFile] = files or {}
        self.resolved = resolved

    def reveal(self) -> str:
        """Return the text itself. Keep it out of logs, messages and plans."""
        return self.value.reveal() if isinstance(self.value, Secret) else self.value

    def __repr__(self) -> str:
        return f"ResolvedValue(redact={self.redact}, resolved={self.resolved})"


class Source(NamedTuple):
    """Where one part of a value comes from (provenance), without the value.

    Attributes:
        conf_key: the key in whose value the reference stands.
        provider: the provider's name.
        provider_class: its class, or None if no such provider is declared.
        path: the path.
        key: the key.
        ttl: milliseconds for which the answer is good, or None.
        generation: number of the resolver's round that read it; what has the same number was requested together.
            None: it has no value.
        problem: why there is no value, or None if there is one.
    """

    conf_key: str | None
    provider: str
    provider_class: str | None
    path: str
    key: str
    ttl: int | None = None
    problem: str | None = None
    generation: int | None = None


class Resolution(Record, frozen=False):
    """The outcome of one round.

    Attributes:
        generation: number of the round.
        values: the expressions that have a value.
        failed: the others, with their errors, which tell "unavailable" from "denied" and "not found".
        ttls: (provider, path) to milliseconds.
        provenance: where each expression's parts come from.
    """

    values: dict[Expression, ResolvedValue] = field(default_factory=dict)
    failed: dict[Expression, list[SparkConfigError]] = field(default_factory=dict)
    ttls: Mapping[Place, int] = field(default_factory=dict)
    provenance: dict[Expression, list[Source]] = field(default_factory=dict)
    problem_texts: dict[Expression, list[str]] = field(default_factory=dict)
    generation: int = 0
    _notes: dict[Expression, list[str]] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """All problems, in the order of the expressions; empty if every expression has a value."""
        return [text for texts in self.problem_texts.values() for text in texts]

    def places(self, expression: Expression) -> set[Place]:
        """Return each (provider, path) from which parts of the expression come."""
        return {(source.provider, source.path) for source in self.provenance.get(expression, [])}

    def note(self, expression: Expression, text: str) -> None:
        """Keep a warning about an expression that has a value."""
        self._notes.setdefault(expression, []).append(text)

    def notes_of(self, expressions: Iterable[Expression]) -> list[str]:
        """The warnings about these."""
        return [text for e in expressions for text in self._notes.get(e, ())] if self._notes else []

    def is_open(self, expression: Expression) -> bool:
        """Whether another round may evaluate it to something else although its places answer the same."""
        return (
            expression in self.failed
            or "$[" in expression.text
            or any(source.generation is None for source in self.provenance.get(expression, []))
        )

    def problems_of(self, expression: Expression) -> list[str]:
        """The problems of one expression."""
        return self.problem_texts.get(expression, [])

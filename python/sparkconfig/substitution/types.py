"""What a substitution type is (KIP-269: ``SubstituterType``, ``SubstituterTypeHelper``)."""

# ruff: noqa: FBT001 - the KIP says which arguments, in which order

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Protocol

from sparkconfig.errors import SparkConfigError, SubstitutionError
from sparkconfig.substitution.command import Modifiers, read_modifiers
from sparkconfig.substitution.evaluate import Retrieve, Steps, evaluate
from sparkconfig.substitution.redactable import RedactableObject

__all__ = [
    "SubstituterType",
    "SubstituterTypeHelper",
    "SubstitutionResults",
    "UnderlyingValues",
    "checked",
    "guard",
]


class SubstitutionResults(Protocol):
    """What a type may ask for: the results of other keys. :class:`SubstitutableValues` has them."""

    @property
    def type_definition_key_prefix(self) -> str:
        """The prefix of type definitions, trimmed."""

    @property
    def substitution_results(self) -> Mapping[str, RedactableObject]:
        """The results so far, by key."""

    def get_substitution_result(self, key: str, required: bool = False) -> RedactableObject | None:
        """Return the result of ``key``, None if there is none; SubstitutionError if it is ``required``."""

    def substitute(self, keys: Iterable[str]) -> Mapping[str, RedactableObject]:
        """Return the results of ``keys``."""

    def drive(self, steps: Steps) -> RedactableObject:
        """Run an evaluation to its end."""


class SubstituterType(ABC):
    """Answers one type. Created without arguments, once for each :class:`SubstitutableValues`.

    An error that it raises ends the evaluation; of a foreign exception only its class is told. It must never
    put a value into an error or a log line.
    """

    @abstractmethod
    def do_substitution(
        self,
        type: str,  # noqa: A002 - KIP's name
        modifiers: Sequence[str],
        identifier: str,
        substitutable_values: SubstitutionResults,
    ) -> RedactableObject:
        """Return the result, never None.

        Args:
            type: the type as it is in the text, trimmed.
            modifiers: raw, untrimmed, in order; ``redact`` is added inside a secret.
            identifier: untrimmed, may be empty.
            substitutable_values: to ask for other keys' results.

        Raises:
            SubstitutionError: there is no result.
        """


class SubstituterTypeHelper(SubstituterType):
    """A type with the modifiers of the built-in ones: it returns the value, the helper does the rest."""

    @abstractmethod
    def retrieve_result(  # noqa: PLR0917 - the KIP's signature
        self,
        type: str,  # noqa: A002
        identifier: str,
        redact: bool,
        additional_flags: Set[str],
        additional_args: Mapping[str, str],
        substitutable_values: SubstitutionResults,
    ) -> RedactableObject | None:
        """Return the value of ``identifier``, or None if it does not exist (then a default may be used).

        Args:
            type: the type as it is in the text.
            identifier: after ``fromValueOfKey``.
            redact: the result will be redacted even if this method says otherwise.
            additional_flags: flags that the helper does not know, trimmed.
            additional_args: arguments that the helper does not know; names trimmed, values not.
            substitutable_values: to ask for other keys' results.

        Raises:
            SubstitutionError: a default must not be used.
        """

    def do_substitution(
        self,
        type: str,  # noqa: A002 - KIP's name
        modifiers: Sequence[str],
        identifier: str,
        substitutable_values: SubstitutionResults,
    ) -> RedactableObject:
        """Apply the modifiers around :meth:`retrieve_result`."""
        steps = evaluate(
            self.retriever(type, substitutable_values), type, read_modifiers(tuple(modifiers)), identifier
        )
        return substitutable_values.drive(steps)

    def retriever(self, kind: str, values: SubstitutionResults) -> Retrieve:
        """Return :meth:`retrieve_result` as the evaluation calls it."""

        def retrieve(identifier: str, modifiers: Modifiers, redact: bool) -> RedactableObject | None:
            found: object = guard(
                self,
                lambda: self.retrieve_result(
                    kind, identifier, redact, modifiers.flags, modifiers.arguments, values
                ),
            )
            return None if found is None else checked(self, found)

        return retrieve


def guard(custom: SubstituterType, call: Callable[[], object]) -> object:
    """Call a custom type; of a foreign exception only the class is told, as its text may hold values.

    Raises:
        SubstitutionError: instead of any exception from outside this package.
    """
    try:
        return call()
    except SparkConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - third-party code may raise anything
        kind = type(error).__name__
    raise SubstitutionError(f"substituter {type(custom).__qualname__} failed with {kind}")


def checked(custom: SubstituterType, found: object) -> RedactableObject:
    """Return what a custom type answered, if it is what the contract says; SubstitutionError if not."""
    if isinstance(found, RedactableObject):
        return found
    wrong = "null" if found is None else f"{type(found).__name__}, not RedactableObject"
    raise SubstitutionError(f"Substituter returned {wrong}: {type(custom).__qualname__}")


class UnderlyingValues(Protocol):
    """The map-like object that is read (KIP-269)."""

    def get(self, key: str, /) -> object:
        """Return the value of ``key``, None if there is none."""

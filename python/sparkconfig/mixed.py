"""Both languages in one value: ``$[...]`` (KIP-269) outside, ``${...}`` (KIP-297) in the text between.

The spans of ``$[...]`` are found first, in the raw text; references are looked for in the literal text between
them, also in that of other keys that a substitution names. Nothing that was inserted is scanned again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparkconfig.errors import ConfigurationError
from sparkconfig.expression import Expression
from sparkconfig.language import Evaluated, Fill
from sparkconfig.mixed_round import MixedRound, Parse
from sparkconfig.references import Reference
from sparkconfig.settings import PREFIX, parse
from sparkconfig.substitution import SUFFIX, Allowlists, Command, SubstitutableValues
from sparkconfig.substitution.definitions import create_type
from sparkconfig.substitution.values import Literal

__all__ = ["TYPE_PREFIX", "MixedLanguage"]

TYPE_PREFIX = f"{PREFIX}substitution."
"""A start-up conf ``spark.config.substitution.<type>SubstituterType`` defines a custom type."""


class MixedLanguage:
    """KIP-269 around KIP-297.

    Args:
        allow: what the built-in types may read.
        definitions: custom types, ``<TYPE_PREFIX><type>SubstituterType`` to a class name. They are never taken
            from a map whose values are resolved: a job's text must not load classes.
        environ: what ``envVar`` reads; None: this process's environment.
        sysprops: what ``sysProp`` reads.
    """

    def __init__(
        self,
        allow: Allowlists | None = None,
        definitions: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        sysprops: Mapping[str, str] | None = None,
    ) -> None:
        self._allow = allow or Allowlists()
        self._definitions = definitions or {}
        self._environ = environ
        self._sysprops = sysprops

    @classmethod
    def from_confs(
        cls,
        confs: Mapping[str, str],
        environ: Mapping[str, str] | None = None,
        sysprops: Mapping[str, str] | None = None,
        *,
        operator: bool = False,
    ) -> MixedLanguage:
        """Read allowlists and type definitions.

        A list that is set and empty allows nothing; one that is not set allows everything, but an operator's
        nothing.

        Raises:
            ConfigurationError: a list, a pattern or a definition is wrong.
        """
        settings = parse(confs)
        problems: list[str] = []

        def pattern(kind: str, given: str | None) -> str | None:
            unset = f"{TYPE_PREFIX}{kind}.allowlist.pattern" not in confs
            return None if unset and not operator else given or ""

        everything = f"{TYPE_PREFIX}file.allowed.paths" not in confs and not operator
        allow = Allowlists()
        try:
            allow = Allowlists(
                file_paths=None if everything else settings.substitution_file_paths,
                env_pattern=pattern("envVar", settings.substitution_env_pattern),
                sysprop_pattern=pattern("sysProp", settings.substitution_sysprop_pattern),
            )
        except ConfigurationError as error:
            problems += error.problems
        definitions = {
            key: text.strip()
            for key, text in confs.items()
            if key.startswith(TYPE_PREFIX) and key.endswith(SUFFIX)
        }
        for key, text in definitions.items():
            try:
                create_type(key, text)
            except ConfigurationError as error:
                problems += error.problems
        if problems:
            raise ConfigurationError.of(problems)
        return cls(allow, definitions, environ, sysprops)

    @property
    def custom(self) -> bool:
        """Whether custom types are defined."""
        return bool(self._definitions)

    def begin(self) -> MixedRound:
        """A new KIP-269 instance for each map of this round."""
        return MixedRound(self._values)

    def references(self, expression: Expression) -> Sequence[Reference]:
        """The references of the literal text, and of that of every key that the text may lead to."""
        return self.begin().references(expression)

    def evaluate(self, expression: Expression, fill: Fill) -> Evaluated:
        """Evaluate with this round's answers."""
        return self.begin().evaluate(expression, fill)

    def substitutions(self, text: str) -> list[Command | None]:
        """The ``$[...]`` of a text; None: it is malformed, or of an unknown type."""
        return self.begin().substitutions(text)

    def _values(self, values: Mapping[str, object], literal: Literal, plan: Parse) -> SubstitutableValues:
        return SubstitutableValues(
            values,
            prefix=TYPE_PREFIX,
            environ=self._environ,
            sysprops=self._sysprops,
            literal=literal,
            allow=self._allow,
            definitions=self._definitions,
            keep_failures=True,
            plan=plan,
        )

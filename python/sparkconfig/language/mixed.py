"""Both languages in one value: ``$[...]`` (KIP-269) outside, ``${...}`` (KIP-297) in the text between.

The spans of ``$[...]`` are found first, in the raw text; references are looked for in the literal text between
them, and in the text of other keys that a substitution names. Nothing that was inserted is scanned again.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.language.base import Evaluated, Fill, PlainLanguage, own_references
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import Reference
from sparkconfig.settings.schema import PREFIX, Settings
from sparkconfig.substitution import (
    OPENING,
    SUFFIX,
    Allowlists,
    Command,
    Segment,
    SubstitutableValues,
    iter_segments,
)
from sparkconfig.substitution.definitions import create_type
from sparkconfig.substitution.keys import named
from sparkconfig.substitution.scanner import LONG_TEXT, segments_of
from sparkconfig.substitution.values import Literal

__all__ = ["TYPE_PREFIX", "MakeValues", "MixedLanguage", "MixedRound", "Parse"]


# One round of both languages: the values of one map share one evaluation, so that the work stays linear.
#
# Without that, a map of n keys would be walked from each of its keys, and a chain of keys n times.
Parse = Callable[[str], Iterable[Segment]]
MakeValues = Callable[[Mapping[str, object], Literal, Parse], SubstitutableValues]
"""Makes the KIP-269 instance of one map: its values, the hook for the text between, and who parses a text."""

_NO_KEY = "(value)"


class _Used(NamedTuple):
    """The references of a text, and of those that its value was made of."""

    answered: tuple[Reference, ...] = ()
    empty: tuple[Reference, ...] = ()
    inert: tuple[Reference, ...] = ()


_UNUSED = _Used()


class MixedRound:
    """References and values of the expressions of one round."""

    def __init__(self, make: MakeValues) -> None:
        self._make = make
        self._plain = PlainLanguage()
        self._maps: dict[int, _Map] = {}

    def references(self, expression: Expression) -> Sequence[Reference]:
        """The references that the expression may need, without those that an earlier one of its map told."""
        if OPENING not in expression.text:
            return self._plain.references(expression)
        group, key = self._map_of(expression)
        return group.references(key)

    def evaluate(self, expression: Expression, references: Sequence[Reference], fill: Fill) -> Evaluated:
        """Evaluate with this round's answers."""
        if OPENING not in expression.text:
            return self._plain.evaluate(expression, references, fill)
        group, key = self._map_of(expression)
        return group.evaluate(key, fill)

    def _map_of(self, expression: Expression) -> tuple[_Map, str]:
        """Return the map that the expression stands in, and its key there."""
        key = _NO_KEY if expression.key is None else expression.key
        siblings = expression.siblings
        if siblings.get(key) != expression.text:  # a value of its own beside its siblings
            values: Mapping[str, str] = ChainMap({key: expression.text}, siblings)  # type: ignore[arg-type]
            return _Map(values, expression, self._make), key
        group = self._maps.get(id(siblings))
        if group is None:
            group = self._maps[id(siblings)] = _Map(siblings, expression, self._make)
        return group, key


class _Map:
    """One map of values. ``expression`` is one that is in it."""

    def __init__(self, values: Mapping[str, str], expression: Expression, make: MakeValues) -> None:
        self._values = values  # held, so that its id stays its own
        self._expression = expression
        self._make = make
        self._seen: set[str] = set()
        self._all_seen = False
        self._made: SubstitutableValues | None = None
        self._used: dict[str, _Used] = {}
        self._plans: dict[str, tuple[Segment, ...]] = {}
        self._any_reference = False

    def references(self, key: str) -> list[Reference]:
        """Walk from ``key`` to all keys that were not seen yet."""
        found: list[Reference] = []
        waiting = [key]
        while waiting:
            current = waiting.pop()
            if current in self._seen:
                continue
            self._seen.add(current)
            text = self._values.get(current)
            if not isinstance(text, str):
                continue
            self._any_reference = self._any_reference or "${" in text
            found += self._own(text)
            if OPENING not in text:
                continue
            names = named(self._segments(text))
            if not names.open_ended:
                waiting += names.keys
            elif not self._all_seen:  # it may ask for any key
                self._all_seen = True
                waiting += self._values
        return found

    def evaluate(self, key: str, fill: Fill) -> Evaluated:
        """Evaluate one key; the others that it asks for are evaluated once for all."""
        self.references(key)  # nothing to do if it was asked before
        if self._made is None:

            def literal(text: str) -> tuple[str, bool]:
                if "${" not in text:
                    return text, False
                references = own_references(text, self._expression)
                filled, empty = fill(text, references)
                return filled, len(empty) < len(references)

            self._made = self._make(self._values, literal, self._segments)
        text = self._values[key]
        result = Evaluated(text)
        try:
            found = self._made.get_substitution_result(key, required=True)
        except SparkConfigError as error:
            error.__cause__ = error.__context__ = None
            result.error = error.with_traceback(None)
            used = self._fill_own(key, fill)
        else:
            used = self._fill_all(key, fill)
            if found is not None:
                result.text = found.value
                result.redact = found.redacted
                result.secrets = self._made.secret_texts
                result.changed = result.text != text or bool(used.answered)
        result.answered += used.answered
        result.empty += used.empty
        result.inert += used.inert
        return result

    def _segments(self, text: str) -> Iterable[Segment]:
        """The segments of a text, which is parsed once in a round; a huge one's are kept in no list."""
        if len(text) > LONG_TEXT:
            return iter_segments(text)
        found = self._plans.get(text)
        if found is None:
            found = self._plans[text] = segments_of(text)
        return found

    def _own(self, text: str) -> list[Reference]:
        """The references in the literal text."""
        if "${" not in text:
            return []
        return [
            reference
            for segment in self._segments(text)
            if isinstance(segment, str)
            for reference in own_references(segment, self._expression)
        ]

    def _fill_own(self, key: str, fill: Fill) -> _Used:
        """The references of one key's own text."""
        text = self._values.get(key)
        if not isinstance(text, str) or "${" not in text:
            return _UNUSED
        answered: list[Reference] = []
        empty: list[Reference] = []
        inert: list[Reference] = []
        for segment in self._segments(text):
            if isinstance(segment, str):
                references = own_references(segment, self._expression)
                missing = fill(segment, references)[1]
                without = set(missing)
                empty += missing
                answered += [reference for reference in references if reference not in without]
            elif self._made is not None and not self._made.is_substitution(segment):
                inert += own_references(segment.raw, self._expression)
        return _Used(tuple(answered), tuple(empty), tuple(inert))

    def _fill_all(self, key: str, fill: Fill) -> _Used:
        """The references of a key and of all keys whose results it used; each key is looked at once."""
        if not self._any_reference:
            return _UNUSED
        asked = self._made.dependencies if self._made is not None else {}
        used = self._used
        waiting, entered = [key], set[str]()
        while waiting:
            current = waiting[-1]
            further = [] if current in entered else [k for k in asked.get(current, ()) if k not in used]
            entered.add(current)
            if further:
                waiting += further
                continue
            waiting.pop()
            if current not in used:
                parts = [self._fill_own(current, fill)]
                parts += [used[k] for k in asked.get(current, ()) if k in used]
                used[current] = _joined([part for part in parts if part != _UNUSED])
        return used[key]


def _joined(parts: Sequence[_Used]) -> _Used:
    """Put parts together, each reference once; a single part stays the object that it is."""
    if len(parts) < 2:
        return parts[0] if parts else _UNUSED
    return _Used(*(tuple(dict.fromkeys(chain.from_iterable(kind))) for kind in zip(*parts, strict=True)))


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
        settings: Settings,
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

    def substitutions(self, text: str) -> list[Command | None]:
        """The ``$[...]`` of a text; None: it is malformed, or of an unknown type."""
        known = self._values({}, lambda literal: literal, iter_segments).is_substitution
        segments = [segment for segment in iter_segments(text) if not isinstance(segment, str)]
        return [segment if isinstance(segment, Command) and known(segment) else None for segment in segments]

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

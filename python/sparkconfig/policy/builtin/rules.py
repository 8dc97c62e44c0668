"""The policy ``Rules``: a document with Databricks cluster-policy elements."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig._base import advice
from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.base import OverridePolicy, refusal
from sparkconfig.policy.keys.keys import canonical, fold, generalised
from sparkconfig.policy.keys.overrides import is_clients, is_internal
from sparkconfig.policy.keys.values import NotText, text_of
from sparkconfig.policy.request import (
    ConfigValue,
    OverrideRequest,
    PolicyViolation,
    ReferenceUse,
    StatementItem,
)
from sparkconfig.policy.rules.matching import Budget
from sparkconfig.policy.tables import CreateTablePolicy, CreateTableRequest
from sparkconfig.settings.scopes import OPTION_SCOPES

if TYPE_CHECKING:
    from sparkconfig.policy.rules.rulebook import Rule, Rulebook

__all__ = ["RulesPolicy", "RulesTablePolicy", "load_rulebook"]

_MOST_CACHED = 50_000


def load_rulebook(policy: str, params: Mapping[str, str]) -> Rulebook:
    """Read the document that the params name: ``file``, or its text in ``definition``.

    Raises:
        ConfigurationError: no such file, mistakes in it, or the extra is not installed.
    """
    unknown = sorted(set(params) - {"file", "definition"})
    if unknown or len(params) != 1:
        raise ConfigurationError(
            f"the policy '{policy}' takes one param, 'file' (a JSON document) or 'definition' (its text)"
            + (f", not '{shorten(unknown[0])}'" if unknown else "")
        )
    problem = ""
    try:
        import regex  # noqa: F401

        from sparkconfig.policy.rules.extends import load_extending
    except ImportError as error:
        problem = f"the policy '{policy}' needs {error.name}; install it with: {advice.install('policy')}"
    if problem:
        raise ConfigurationError(problem)
    from sparkconfig.policy.rules.document import parse, read

    if "definition" in params:
        return load_extending(parse(params["definition"], "definition"), None)
    path = Path(params["file"])
    return load_extending(read(path), path.parent)


class RulesPolicy(OverridePolicy):
    """Decides by the rules of a document.

    The most specific rules that are about the key, the job type and the scope decide: an exact key before a
    pattern, of two patterns the one with more characters, then a rule that names users, then one that names job
    types, then one that names data sources, then one that names scopes. Of rules that are equally specific all must
    allow. A key without a rule is allowed only if it is not an override.
    """

    policy_name = "Rules"

    # A plain number under a deprecated key may have another unit than under the key that replaced it.
    sees_written_names = True

    def __init__(self) -> None:
        self._book: Rulebook | None = None
        self._exact: dict[str, list[Rule]] = {}
        self._patterns: list[Rule] = []
        self._cache: dict[tuple[str, str, str, tuple[str, ...], str], tuple[Rule, ...]] = {}
        self._by_user = False
        self._by_format = False
        self._lock = threading.Lock()

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: ARG002
        """Read the document of param ``file`` or ``definition``."""
        self.use(load_rulebook("Rules", params))

    def use(self, book: Rulebook) -> None:
        """Take the rules of ``book``."""
        self._book = book
        for rule in book.rules:
            if rule.pattern.exact:
                self._exact.setdefault(rule.pattern.text, []).append(rule)
            else:
                self._patterns.append(rule)
        self._by_user = any(rule.users is not None for rule in book.rules)
        self._by_format = any(rule.formats is not None for rule in book.rules)

    @property
    def book(self) -> Rulebook:
        """The rules.

        Raises:
            ConfigurationError: the policy was not configured.
        """
        if self._book is None:
            raise ConfigurationError("the policy 'Rules' was not configured")
        return self._book

    def deciding(self, request: OverrideRequest, name: str, scope: str | None = None) -> tuple[Rule, ...]:
        """The most specific rules about ``name``; empty if there is none."""
        scope = request.scope if scope is None else scope
        folded = fold(canonical(name, scope))
        user = request.principal if self._by_user else ""
        formats = self._formats(request)
        place = (folded, request.job_type, scope, formats, user)
        found = self._cache.get(place)
        if found is None:
            found = self._decide(folded, request.job_type, scope, formats, user)
            with self._lock:
                if len(self._cache) >= _MOST_CACHED:  # names come from jobs: memory must not grow with them
                    self._cache.clear()
                self._cache[place] = found
        return found

    def _formats(self, request: OverrideRequest) -> tuple[str, ...]:
        """The names of the data source, in one case of letters, if a rule asks for them."""
        return tuple(name.strip().lower() for name in request.formats) if self._by_format else ()

    def _decide(
        self, folded: str, job_type: str, scope: str, formats: tuple[str, ...], user: str
    ) -> tuple[Rule, ...]:
        found = self._about(folded, job_type, scope, formats)
        if not self._by_user:
            return _highest(found)
        if user:
            return _highest(
                [
                    rule
                    for rule in found
                    if rule.users is None or any(each.matches(user) for each in rule.users)
                ]
            )
        # The user is unknown: rules about users allow nothing, but limit.
        common = _highest([rule for rule in found if rule.users is None])
        return (*common, *(rule for rule in found if rule.users is not None)) if common else ()

    def _about(self, folded: str, job_type: str, scope: str, formats: tuple[str, ...]) -> list[Rule]:
        """All rules about a key; exact ones alone, if there are any."""
        exact: list[Rule] = []
        for name in (folded, *generalised(folded)):
            exact += [rule for rule in self._exact.get(name, ()) if rule.concerns(job_type, scope, formats)]
            # Rules about others leave a user to the next.
            if any(rule.users is None for rule in exact):
                return exact
        matching = [] if is_internal(folded) or is_clients(folded) else self._patterns
        return exact + [
            rule
            for rule in matching
            if rule.pattern.matches(folded) and rule.concerns(job_type, scope, formats)
        ]

    def names(self, request: OverrideRequest, name: str) -> bool:
        """Whether a rule is about ``name``."""
        if self.deciding(request, name):
            return True
        # An unknown user is limited as well, though the rule is about others.
        folded = fold(canonical(name, request.scope))
        return self._by_user and bool(
            self._about(folded, request.job_type, request.scope, self._formats(request))
        )

    def needs_value(self, request: OverrideRequest, name: str) -> bool:
        """Whether a rule that decides compares the value; ``forbidden`` and ``unlimited`` do not."""
        return any(rule.condition.needs_value for rule in self.deciding(request, name))

    def validate(self, request: OverrideRequest) -> list[ConfigValue]:
        """Evaluate every property by the rules that decide about it."""
        budget = Budget()
        return [self._evaluate(request, name, value, budget) for name, value in request.props.items()]

    def _evaluate(self, request: OverrideRequest, name: str, value: object, budget: Budget) -> ConfigValue:
        rules = self.deciding(request, name)
        if not rules:
            return ConfigValue(name, value, (refusal("Rules", name, request.scope),), "no rule")
        errors: dict[str, None] = {}
        places: list[str] = []
        for rule in rules:
            problem = _problem(rule, name, value, budget)
            if problem is not None:
                errors[rule.message or problem] = None
                places.append(rule.place)
        decided_by = "; ".join(places or [rule.place for rule in rules])
        return ConfigValue(name, value, tuple(errors), decided_by)

    def path_rules(self, job_type: str) -> tuple[str, ...]:
        """Where the rules about the option ``path`` of data sources stand, for this job type."""
        asked = OverrideRequest("", job_type)
        found = (self.deciding(asked, "path", scope) for scope in OPTION_SCOPES)
        return tuple(dict.fromkeys(rule.place for rules in found for rule in rules))

    def paths(self, job_type: str) -> tuple[str, ...] | None:
        """What the document's list ``paths`` allows such jobs, if it decides about the paths that they name."""
        return self.book.statements.allowed("path", job_type)

    def confs(self, job_type: str) -> tuple[str, ...] | None:
        """What the document's ``statements`` let such jobs see with ``see-conf``, if they decide about any."""
        return self.book.statements.named("see-conf", job_type)

    def check_reference(self, request: OverrideRequest, use: ReferenceUse) -> tuple[str | None, str]:
        """Evaluate a reference by the document's ``references``."""
        return self.book.references.problem(request, use)

    def goes_elsewhere(self, request: OverrideRequest, use: ReferenceUse) -> bool:
        """Whether rules of the document's ``references`` are about this one, and none of them lets it go there."""
        return self.book.references.goes_elsewhere(request, use)

    def depends_on_users(self) -> bool:
        """Whether a rule about references depends on who asks."""
        return self.book.references.about_users

    def evaluates_statements(self, job_type: str) -> bool:
        """Whether the document has rules about statements of such jobs."""
        return self.book.statements.concerns(job_type)

    def check_statement(self, request: OverrideRequest, item: StatementItem) -> tuple[str | None, str]:
        """Evaluate a statement, or what it names, by the document's lists."""
        return self.book.statements.problem(request, item)

    def defaults(self, request: OverrideRequest) -> Mapping[str, str]:
        """The values of fixed rules, and the defaults of the others."""
        found: dict[str, str] = {}
        for rules in self._exact.values():
            for rule in rules:
                value = rule.fixed if rule.fixed is not None else rule.default
                if value is not None and self._concerns(rule, request):
                    found.setdefault(canonical(rule.key), value)
        return found

    def required(self, request: OverrideRequest) -> Mapping[str, str]:
        """The keys of rules that are not optional and have no default."""
        return {name: rule.place for name, rule in self._required(request).items()}

    def about_missing(self, request: OverrideRequest, name: str) -> str | None:
        """The rule's own message."""
        rule = self._required(request).get(name)
        return None if rule is None else rule.message

    def _required(self, request: OverrideRequest) -> dict[str, Rule]:
        return {
            canonical(rule.key): rule
            for rules in self._exact.values()
            for rule in rules
            if rule.required and self._concerns(rule, request)
        }

    def _concerns(self, rule: Rule, request: OverrideRequest) -> bool:
        if rule.users is not None and not request.principal:
            return False
        return rule in self.deciding(request, rule.key)


def _highest(rules: list[Rule]) -> tuple[Rule, ...]:
    highest = max((rule.rank for rule in rules), default=None)
    return tuple(rule for rule in rules if rule.rank == highest)


def _problem(rule: Rule, name: str, value: object, budget: Budget) -> str | None:
    """What one rule says against a value."""
    condition = rule.condition
    try:
        text = text_of(value)
    except NotText:
        return f"its value is {type(value).__name__}, not text"
    if text is None:  # the job takes the property away
        if rule.fixed is not None:
            return "its value is fixed by the operator; it cannot be unset"
        return "it must be set" if rule.required else None
    problem = condition.problem(name, text, budget)
    if problem is None and condition.needs_value and not condition.compares_text and "${" in text:
        return "its value holds a reference that is not resolved here, so the policy cannot evaluate it"
    return problem


class RulesTablePolicy(CreateTablePolicy):
    """Checks new tables against the ``tables`` of a document; every rule whose pattern fits must be kept."""

    policy_name = "Rules"

    def __init__(self) -> None:
        self._book: Rulebook | None = None

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: ARG002
        """Read the document of param ``file`` or ``definition``."""
        self._book = load_rulebook("Rules", params)

    def validate(self, request: CreateTableRequest) -> None:
        """Raise PolicyViolation with everything that is wrong with the table."""
        if self._book is None:
            raise ConfigurationError("the policy 'Rules' was not configured")
        budget = Budget()
        problems = [
            f"{problem} ({rule.place})"
            for rule in self._book.tables
            for problem in rule.problems(request, budget)
        ]
        if problems:
            head = f"the table {shorten(request.name)} may not be created"
            raise PolicyViolation(problems, head=head)

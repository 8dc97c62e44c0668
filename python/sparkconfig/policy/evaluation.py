"""One policy, one request: which properties are overrides, what the policy says about them, what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sparkconfig._base.text import shorten
from sparkconfig.errors import SparkConfigError
from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.jobtype import SHARED
from sparkconfig.policy.keys.keys import canonical, fold, logs_in
from sparkconfig.policy.keys.overrides import REFLECTION, Overrides
from sparkconfig.policy.keys.variables import LONGEST, VARIABLES, variables_in
from sparkconfig.policy.request import (
    ConfigValue,
    OverrideRequest,
    PolicyViolation,
    ReferenceUse,
    StatementItem,
)
from sparkconfig.policy.rules.references import SUBSTITUTION, uses_in
from sparkconfig.secret import Secret
from sparkconfig.settings.schema import PREFIX, Settings

__all__ = ["Decision", "Evaluator", "Explained", "Verdict"]


# The outcome of one check.
Verdict = Literal["free", "default", "allowed", "denied"]


class Explained(NamedTuple):
    """Which rule decided about one property or reference.

    Attributes:
        subject: the property, or the reference.
        canonical: the name under which the policy saw it.
        verdict: ``free``: no override; ``default``: the operator's own value; else what the policy said.
        reason: why, for people.
        decided_by: the rule, with its place in the document, or the policy.
        kind: the kind of an item of a statement, such as ``path``; ``""`` for everything else.
    """

    subject: str
    canonical: str
    verdict: Verdict
    reason: str
    decided_by: str
    kind: str = ""


@dataclass(frozen=True)
class Decision:
    """What a job may set.

    Attributes:
        values: one decision for each property of the request, in its order.
        violations: why it is refused, one text for each problem; empty: it may go on. Names, no values.
        warned: what would have been refused, in mode ``warn``.
        explanation: which rule decided each property and reference.
        refused: properties that hold a reference which the job may not use.
        defaults: values that the policy puts in place where the job sets none.
        records: what the audit recorded.
        head: the first line of the error.
        everyones: of a connection: whether the operator's own text allows it, in any session.
    """

    values: tuple[ConfigValue, ...] = ()
    violations: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    explanation: tuple[Explained, ...] = ()
    refused: frozenset[str] = frozenset()
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)
    records: tuple[Mapping[str, object], ...] = field(default=(), compare=False, repr=False)
    head: str = ""
    everyones: bool = False

    @property
    def allowed(self) -> bool:
        """Whether the job may go on."""
        return not self.violations

    @property
    def message(self) -> str | None:
        """The text of the error, or None."""
        return None if self.allowed else str(PolicyViolation(self.violations, head=self.head))


_REFUSED = "it holds a reference that this job may not use"
_VARIABLE = (
    "it holds ${...}, in whose place Spark or Hadoop would put what the server's environment, its system properties"
    " or its own confs hold; write it without"
)
_OF_USERS = ("session", "catalog", "source", "sink")
_REASONS = {
    "operator": "the operator sets it",
    "protected": "it is protected",
    "named": "a rule is about it",
}


class Evaluator:
    """Applies policies to requests; see :class:`.engine.PolicyEngine` for the arguments."""

    def __init__(
        self,
        overrides: Overrides,
        settings: Settings,
        resolve: Callable[[Mapping[str, str]], Mapping[str, object]] | None,
    ) -> None:
        self.overrides = overrides
        self._foreign = settings.foreign_providers
        self._known = frozenset(settings.providers)
        self._substitution = settings.substitution_enabled
        self._resolve = resolve

    def evaluate(self, policy: OverridePolicy, request: OverrideRequest, head: str = "") -> Decision:
        """Evaluate every property and reference of ``request`` by ``policy``; ``head`` begins the error."""
        names = {name: canonical(name, request.scope) for name in request.props}
        values: dict[str, ConfigValue] = {}
        explained: dict[str, Explained] = {}
        asked: dict[str, str] = {}
        for name, value in request.props.items():
            reason = self._reason(policy, request, names[name], value)
            if reason in _REASONS:
                asked[name] = reason
            else:
                values[name], explained[name] = _settled(name, names[name], value, reason)
        # Before any store is asked: a lookup could issue credentials, and tells whether the secret exists.
        # The operator's own references are the operator's business, not the job's.
        own = {name for name, item in explained.items() if item.verdict == "default"}
        wanted = [name for name, known in names.items() if name not in own and not known.startswith(PREFIX)]
        about_references = self._references(policy, request, wanted)
        refused = frozenset(item.canonical for item in about_references if item.verdict == "denied")
        for name in refused & asked.keys():
            values[name] = ConfigValue(name, request.props[name], (_REFUSED,), "references")
        self._ask(policy, request, {name: names[name] for name in asked if name not in refused}, values)
        for name, answer in self._variables(policy, request, [each for each in names if each not in own]):
            values[name] = answer
            asked.setdefault(name, "variables")
        for name, reason in asked.items():
            answer = values[name]
            verdict: Verdict = "denied" if answer.errors else "allowed"
            text = "; ".join(answer.errors) or _REASONS[reason]
            explained[name] = Explained(name, names[name], verdict, text, answer.decided_by)
        problems = [
            _line(values[name], names[name])
            for name in request.props
            if values[name].errors and name not in refused
        ]
        listed = [explained[name] for name in request.props]
        for item in about_references:
            listed.append(item)
            if item.verdict == "denied":
                where = f"{shorten(item.canonical)}: " if item.canonical else ""
                problems.append(f"{where}{item.subject}: {item.reason} [{item.decided_by}]")
        defaults = self._fill(policy, request, names, problems, listed)
        return Decision(
            values=tuple(values[name] for name in request.props),
            violations=tuple(problems),
            explanation=tuple(listed),
            refused=refused,
            defaults=defaults,
            head=head,
        )

    def evaluate_statement(
        self, policy: OverridePolicy, request: OverrideRequest, items: Iterable[StatementItem], head: str
    ) -> Decision:
        """Evaluate a statement and what it names."""
        listed: list[Explained] = []
        problems: list[str] = []
        for item in dict.fromkeys(items):
            try:
                problem, decided_by = policy.check_statement(request, item)
            except Exception as error:  # noqa: BLE001 - third-party code: a policy that fails refuses
                problem, decided_by = f"the policy failed with {type(error).__name__}", type(policy).__name__
            if problem is not None:
                problems.append(f"{item}: {problem} [{decided_by}]")
            verdict: Verdict = "allowed" if problem is None else "denied"
            kind = item.name if item.kind == "statement" else item.kind
            real = str(item._replace(shown="")) if item.shown else ""
            listed.append(Explained(str(item), real, verdict, problem or "", decided_by, shorten(kind)))
        return Decision(violations=tuple(problems), explanation=tuple(listed), head=head)

    def _reason(self, policy: OverridePolicy, request: OverrideRequest, known: str, value: object) -> str:
        """Why the policy is asked about a property, or why not: ``own``, ``default``, ``free``."""
        guessed = request.job_type in SHARED and request.scope in _OF_USERS
        reason = self.overrides.reason(known, value, guessed=guessed)
        shared = reason is None and request.job_type in SHARED
        if shared and (
            fold(known) == REFLECTION or (logs_in(request.scope, known) and self.uses({known: value}))
        ):
            reason = "protected"
        if reason is not None:
            return reason
        if self.overrides.is_default(known, value):
            return "default"
        if self.overrides.adds_nothing(known, value) or not _named(policy, request, known):
            return "free"
        return "named"

    def _ask(
        self,
        policy: OverridePolicy,
        request: OverrideRequest,
        names: Mapping[str, str],
        values: dict[str, ConfigValue],
    ) -> None:
        """Put the policy's answers for ``names`` (as written: canonical) into ``values``."""
        effective = self._effective(policy, request, names, values)
        # Two spellings of one key are two questions, for each of the values has to be allowed.
        waiting = dict(names)
        while waiting:
            batch: dict[str, str] = {}
            seen: set[str] = set()
            for name, known in list(waiting.items()):
                if fold(known) not in seen:
                    seen.add(fold(known))
                    batch[name] = waiting.pop(name)
            self._ask_batch(policy, request, batch, effective, values)

    def _ask_batch(
        self,
        policy: OverridePolicy,
        request: OverrideRequest,
        batch: Mapping[str, str],
        effective: Mapping[str, object],
        values: dict[str, ConfigValue],
    ) -> None:
        props = {name: effective[name] for name in batch if name in effective}
        if not props:
            return
        by_policy = {name if policy.sees_written_names else batch[name]: name for name in props}
        question = request.with_props({shown: props[name] for shown, name in by_policy.items()})
        answers: dict[str, ConfigValue] = {}
        failure = ""
        try:
            answers = {answer.name: answer for answer in policy.validate(question)}
        except Exception as error:  # noqa: BLE001 - third-party code: a policy that fails refuses
            failure = f"the policy failed with {type(error).__name__}; ask the operator"
        for shown, name in by_policy.items():
            answer = answers.get(shown)
            value = request.props[name]
            if failure or not isinstance(answer, ConfigValue):
                problem = failure or "the policy did not answer for it; ask the operator"
                values[name] = ConfigValue(name, value, (problem,), type(policy).__name__)
            else:
                values[name] = answer._replace(name=name, value=value)

    def _variables(
        self, policy: OverridePolicy, request: OverrideRequest, names: Iterable[str]
    ) -> Iterator[tuple[str, ConfigValue]]:
        """Refusals of texts in which a user of a shared server has Spark or Hadoop read what is not the user's."""
        if request.job_type not in SHARED or request.scope == "application":
            return
        for name in names:
            value = request.props[name]
            for variable in variables_in(value, self._foreign) if isinstance(value, str) else ():
                if len(variable) > LONGEST:
                    yield name, ConfigValue(name, value, (_VARIABLE,), type(policy).__name__)
                    break
                answer: dict[str, ConfigValue] = {}
                question = request.with_props({VARIABLES: variable})
                self._ask_batch(policy, question, {VARIABLES: VARIABLES}, question.props, answer)
                if answer[VARIABLES].errors:
                    yield name, ConfigValue(name, value, (_VARIABLE,), answer[VARIABLES].decided_by)
                    break

    def _effective(
        self,
        policy: OverridePolicy,
        request: OverrideRequest,
        names: Mapping[str, str],
        values: dict[str, ConfigValue],
    ) -> dict[str, object]:
        """The values that count; what cannot be resolved is refused at once."""
        effective = {name: request.props[name] for name in names}
        if self._resolve is None:
            return effective
        needed = {
            name: value
            for name, value in effective.items()
            if isinstance(value, str)
            and ("${" in value or SUBSTITUTION in value)
            and _needs_value(policy, request, names[name])
        }
        holding = {use.where for use in self.uses(request.props)} if needed else set()
        texts = {name: value for name, value in needed.items() if name in holding}
        if not texts:
            return effective
        try:
            effective.update(self._resolve(texts))
        except Exception as error:  # noqa: BLE001 - providers are third-party code
            known = str(error) if isinstance(error, SparkConfigError) else type(error).__name__
            for name in texts:
                del effective[name]
                text = f"its references have no value, so the policy cannot evaluate it: {known}"
                values[name] = ConfigValue(name, request.props[name], (text,), "resolution")
        return effective

    def _references(
        self, policy: OverridePolicy, request: OverrideRequest, wanted: Iterable[str]
    ) -> list[Explained]:
        """Decide by their names about the request's references, and those in the properties ``wanted``."""
        props = {name: request.props[name] for name in wanted}
        listed: list[Explained] = []
        uses = dict.fromkeys((*request.references, *self.uses(props)))
        for use in (use for use in uses if use.provider not in self._foreign):
            try:
                problem, decided_by = policy.check_reference(request, use)
            except Exception as error:  # noqa: BLE001 - third-party code: a policy that fails refuses
                problem, decided_by = f"the policy failed with {type(error).__name__}", type(policy).__name__
            verdict: Verdict = "allowed" if problem is None else "denied"
            listed.append(Explained(self._shown(use), use.where, verdict, problem or "", decided_by))
        return listed

    def value_of(self, name: str, text: str) -> str | None:
        """The value of one of the operator's options; None: it cannot be known here."""
        if self._resolve is None or not self.uses({name: text}):
            return None
        try:
            found = self._resolve({name: text})[name]
        except Exception:  # noqa: BLE001 - providers are third-party code; no value, no match
            return None
        return found.reveal() if isinstance(found, Secret) else str(found)

    def uses(self, props: Mapping[str, object]) -> list[ReferenceUse]:
        """The references in ``props`` that providers of this application would answer."""
        return uses_in(props, self._foreign, substitution=self._substitution)

    def _shown(self, use: ReferenceUse) -> str:
        """The reference for messages; a literal password that happens to look like one is not shown."""
        if use.provider == SUBSTITUTION:
            return "a substitution $[...]"
        return str(use) if use.provider in self._known else "a reference to an unknown provider"

    def _fill(
        self,
        policy: OverridePolicy,
        request: OverrideRequest,
        names: Mapping[str, str],
        problems: list[str],
        listed: list[Explained],
    ) -> dict[str, str]:
        """What the policy puts in place, and what is missing, if all properties are known."""
        if not request.complete:
            return {}
        try:
            filled, required = dict(policy.defaults(request)), dict(policy.required(request))
            missing = {name: policy.about_missing(request, name) or "a job must set it" for name in required}
        except Exception as error:  # noqa: BLE001 - third-party code: a policy that fails refuses
            problems.append(f"the policy failed with {type(error).__name__}; ask the operator")
            return {}
        present = {fold(known) for name, known in names.items() if request.props[name] is not None}
        defaults = {name: text for name, text in filled.items() if fold(name) not in present}
        for name, place in required.items():
            if fold(name) not in present and name not in defaults:
                text = missing[name]
                problems.append(f"{shorten(name)}: {text} [{place}]")
                listed.append(Explained(name, name, "denied", text, place))
        return defaults


def _named(policy: OverridePolicy, request: OverrideRequest, known: str) -> bool:
    try:
        return policy.names(request, known)
    except Exception:  # noqa: BLE001 - third-party code: asked by validate(), it may fail again, and refuse
        return True


def _needs_value(policy: OverridePolicy, request: OverrideRequest, known: str) -> bool:
    try:
        return policy.needs_value(request, known)
    except Exception:  # noqa: BLE001 - third-party code: asked by validate(), it may fail again, and refuse
        return True


def _settled(name: str, known: str, value: object, reason: str) -> tuple[ConfigValue, Explained]:
    """The outcome for a property about which no policy is asked."""
    if reason == "own":
        text = "it configures sparkconfig, which only the operator may do here; remove it"
        where = "the operator's file"
        return ConfigValue(name, value, (text,), where), Explained(name, known, "denied", text, where)
    if reason == "default":
        return ConfigValue(name, value), Explained(name, known, "default", "the operator's own value", "")
    return ConfigValue(name, value), Explained(name, known, "free", "no override", "")


def _line(value: ConfigValue, known: str) -> str:
    name = shorten(value.name)
    also = f" ({shorten(known)})" if known != value.name else ""
    place = f" [{value.decided_by}]" if " line " in value.decided_by else ""
    return f"{name}{also}: {'; '.join(value.errors)}{place}"

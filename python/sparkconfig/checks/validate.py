"""Validate-only: the decisions of a running application, without one (KIP-108)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sparkconfig.checks.spark_parser import items_of
from sparkconfig.checks.sql import Statement, statements
from sparkconfig.policy.builtin.rules import RulesPolicy
from sparkconfig.policy.engine import PolicyEngine, Resolve
from sparkconfig.policy.evaluation import Decision, Explained
from sparkconfig.policy.request import SOMEWHERE, OverrideRequest, StatementItem
from sparkconfig.policy.rules.references import uses_in
from sparkconfig.settings.connections import OPTION
from sparkconfig.settings.operator_file import OperatorFile, find, load
from sparkconfig.settings.schema import PREFIX

__all__ = ["Question", "Report", "check", "check_all", "is_document"]

_POLICY = f"{PREFIX}override.policy"
_TABLE_POLICY = f"{PREFIX}create.table.policy"


@dataclass(frozen=True)
class Question:
    """What a job would do.

    Attributes:
        confs: what it sets.
        job_type: its kind, as detected.
        streaming: whether it is a streaming query inside such a job.
        application: main class or script.
        scope: where the confs are set.
        format: of options: their data source.
        user: the authenticated user who would ask.
        sql: name to text of SQL files that it would run.
        statements: name to text of single statements, about which rules of statements are asked, too.
        items: what Spark's parser has said about their texts; None: it is asked now.
    """

    confs: Mapping[str, str] = field(default_factory=dict, repr=False)
    job_type: str = "batch"
    streaming: bool = False
    application: str = ""
    scope: str = "application"
    format: str = ""
    user: str = ""
    sql: Mapping[str, str] = field(default_factory=dict, repr=False)
    statements: Mapping[str, str] = field(default_factory=dict, repr=False)
    items: Mapping[str, Sequence[StatementItem] | None] | None = field(default=None, repr=False)


@dataclass
class Report:
    """What would be refused.

    Attributes:
        mode: ``enforce`` or ``warn``; violations are listed in both.
        job_type: the job type that counted.
        violations: one text for each problem.
        explanation: which rule decided what.
        defaults: what the policy itself puts in place.
        notes: what people should know besides.
    """

    mode: str
    job_type: str
    violations: list[str] = field(default_factory=list)
    explanation: list[Explained] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict, repr=False)
    notes: list[str] = field(default_factory=list)

    def add(self, decision: Decision, where: str = "") -> None:
        """Take the outcome of one check; ``where`` is put before its texts."""
        found = [*decision.violations, *decision.warned]
        self.violations += [f"{where}: {text}" if where else text for text in found]
        self.explanation += decision.explanation
        self.defaults.update(decision.defaults)


def check(
    question: Question,
    *,
    policy: str | None = None,
    operator: Path | None = None,
    resolve: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Report:
    """Evaluate ``question``.

    Args:
        question: what a job would do.
        policy: a document for ``Rules``, or a policy's name or class, instead of the operator's.
        operator: the operator's file; None: the one that a driver here would find. It is not checked for who may
            write it: here it evaluates nothing but this question.
        resolve: whether to ask the providers.
        environ: the environment; None: this process's.

    Raises:
        ConfigurationError: the policy, the settings or the SQL are wrong.
    """
    path = operator or find(os.environ if environ is None else environ)
    given = None if path is None else load(path, check=False)
    if policy is not None:
        given = _with_policy(given, policy)
    own = question.confs if given is None else given.confs
    resolver = None
    try:
        if resolve:
            from sparkconfig.resolution.resolver import Resolver

            settings = {key: text for key, text in own.items() if key.startswith(PREFIX)}
            resolver = Resolver.from_confs(settings, operator=given is not None)
        engine = PolicyEngine.from_operator(
            question.confs,
            _quiet(given),
            resolve=None if resolver is None else _resolving(resolver.resolve_map),
        )
        try:
            return _checked(engine, question, given)
        finally:
            engine.close()
    finally:
        if resolver is not None:
            resolver.close()


def check_all(questions: Iterable[Question], policy: str, providers: Sequence[str]) -> list[Report]:
    """Evaluate questions with one policy, as :func:`check` does each; it is read once.

    Args:
        questions: what jobs would do.
        policy: see :func:`check`.
        providers: names that references may have.
    """
    path = find(os.environ)
    given = _with_policy(None if path is None else load(path, check=False), policy)
    if providers:
        given = replace(given, settings={**given.settings, f"{PREFIX}providers": ",".join(providers)})
    engine = PolicyEngine.from_operator({}, _quiet(given))
    try:
        return [_checked(engine, question, given) for question in questions]
    finally:
        engine.close()


def is_document(policy: str) -> bool:
    """Whether ``--policy`` names a document for ``Rules``, and not a policy."""
    return policy.lower().endswith((".json", ".jsonc", ".toml"))


def _resolving(resolve_map: Resolve) -> Resolve:
    return lambda texts: resolve_map(dict(texts))


def _with_policy(given: OperatorFile | None, policy: str) -> OperatorFile:
    """The operator's file with another policy for all job types; a document evaluates tables, too."""
    settings = {} if given is None else dict(given.settings)
    settings = {
        k: v for k, v in settings.items() if not f"{k}.".startswith((f"{_POLICY}.", f"{_TABLE_POLICY}."))
    }
    if is_document(policy):
        for root in (_POLICY, _TABLE_POLICY):
            settings[root] = "Rules"
            settings[f"{root}.param.file"] = policy
    else:
        settings[_POLICY] = policy
    return OperatorFile(Path(), settings) if given is None else replace(given, settings=settings)


def _quiet(given: OperatorFile | None) -> OperatorFile | None:
    """Without audit: a question is not a decision."""
    if given is None:
        return None
    kept = {key: text for key, text in given.settings.items() if not key.startswith(f"{PREFIX}audit.")}
    return replace(given, settings=kept)


def _checked(engine: PolicyEngine, question: Question, given: OperatorFile | None) -> Report:
    job_type = engine.job_type(question.job_type)
    report = Report("enforce" if engine.enforcing else "warn", job_type)
    if given is None:
        report.notes.append("there is no operator's file and no --policy: the job's own settings decide")
    report.notes += _limits(engine, job_type)
    request = OverrideRequest(
        "validate",
        question.job_type,
        question.application,
        question.scope,
        question.confs,
        complete=question.scope == "application",
        user=question.user,
        authenticated=bool(question.user),
        formats=(question.format,) if question.format else (),
    )
    if question.confs or not (question.sql or question.statements):
        report.add(engine.check(request, streaming=question.streaming))
    if named := next((text for key, text in question.confs.items() if key.lower() == OPTION), ""):
        access = "write" if question.scope == "sink" else "read"
        asked = request._replace(scope="session", props={}, complete=False)
        report.add(engine.check_statement(asked, [StatementItem("connection", named, access)], record=False))
    for name, text in question.sql.items():
        for statement in statements(text, job_type):
            _add_statement(report, engine, request, statement, f"{Path(name).name} line {statement.line}")
    read = [
        (name, statement)
        for name, text in question.statements.items()
        for statement in statements(text, job_type)
    ]
    items = items_of([each.text for _, each in read]) if question.items is None else question.items
    for name, statement in read:
        _add_statement(report, engine, request, statement, name)
        _add_items(report, engine, request, items[statement.text])
    return report


def _add_items(
    report: Report, engine: PolicyEngine, request: OverrideRequest, items: Sequence[StatementItem] | None
) -> None:
    """What the rules about statements say."""
    if items is None:
        report.notes.append("Spark's parser does not know such a statement")
    else:
        asked = request._replace(scope="session", props={}, complete=False)
        report.add(engine.check_statement(asked, items, record=False))
        report.notes.append(
            "Spark's parser read the statement; links and default file system are this machine's"
        )


def _limits(engine: PolicyEngine, job_type: str) -> list[str]:
    """What the policy's rules do not cover, although they read as if they did."""
    policy = engine.policy(job_type)
    if not isinstance(policy, RulesPolicy):
        return []
    reads = "Reads by load(p), csv(p), text([p]) and csv.`p`"
    rest = (
        f"{reads}, and LOCATION, are decided by the policy's list paths"
        if policy.book.statements.decides("path", job_type)
        else f"{reads} pass, and so does LOCATION: the user that runs the driver must not be able to read any key"
    )
    return [
        f"{place}: this rule checks writes and the option path only. {rest}"
        for place in policy.path_rules(job_type)
    ]


def _add_statement(
    report: Report, engine: PolicyEngine, request: OverrideRequest, statement: Statement, where: str
) -> None:
    session = request._replace(scope="session", complete=False, references=(), target={}, formats=())
    # Where in the text they stand is known to Spark's own parser alone.
    in_text = () if statement.confs or statement.options else tuple(uses_in({SOMEWHERE: statement.text}))
    asked = session._replace(props=statement.confs, references=in_text)
    report.add(engine.check(asked), where)
    if statement.options:
        formats = (statement.provider,) if statement.provider else ()
        report.add(
            engine.check(
                session._replace(
                    scope="source",
                    props=statement.options,
                    target=statement.options,
                    formats=formats,
                )
            ),
            where,
        )
    if statement.table is not None:
        report.add(engine.check_table(statement.table), where)
    if statement.problem is not None:
        report.notes.append(f"{where}: {statement.problem}")

"""``sparkconfig policy test``: a file of questions to a policy, each with the decision that its author expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkconfig.checks.spark_parser import items_of
from sparkconfig.checks.sql import statements
from sparkconfig.checks.validate import Question, Report, check_all
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.request import JOB_TYPES, SCOPES, StatementItem
from sparkconfig.policy.rules.document import fail, read

__all__ = ["CaseResult", "run_cases"]

_FIELDS = frozenset(
    {"name", "expect", "jobType", "user", "scope", "format", "set", "statement", "streaming", "message"}
)
_TOP = frozenset({"policy", "providers", "cases", "note"})


@dataclass(frozen=True)
class CaseResult:
    """The outcome of one case.

    Attributes:
        name: what the case is called, and where it stands.
        problem: what differs from what its author expects; ``""``: nothing.
    """

    name: str
    problem: str


def run_cases(path: Path, policy: str | None = None) -> list[CaseResult]:
    """Ask a policy everything that the file lists.

    Args:
        path: a JSON document: ``policy`` (a file beside it), ``providers`` (the names that references may
            have) and ``cases``.
        policy: a document for ``Rules`` instead of the file's own.

    Raises:
        ConfigurationError: the file or the policy is wrong; names line and field.
    """
    document = read(path)
    data = document.data
    problems: list[tuple[tuple[str | int, ...], str]] = [
        ((name,), f"no such field here; use {', '.join(sorted(_TOP))}") for name in data if name not in _TOP
    ]
    cases = data.get("cases")
    if not isinstance(cases, list) or not cases:
        problems.append((("cases",), "it must be a list of cases"))
        cases = []
    for index, case in enumerate(cases):
        problems += [(("cases", index, *where), text) for where, text in _mistakes(case)]
    if problems:
        fail(document, problems)
    named = policy or data.get("policy")
    if not isinstance(named, str):
        raise ConfigurationError(f"{path.name} names no policy; add the field policy, or give --policy FILE")
    chosen = named if policy is not None else str(path.parent / named)
    texts = [
        each.text
        for case in cases
        if "statement" in case
        for each in statements(str(case["statement"]), str(case.get("jobType", "batch")))
    ]
    items = items_of(texts)
    questions = [_question(case, items) for case in cases]
    reports = check_all(questions, chosen, list(map(str, data.get("providers") or ())))
    return [
        CaseResult(f"{document.at(('cases', index))}: {_shown(case)}", _difference(case, report))
        for index, (case, report) in enumerate(zip(cases, reports, strict=True))
    ]


def _mistakes(case: object) -> list[tuple[tuple[str | int, ...], str]]:
    if not isinstance(case, dict):
        return [((), "a case must be an object")]
    found: list[tuple[tuple[str | int, ...], str]] = [
        ((name,), f"no such field here; use {', '.join(sorted(_FIELDS))}")
        for name in case
        if name not in _FIELDS
    ]
    if case.get("expect") not in ("allow", "refuse"):
        found.append((("expect",), "it must be allow or refuse"))
    if case.get("jobType", "batch") not in JOB_TYPES:
        found.append((("jobType",), f"it must be one of {', '.join(JOB_TYPES)}"))
    if case.get("scope", "application") not in SCOPES:
        found.append((("scope",), f"it must be one of {', '.join(SCOPES)}"))
    if not isinstance(case.get("set", {}), dict):
        found.append((("set",), "it must be an object of names and values"))
    if ("set" in case) == ("statement" in case):
        found.append(((), "a case has either set or statement"))
    return found


def _shown(case: Mapping[str, Any]) -> str:
    return str(case.get("name") or case.get("statement") or ", ".join(case.get("set", {})))[:80]


def _question(case: Mapping[str, Any], items: Mapping[str, Sequence[StatementItem] | None]) -> Question:
    return Question(
        confs={str(key): str(text) for key, text in case.get("set", {}).items()},
        job_type=str(case.get("jobType", "batch")),
        streaming=bool(case.get("streaming")),
        scope=str(case.get("scope", "application")),
        format=str(case.get("format", "")),
        user=str(case.get("user", "")),
        statements={"statement": str(case["statement"])} if "statement" in case else {},
        items=items,
    )


def _difference(case: Mapping[str, Any], report: Report) -> str:
    if case["expect"] == "allow":
        return "" if not report.violations else f"it is refused: {report.violations[0]}"
    if not report.violations:
        return "it is allowed" + (f" ({report.notes[-1]})" if report.notes else "")
    wanted = str(case.get("message", ""))
    if wanted and not any(wanted in text for text in report.violations):
        return f"it is refused with another message: {report.violations[0]}"
    return ""

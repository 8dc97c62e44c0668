"""What a start would refuse: references and substitutions as ``resolve`` sees them, policies as ``validate`` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sparkconfig.checks.doctor.confs import misplaced
from sparkconfig.checks.doctor.finding import Finding, error, ok, warning
from sparkconfig.checks.doctor.subject import Subject, conf_is_true, conf_list
from sparkconfig.checks.dry_run import check as dry_run
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.language.references import scan
from sparkconfig.policy.request import JOB_TYPES
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.schema import PREFIX

__all__ = ["literals", "policy", "references"]

_ROOTS = tuple(f"{PREFIX}{name}" for name in ("override.", "create.table.policy", "audit."))


def references(subject: Subject) -> Iterator[Finding]:
    """Evaluate what the providers' own examinations leave out: unknown providers, substitutions, near misses."""
    area = "references"
    confs = subject.effective
    declared = set(conf_list(confs, f"{PREFIX}providers"))
    keys = {key for key, text in _jobs(confs).items() if _is_left_out(text, declared, confs)}
    keys -= misplaced(subject)
    try:
        # With an operator's file the settings come from there, and the job's own do not count.
        report = dry_run(confs if subject.operator is None else _jobs(confs), subject.operator, only=keys)
    except ConfigurationError as problem:
        for text in problem.problems:
            yield error(
                area, text, "correct this setting; docs/references.md and docs/substitution.md list them"
            )
        return
    for text in report.problems:
        yield error(area, text, "correct the conf; 'sparkconfig resolve --dry-run FILE' shows all of them")
    for text in conf_warnings.mistakes(_jobs(confs), declared):
        yield warning(area, text, "correct the conf; docs/references.md says how references are written")
    if keys and not report.problems:
        yield ok(area, "every substitution has a value, and every provider in a reference is declared")


def literals(subject: Subject) -> Iterator[Finding]:
    """Name the confs that hold a secret in clear."""
    for key in conf_warnings.in_clear(subject.effective):
        yield warning("secrets in clear", f"{key} holds a secret in clear", conf_warnings.remedy_for(key))


def policy(subject: Subject) -> Iterator[Finding]:
    """Load the policies, and evaluate the confs as a job's."""
    from sparkconfig.checks.validate import Question, check

    confs = subject.effective
    if subject.operator is None and not any(key.startswith(_ROOTS) for key in confs):
        return
    area = "policy"
    job_type = confs.get(f"{PREFIX}job.type", "").strip()
    # What the job sets in spite of the operator's file is reported with that file.
    jobs = subject.confs if subject.operator is None else _jobs(subject.confs)
    question = Question(jobs, job_type=job_type if job_type in JOB_TYPES else "batch")
    try:
        report = check(question, operator=subject.operator, environ={})
    except ConfigurationError as problem:
        for text in problem.problems:
            yield error(
                area,
                text,
                f"correct {PREFIX}override.policy* or the document; docs/policies.md describes both",
            )
        return
    except SparkConfigError as problem:
        yield error(area, str(problem), "correct the policy; 'sparkconfig validate' tries it alone")
        return
    todo = "remove the conf, or ask the operator; 'sparkconfig validate --explain' names the rule"
    for text in report.violations:
        if report.mode == "warn":
            yield warning(area, text, todo)
        else:
            yield error(area, text, todo, ExitCode.REFUSED)
    if not report.violations:
        yield ok(area, f"a job of type {report.job_type} may set all of these confs")


def _jobs(confs: Mapping[str, str]) -> dict[str, str]:
    return {key: text for key, text in confs.items() if not key.startswith(PREFIX)}


def _is_left_out(text: str, declared: set[str], confs: Mapping[str, str]) -> bool:
    """Whether no provider's examination looks at all of the text."""
    if "$[" in text:
        return conf_is_true(confs, f"{PREFIX}substitution.enabled")
    return any(reference.provider not in declared for reference in scan(text))

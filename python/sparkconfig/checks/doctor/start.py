"""What a start would refuse: references and substitutions as ``resolve`` sees them, policies as ``validate`` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sparkconfig._base.jvm import NoDriverError
from sparkconfig._base.text import counted
from sparkconfig.checks.doctor.finding import Finding, error, note, ok, warning
from sparkconfig.checks.doctor.subject import Subject, conf_list
from sparkconfig.checks.dry_run import check as dry_run
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.policy.request import JOB_TYPES
from sparkconfig.settings.schema import PREFIX

__all__ = ["policy", "references"]

_ROOTS = tuple(f"{PREFIX}{name}" for name in ("override.", "create.table.policy", "audit."))
_CORRECT = "correct the conf; 'sparkconfig resolve --dry-run FILE' shows all of them"
_TODO = {
    ExitCode.NOT_FOUND: "correct the reference, or put the value into the store",
    ExitCode.DENIED: "let this user's or machine's identity read it, or correct the login in the provider's params",
    ExitCode.UNAVAILABLE: "check address, proxy and network from this host, then try again",
}


def references(subject: Subject) -> Iterator[Finding]:
    """Configure the providers, and ask them for everything that the confs refer to."""
    area, confs = "references", subject.effective
    if not conf_list(confs, f"{PREFIX}providers"):
        yield note(area, f"{PREFIX}providers names none", "declare one; 'sparkconfig init' prints the lines")
    try:
        # With an operator's file the settings come from there, and the job's own do not count.
        report = dry_run(confs if subject.operator is None else _jobs(confs), subject.operator)
    except ConfigurationError as problem:
        for text in problem.problems:
            yield error(
                "settings", text, "correct this setting; docs/settings.md and docs/providers.md list them"
            )
        return
    for text in report.problems:
        why = report.errors.get(text)
        if isinstance(why, NoDriverError):
            yield note(area, text, "start an application with these confs")
        else:
            code = ExitCode.CONFIGURATION if why is None else code_for(why)
            yield error(area, text, _TODO.get(code, _CORRECT), code)
    for text in report.warnings:
        found, _, todo = text.partition("; ")
        yield warning(area, found, todo or _CORRECT)
    if not report.problems:
        count = counted(len(report.rows) + len(report.substitutions), "reference")
        yield ok(area, f"the providers are configured, and {count} of the confs can be answered")


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

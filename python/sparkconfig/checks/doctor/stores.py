"""The settings and the providers: whether they can be configured, and return what the confs refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sparkconfig._base.jvm import NoDriverError
from sparkconfig._base.text import counted, shorten
from sparkconfig.checks.doctor.finding import Finding, error, note, ok, warning
from sparkconfig.checks.doctor.subject import Subject, conf_list
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.checks.provider_trial import try_provider
from sparkconfig.errors import SparkConfigError
from sparkconfig.language.references import Reference, scan
from sparkconfig.resolution import messages, odd_values
from sparkconfig.settings.schema import PREFIX, parse

__all__ = ["providers", "references_in", "settings"]

_MOST_CONFS = 5
_TODO = {
    ExitCode.NOT_FOUND: "correct the reference, or put the value into the store",
    ExitCode.DENIED: "let this user's or machine's identity read it, or correct the login in the provider's params",
    ExitCode.UNAVAILABLE: "check address, proxy and network from this host, then try again",
}


def settings(subject: Subject) -> Iterator[Finding]:
    """Check the names and forms of ``spark.config.*``."""
    confs = subject.effective
    try:
        parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    except SparkConfigError as problem:
        yield error("settings", str(problem), "correct the settings; docs/references.md lists them")


def providers(subject: Subject) -> Iterator[Finding]:
    """Try each provider with the references that the confs hold."""
    names = conf_list(subject.effective, f"{PREFIX}providers")
    if not names:
        yield note(
            "providers", f"{PREFIX}providers names none", "declare one; 'sparkconfig init' prints the lines"
        )
    wanted: dict[str, dict[str, set[str]]] = {name: {} for name in names}
    used: dict[Reference, set[str]] = {}
    for conf, references in references_in(subject).items():
        for each in references:
            if each.provider in wanted:
                wanted[each.provider].setdefault(each.path, set()).add(each.key)
                used.setdefault(_place(each), set()).add(conf)
    for name in names:
        yield from _try(subject, name, wanted[name], used)


def _place(reference: Reference) -> Reference:
    """The reference without its place in a text."""
    return reference._replace(start=0, end=0)


def _confs_of(references: Iterable[Reference], used: Mapping[Reference, set[str]]) -> str:
    """Who uses these references, and whether a slash in them should be a colon."""
    held = [each for each in references if each in used]
    confs = sorted({conf for each in held for conf in used[each]})
    others = f" and {len(confs) - _MOST_CONFS} more" if len(confs) > _MOST_CONFS else ""
    colons = "".join(messages.missing_colon(each) for each in sorted(held))
    return f"; used by {', '.join(map(shorten, confs[:_MOST_CONFS]))}{others}{colons}"


def _try(
    subject: Subject, name: str, wanted: dict[str, set[str]], used: Mapping[Reference, set[str]]
) -> Iterator[Finding]:
    area = f"provider {name}"
    try:
        trial = try_provider(name, wanted, keys=None, confs=subject.confs, operator=subject.operator)
    except SparkConfigError as problem:
        todo = _TODO.get(
            code_for(problem),
            f"correct {PREFIX}providers.{name}.*; 'sparkconfig providers --params' lists the params",
        )
        yield error(area, str(problem), todo, code_for(problem))
        return
    found = trial.as_json()["class"]
    if not wanted:
        todo = f"sparkconfig providers test {name} --path PATH"
        yield note(area, f"configured ({found}); no conf refers to it, so nothing was read", todo)
        return
    failed = False
    for read in trial.reads:
        missing = sorted(wanted[read.path] - set(read.keys)) if read.error is None else []
        if isinstance(read.error, NoDriverError):
            failed = True
            yield note(
                area, f"path {shorten(read.path)!r}: {read.error}", "start an application with these confs"
            )
        elif read.error is not None:
            failed = True
            code = code_for(read.error)
            asked = [Reference(name, read.path, key, 0, 0) for key in wanted[read.path]]
            text = f"path {shorten(read.path)!r}: {read.error}{_confs_of(asked, used)}"
            yield error(area, text, _TODO.get(code, "correct the provider's params"), code)
        elif missing:
            failed = True
            asked = [Reference(name, read.path, key, 0, 0) for key in missing]
            text = f"path {shorten(read.path)!r} has no key {', '.join(shorten(key) or repr(key) for key in missing)}"
            for each in asked:
                if read.objects.get(each.key):
                    text += f"; {messages.is_object(each, read.objects[each.key])}"
            text += _confs_of(asked, used)
            yield error(area, text, _TODO[ExitCode.NOT_FOUND], ExitCode.NOT_FOUND)
        yield from _odd(subject, area, read.path, name, read.faults)
    if not failed:
        keys = sum(len(each) for each in wanted.values())
        yield ok(area, f"reachable ({found}): {counted(keys, 'key')} in {counted(len(wanted), 'path')}")


def _odd(
    subject: Subject, area: str, path: str, name: str, faults: Mapping[str, odd_values.Faults]
) -> Iterator[Finding]:
    """What would fail at a server although it is the right value."""
    for conf, references in references_in(subject).items():
        for each in references:
            if (each.provider, each.path) == (name, path) and each.key in faults:
                for text in odd_values.warnings(conf, each, subject.effective[conf], faults[each.key]):
                    yield warning(area, *text.split("; ", 1))


def references_in(subject: Subject) -> dict[str, list[Reference]]:
    """Return the references in confs, without the settings, whose references are between providers."""
    confs = subject.effective
    return {
        key: list(scan(text)) for key, text in confs.items() if not key.startswith(PREFIX) and "${" in text
    }

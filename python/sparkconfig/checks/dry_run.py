"""What ``resolve --dry-run`` finds out, without any value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from sparkconfig._base.text import shorten
from sparkconfig.checks.conf_files import Application
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.language import references
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import Reference
from sparkconfig.resolution import messages, odd_values
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.result import Source
from sparkconfig.secret import Secret
from sparkconfig.settings import conf_warnings, operator_file
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.connections import FAMILY
from sparkconfig.settings.schema import PREFIX
from sparkconfig.substitution import Command

__all__ = ["Report", "Row", "Substitution", "check", "check_all"]

_CONNECTIONS = PREFIX + FAMILY


@dataclass(frozen=True)
class Row:
    """One reference in one conf.

    Attributes:
        key: the conf.
        reference: as it is written, shortened.
        provider: the provider's name.
        provider_class: its class, or None if it is not declared.
        path: the path asked for.
        name: the key asked for.
        ttl: milliseconds for which the answer is good, or None.
        generation: the round that read it: equal numbers were requested together; None: no value.
        state: ``ok``, ``no value``, or ``not resolved there``.
        problem: why there is no value, or None.
        application: which of several it belongs to.
    """

    key: str
    reference: str
    provider: str
    provider_class: str | None
    path: str
    name: str
    ttl: int | None
    generation: int | None
    state: str
    problem: str | None
    application: str | None = None


@dataclass(frozen=True)
class Substitution:
    """One ``$[...]`` in one conf. Modifiers are not told: a default may be a password.

    Attributes:
        key: the conf.
        type: what answers; None: it is malformed or of an unknown type.
        identifier: the variable, property, file or key; None as above.
        state: ``ok``; ``no value``, if the conf has none, whichever part is to blame; or ``stays as text``.
        application: which of several it belongs to.
    """

    key: str
    type: str | None
    identifier: str | None
    state: str
    application: str | None = None


@dataclass
class Report:
    """What a start with these confs would find.

    Attributes:
        rows: every reference, in the order of the confs.
        substitutions: every ``$[...]``, if they are turned on.
        problems: each text once.
        warnings: what is probably a mistake and stops no start.
        operator_file: where the settings come from, or None.
        errors: the error behind a problem, if a provider or substitution raised one.
    """

    rows: list[Row] = field(default_factory=list)
    substitutions: list[Substitution] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    operator_file: Path | None = None

    errors: dict[str, SparkConfigError] = field(default_factory=dict)

    def as_json(self, *, explain: bool) -> dict[str, object]:
        """Return it for machines."""
        names = {"key", "reference", "provider", "state", "problem", "application"}
        rows = [{k: v for k, v in _fields(row).items() if explain or k in names} for row in self.rows]
        file = None if self.operator_file is None else str(self.operator_file)
        return {
            "ok": not self.problems,
            "operator_file": file,
            "references": rows,
            "substitutions": [_fields(substitution) for substitution in self.substitutions],
            "problems": self.problems,
            "warnings": self.warnings,
        }


def _fields(found: Row | Substitution) -> dict[str, object]:
    fields = asdict(found)
    return fields if found.application else {k: v for k, v in fields.items() if k != "application"}


def check_all(applications: Sequence[Application], operator: Path | None = None) -> Report:
    """As :func:`check`, each application by itself; of several, each text names its own.

    Raises:
        ConfigurationError: the settings or providers of one are wrong; then the message has all problems of the others,
            too.
    """
    if len(applications) == 1:
        return check(applications[0].confs, operator)
    every = Report()
    wrong: list[str] = []
    for each in applications:
        try:
            report = check(each.confs, operator)
        except ConfigurationError as error:
            wrong += [f"{each.name}: {problem}" for problem in error.problems]
            continue
        every.operator_file = report.operator_file
        every.rows += [replace(row, application=each.name) for row in report.rows]
        every.substitutions += [replace(found, application=each.name) for found in report.substitutions]
        every.problems += [f"{each.name}: {problem}" for problem in report.problems]
        every.warnings += [f"{each.name}: {warning}" for warning in report.warnings]
    if wrong:
        raise ConfigurationError.of([*wrong, *every.problems])
    return every


def check(confs: Mapping[str, str], operator: Path | None = None) -> Report:
    """Ask the providers for every reference in ``confs``, and in the options of named connections.

    Args:
        confs: what an application starts with.
        operator: the operator's file; None: the one that a driver here would find.

    Raises:
        ConfigurationError: settings or providers are wrong, all problems in one message.
    """
    operator = operator or operator_file.find(os.environ)
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    report = Report(operator_file=operator)
    if operator is not None:
        report.problems += [f"{key}: only the operator's file {operator} may set this" for key in sorted(own)]
        # Not checked for who may write it: nothing is bound by this answer.
        own = dict(operator_file.load(operator, check=False).settings)
    connected = {key: text for key, text in own.items() if key.startswith(_CONNECTIONS)}
    given = {key: text for key, text in confs.items() if not key.startswith(PREFIX)} | connected
    with Resolver.from_confs(own, operator=operator is not None) as resolver:
        places = ConfPlaces.of(resolver.settings, confs)
        found = {
            key: Expression(text, key, siblings=given if "$[" in text else {})
            for key, text in given.items()
            if resolver.is_expression(text) and not places.is_of_shell(key, text)
        }
        resolution = resolver.resolve(found.values())
        for key, expression in found.items():
            early = places.advice(key)
            sources = resolution.provenance.get(expression, [])
            report.rows += [_row(key, source, early, expression.text) for source in sources]
            commands = resolver.substitutions(expression.text)
            report.substitutions += _substitutions(key, commands, valued=expression in resolution.values)
            if early is not None and (sources or any(commands)):
                # No other reference would work there either.
                report.problems.append(early)
                continue
            problems = [_without_jvm(problem) for problem in resolution.problems_of(expression)]
            report.problems += problems
            report.errors.update(zip(problems, resolution.failed.get(expression, ()), strict=True))
        report.warnings += _odd_values(
            resolver, {key: each for key, each in found.items() if each in resolution.values}
        )
        report.warnings += conf_warnings.mistakes(confs, resolver.providers)
    report.warnings += [
        f"{key}: a secret is in clear; {conf_warnings.remedy_for(key)}"
        for key in conf_warnings.in_clear(confs)
    ]
    report.warnings = messages.limited(report.warnings)
    report.problems = messages.limited(list(dict.fromkeys(report.problems)))
    return report


def _odd_values(resolver: Resolver, found: Mapping[str, Expression]) -> Iterator[str]:
    places = [
        (key, each, expression.text, Expression(expression.text[each.start : each.end], key))
        for key, expression in found.items()
        for each in references.scan(expression.text)
    ]
    values = resolver.resolve([alone for *_, alone in places]).values
    for key, each, text, alone in places:
        if (value := values.get(alone)) is not None:
            plain = value.value.reveal() if isinstance(value.value, Secret) else value.value
            yield from odd_values.warnings(key, each, text, odd_values.faults(plain))


def _row(key: str, source: Source, early: str | None, text: str) -> Row:
    state = "no value" if source.problem else "ok" if early is None else "not resolved there"
    # An unknown provider may be a literal password that looks like a reference: then nothing of it is shown.
    known = source.provider_class is not None
    parts = (source.provider, source.path, source.key)
    reference = next((each for each in references.scan(text) if each[:3] == parts), Reference(*parts, 0, 0))
    written = messages.written(reference) if known else "(not shown)"
    return Row(
        key,
        written,
        source.provider if known else "(unknown)",
        source.provider_class,
        source.path if known else "",
        source.key if known else "",
        source.ttl,
        source.generation,
        state,
        source.problem,
    )


def _substitutions(key: str, commands: Sequence[Command | None], *, valued: bool) -> list[Substitution]:
    return [
        Substitution(key, None, None, "stays as text")
        if command is None
        else Substitution(
            key, shorten(command.type), shorten(command.identifier), "ok" if valued else "no value"
        )
        for command in commands
    ]


def _without_jvm(problem: str) -> str:
    if "Type=sysProp: no default for identifier that does not exist" in problem:
        return f"{problem}. A dry run has no JVM: the driver may have this system property"
    return problem

"""Named connections of a configuration: what there is, and whether the references of one have values."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkconfig._base.text import counted
from sparkconfig.checks.conf_files import read_confs
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.settings import operator_file
from sparkconfig.settings.connections import Connection
from sparkconfig.settings.schema import PREFIX, parse

__all__ = ["ConnectionTrial", "connections_of", "settings_of", "try_connection"]


@dataclass(frozen=True)
class ConnectionTrial:
    """Whether the references of a connection have values; holds none.

    Attributes:
        connection: the connection.
        references: how many of its options hold references.
        problems: why some have no value; names the setting and the provider.
        code: the exit code of the first problem.
    """

    connection: Connection
    references: int = 0
    problems: tuple[str, ...] = ()
    code: ExitCode = ExitCode.OK

    def as_json(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "ok": not self.problems,
            "connection": self.connection.name,
            "options_with_references": self.references,
            "problems": list(self.problems),
        }

    def lines(self) -> list[str]:
        """Return it for people."""
        name = self.connection.name
        if self.problems:
            return [f"{name}: {problem}" for problem in self.problems]
        return [f"{name}: {counted(self.references, 'option')} with references, each has a value"]


def settings_of(files: Sequence[Path], operator: Path | None = None) -> dict[str, str]:
    """Return the settings that a driver here would have.

    Args:
        files: properties files; they replace the operator's file that a driver here would find.
        operator: the operator's file, instead of the one that a driver here would find.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    operator = operator or (None if files else operator_file.find(os.environ))
    if operator is not None:
        return dict(operator_file.load(operator, check=False).settings)
    return read_confs(files)


def connections_of(confs: Mapping[str, str]) -> list[Connection]:
    """Return the connections by their names' order.

    Raises:
        ConfigurationError: the settings are wrong; names each key.
    """
    return sorted(parse(confs).connections.values(), key=lambda each: each.name)


def try_connection(confs: Mapping[str, str], name: str) -> ConnectionTrial:
    """Ask the stores for the references of a connection.

    Raises:
        ConfigurationError: no connection has this name, or the settings are wrong.
    """
    known = connections_of(confs)
    found = next((each for each in known if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in known) or "none"
        raise ConfigurationError(f"no connection has this name; {PREFIX}connections.* declares: {names}")
    root = f"{PREFIX}connections.{name}.option."
    with Resolver.from_confs(
        {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    ) as resolver:
        texts = {root + option: text for option, text in found.options.items()}
        held = [key for key, text in texts.items() if resolver.is_expression(text)]
        try:
            resolver.resolve_map(texts)
        except SparkConfigError as error:
            problems = tuple(getattr(error, "problems", None) or (str(error),))
            return ConnectionTrial(found, len(held), problems, ExitCode(code_for(error)))
    return ConnectionTrial(found, len(held))

"""The confs of a Databricks cluster, as a fragment for its driver: ``python -m sparkconfig.databricks``.

Databricks reads ``/databricks/driver/conf/*.conf``; each holds ``[driver] { "key" = "value" ... }``, with values as in
JSON, and of several files the first by name has the last word. Only ``conf/databricks-init.sh`` calls the program. The
form is known from public init scripts; it was never run on Databricks. ``sparkconfig doctor`` reads it back.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.formats import properties, reading

__all__ = ["confs_of", "fragment", "fragments_in", "is_fragment", "main", "plugins_of"]

PLUGIN = "io.sparkconfig.ConfigPlugin"
_PLUGINS = "spark.plugins"
_OWN = "spark.config."
_THEIRS = ("spark.extraListeners", "spark.eventLog.")
_SET = re.compile(
    r"""^[ \t]*"?spark\.plugins"?[ \t]*[=:][ \t]*"?(?P<names>[\w.$, \t]+?)"?[ \t]*$""", re.MULTILINE
)

_CONF = re.compile(
    r"""^[ \t]*(?P<key>"(?:[^"\\]|\\.)+"|[\w.-]+)[ \t]*[=:][ \t]*(?P<text>"(?:[^"\\]|\\.)*"|[^"\s].*?)[ \t,]*$""",
    re.MULTILINE,
)


def is_fragment(text: str) -> bool:
    """Whether a text is such a fragment, and no properties file."""
    return re.match(r"(\s|#.*\n)*\[driver\]\s*\{", text) is not None


def confs_of(text: str) -> dict[str, str]:
    """Return the confs of a fragment: one a line, keys and values bare or quoted as in JSON."""
    return {_unquoted(found["key"]): _unquoted(found["text"]) for found in _CONF.finditer(text)}


def fragments_in(folder: Path) -> list[Path]:
    """Return a driver's fragments, the one that has the last word as the last one."""
    return [path for path in sorted(folder.glob("*.conf"), reverse=True) if _may_be_fragment(path)]


def _may_be_fragment(path: Path) -> bool:
    try:
        return is_fragment(reading.read(path).decode("utf-8", "replace"))
    except OSError:
        return True  # reading it later says what is wrong


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False)) if text.startswith('"') else text
    except ValueError:  # an escape that JSON does not know
        return text[1:-1]


def plugins_of(fragments: Iterable[str]) -> list[str]:
    """Return the plugins that texts of fragments name, each once."""
    names = [
        name.strip()
        for text in fragments
        for found in _SET.finditer(text)
        for name in found["names"].split(",")
    ]
    return list(dict.fromkeys(name for name in names if name))


def fragment(confs: Mapping[str, str], plugins: Sequence[str], *, agent_python: str | None) -> str:
    """Return the fragment's text.

    Args:
        confs: Spark confs of the cluster.
        plugins: what other fragments load; it stays, before ours.
        agent_python: the Python of the side process; None if the operator's file names it.

    Raises:
        ConfigurationError: a conf would not work here, or would take something from Databricks.
    """
    problems = [
        problem
        for key, text in confs.items()
        for problem in _problems(key, text, _provider_of(confs), operator=agent_python is None)
    ]
    if problems:
        raise ConfigurationError.of(problems)
    named = [name.strip() for name in confs.get(_PLUGINS, "").split(",") if name.strip()]
    everything = {**confs, _PLUGINS: ",".join(dict.fromkeys([*plugins, *named, PLUGIN]))}
    if agent_python is not None:
        everything.setdefault(f"{_OWN}agent.python", agent_python)
    lines = [f"  {json.dumps(key)} = {json.dumps(text)}" for key, text in sorted(everything.items())]
    return "\n".join(["[driver] {", *lines, "}", ""])


def _provider_of(confs: Mapping[str, str]) -> str:
    """The name under which the confs declare the provider of Databricks' secrets."""
    begin, end = f"{_OWN}providers.", ".class"
    names = [
        key[len(begin) : -len(end)]
        for key, text in confs.items()
        if key.startswith(begin)
        and key.endswith(end)
        and text.rpartition(".")[2].lower().startswith("databricks")
    ]
    return names[0] if names else "databricks"


def _problems(key: str, text: str, provider: str, *, operator: bool) -> list[str]:
    found = []
    if _TEMPLATE_HOST.search(text):
        found.append(
            f"{key}: the template's placeholder stands here; write the address of your own workspace"
        )
    if key.startswith(_THEIRS):
        found.append(f"{key}: this would replace Databricks' own; sparkconfig adds itself when it starts")
    if operator and key.startswith(_OWN):
        found.append(f"{key}: only the operator's file sparkconfig.conf may set this; move it there")
    if "{{secrets/" in text:
        found.append(
            f"{key}: Databricks expands {{{{secrets/…}}}} only in the cluster's own configuration; write it there, or a"
            f" reference such as ${{{provider}:SCOPE:KEY}} here"
        )
    return found


# As templates write what differs: https://WORKSPACE.cloud.databricks.com, https://<workspace>.azuredatabricks.net.
_TEMPLATE_HOST = re.compile(
    r"^https?://(?:[A-Z][A-Z_-]{2,40}[0-9X]*|<[^<>]*>|your-[\w-]+|adb-x+\.x+|\$\{\w+\}|\{\{[^/]*\}\}|%\w+%)[.:/]"
)


class _Parser(argparse.ArgumentParser):
    """argparse quotes the words that it does not understand, and one of them may be a secret in the wrong place."""

    def error(self, _: str) -> NoReturn:
        self.exit(2, f"sparkconfig: the command line is wrong; '{self.prog} --help' shows the options\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the fragment; problems go to standard error, with exit code 1, or 2 for a wrong command line."""
    parser = _Parser(
        prog="python -m sparkconfig.databricks", description="Print a driver's confs.", allow_abbrev=False
    )
    parser.add_argument(
        "--fragments", type=Path, required=True, help="the folder with the driver's fragments"
    )
    parser.add_argument("--own", required=True, help="the name of the fragment to write, which is not read")
    parser.add_argument("--confs", type=Path, help="Spark confs, as in spark-defaults.conf")
    parser.add_argument(
        "--agent-python", help="the Python of the side process, if no operator's file names it"
    )
    options = parser.parse_args(arguments)
    try:
        confs = properties.load(options.confs.read_bytes()) if options.confs else {}
        others = sorted(path for path in options.fragments.glob("*.conf") if path.name != options.own)
        plugins = plugins_of(path.read_text("utf-8", "replace") for path in others)
        trimmed = {key: text.strip() for key, text in confs.items()}
        sys.stdout.write(fragment(trimmed, plugins, agent_python=options.agent_python))
    except (SparkConfigError, OSError) as error:
        reason = (
            str(error)
            if isinstance(error, SparkConfigError)
            else f"{options.confs or options.fragments}: {error.strerror}"
        )
        print(f"sparkconfig: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

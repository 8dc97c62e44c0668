"""``sparkconfig init``: the lines to paste."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.keys import add_key_options, key_param, key_words
from sparkconfig.cli.output import Output
from sparkconfig.errors import ConfigurationError

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

HELP = "print the lines that turn sparkconfig on"

_EPILOG = """\
examples:
  sparkconfig init
  sparkconfig init --for defaults >> "$SPARK_HOME/conf/spark-defaults.conf"
  sparkconfig init --conf-file job.conf
  sparkconfig init --sealed-file /etc/shop/shop.sealed --key-file /etc/shop/shop.key
"""
_PLUGIN = "io.sparkconfig.ConfigPlugin"
# Not spark.jars: the --jars of any job would replace it, and the plugin's class would not be found.
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
_LISTS = ("spark.plugins", "spark.config.providers")
_FORMS = ("submit", "defaults", "builder")


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "init",
        description="Print what to paste into a spark-submit command, spark-defaults.conf or a session builder."
        " Nothing is changed.",
        epilog=_EPILOG,
    )
    parser.add_argument("--for", dest="form", choices=_FORMS, help="print one form only")
    parser.add_argument("--spark-home", type=Path, metavar="DIR", help="the Spark to print it for")
    parser.add_argument("--provider", default="sealed", metavar="NAME", help="name of the provider (sealed)")
    parser.add_argument(
        "--sealed-file",
        type=Path,
        default=Path("/path/to/shop.sealed"),
        metavar="FILE",
        help="the sealed file",
    )
    add_key_options(parser)
    parser.add_argument(
        "--conf-file", type=Path, metavar="FILE",
        help="the properties that the lines are for, so that its lists stay (what the output is appended to, or else"
        " spark-defaults.conf)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the lines."""
    from sparkconfig._spark import jars

    if not any((options.key_file, options.key_env)):
        options.key_file = Path("/path/to/shop.key")
    spark = jars.find_spark(options.spark_home)
    jar = jars.find_jar(scala=spark.scala)
    # Each driver and executor of this Spark finds it there already.
    installed = (spark.jars / jar.name).is_file()
    name = options.provider
    # A provider takes absolute paths: a driver may start in any folder.
    params = {"file": str(options.sealed_file.absolute()), **key_param(options)}
    own = {
        "spark.plugins": _PLUGIN,
        "spark.config.providers": name,
        f"spark.config.providers.{name}.class": "sealed",
        **{f"spark.config.providers.{name}.param.{param}": value for param, value in params.items()},
    }
    listed, file = _listed(options, spark.home)
    for key in _LISTS:
        own[key] = _joined(listed.get(key, ""), own[key], ",")
    if any(listed.get(key, text) != text for key, text in own.items() if key not in _LISTS):
        raise ConfigurationError(
            f"{file} declares the provider '{name}' already, with other settings; name another with --provider"
        )
    paths = {} if installed else {key: _joined(listed.get(key, ""), str(jar), ":") for key in _CLASS_PATHS}
    confs = {**paths, **own}
    texts = {
        "submit": _submit(None if installed else _joined(listed.get("spark.jars", ""), str(jar), ","), own),
        "defaults": "\n".join([_merged(file), *(f"{key:<47} {value}" for key, value in confs.items())]),
        "builder": _builder(name, params),
    }
    if options.form:
        out.result(
            {"jar": str(jar), "confs": confs, options.form: texts[options.form]}, [texts[options.form]]
        )
        return ExitCode.OK
    out.result({"jar": str(jar), "confs": confs, **texts}, _explained(texts, options, installed=installed))
    return ExitCode.OK


def _listed(options: argparse.Namespace, home: Path) -> tuple[Mapping[str, str], Path | None]:
    """What the file says that the lines are for, and its name: later lines replace earlier ones there."""
    from sparkconfig.checks.conf_files import read_confs
    from sparkconfig.formats import properties

    if options.conf_file is not None:
        return read_confs([options.conf_file]), options.conf_file
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    try:
        appended = options.form == "defaults" and fcntl.fcntl(1, fcntl.F_GETFL) & os.O_APPEND  # a shell's >>
        file = Path("/dev/fd/1") if appended else defaults
        return properties.load(file.read_bytes()), None if appended else file
    except (OSError, ValueError):
        return {}, None  # Spark itself says what is wrong with it


def _merged(file: Path | None) -> str:
    lists = "the plugins, providers and class paths"
    if file is None:
        return f"# Later lines win: for a file that has {lists} of its own, print these with --conf-file FILE"
    return f"# With {lists} of {file}; for another file print these with --conf-file FILE"


def _joined(before: str, own: str, separator: str) -> str:
    """A list with ``own`` at its end; copies of the jar of other versions go."""
    parts = [part.strip() for part in before.split(separator)]
    kept = [part for part in parts if part and part != own and "sparkconfig_2.1" not in part]
    return separator.join([*kept, own])


def _explained(texts: dict[str, str], options: argparse.Namespace, *, installed: bool) -> list[str]:
    where = f"{key_words(options)} --file {shlex.quote(str(options.sealed_file))}"
    new = "--new-key " if options.key_file and not options.key_file.exists() else ""
    # After a migration it is there.
    create = [] if options.sealed_file.exists() else [f"#   sparkconfig seal create {new}{where}"]
    submit, defaults = "# spark-submit", "# or conf/spark-defaults.conf"
    if not installed:
        submit += "; other jars of the job stand in the same --jars, behind commas"
        defaults += (
            "; the jar has to be there on each host. After 'sparkconfig install' on them, no path is needed"
        )
    return [
        submit,
        texts["submit"],
        "",
        defaults,
        texts["defaults"],
        "",
        "# or Python, started as 'python app.py'",
        texts["builder"],
        "",
        "# A password in the sealed file; it is asked for, or read from standard input:",
        *create,
        f"#   sparkconfig seal set {where} shop:password",
        f"# Then write ${{{options.provider}:shop:password}} wherever the password was.",
        f"# On a command line in single quotes, --conf 'spark.shop.password=${{{options.provider}:shop:password}}':",
        "# in double quotes the shell replaces a reference with nothing.",
    ]


def _submit(jar: str | None, confs: dict[str, str]) -> str:
    parts = ["spark-submit" if jar is None else f"spark-submit --jars {shlex.quote(jar)}"]
    parts += [f"  --conf {shlex.quote(f'{key}={value}')}" for key, value in confs.items()]
    return " \\\n".join([*parts, "  app.py"])


def _builder(name: str, params: dict[str, str]) -> str:
    provider = {"class": "sealed", **params}
    written = ", ".join(f"{json.dumps(key)}: {value!r}" for key, value in provider.items())
    return f"""\
from pyspark.sql import SparkSession
from sparkconfig.session import configure

providers = {{{name!r}: {{{written}}}}}
spark = configure(SparkSession.builder, providers=providers).getOrCreate()"""

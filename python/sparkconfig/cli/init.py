"""``sparkconfig init``: the lines to paste."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

_EPILOG = """\
examples:
  sparkconfig init
  sparkconfig init --for defaults >> "$SPARK_HOME/conf/spark-defaults.conf"
  sparkconfig init --sealed-file /etc/shop/secrets.sealed --key-file /etc/shop/shop.key
"""
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
    parser.add_argument(
        "--provider", default="secrets", metavar="NAME", help="name of the provider (secrets)"
    )
    parser.add_argument(
        "--sealed-file", default="/path/to/secrets.sealed", metavar="FILE", help="the sealed file"
    )
    parser.add_argument("--key-file", default="/path/to/secrets.key", metavar="FILE", help="the key file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the lines."""
    from sparkconfig._spark import jars

    jar = str(jars.find_jar(options.spark_home))
    name = options.provider
    own = {
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.providers": name,
        f"spark.config.providers.{name}.class": "sealed",
        f"spark.config.providers.{name}.param.file": options.sealed_file,
        f"spark.config.providers.{name}.param.key.file": options.key_file,
    }
    confs = {"spark.jars": jar, **own}
    texts = {
        "submit": _submit(jar, own),
        "defaults": "\n".join(f"{key:<47} {value}" for key, value in confs.items()),
        "builder": _builder(name, options.sealed_file, options.key_file),
    }
    if options.form:
        out.result({"jar": jar, "confs": confs, options.form: texts[options.form]}, [texts[options.form]])
        return ExitCode.OK
    out.result({"jar": jar, "confs": confs, **texts}, _explained(texts, options))
    return ExitCode.OK


def _explained(texts: dict[str, str], options: argparse.Namespace) -> list[str]:
    key_file, sealed_file = shlex.quote(options.key_file), shlex.quote(options.sealed_file)
    return [
        "# spark-submit",
        texts["submit"],
        "",
        "# or conf/spark-defaults.conf",
        texts["defaults"],
        "",
        "# or Python, started as 'python app.py'",
        texts["builder"],
        "",
        "# A password in the sealed file; it is asked for, or read from standard input:",
        f"#   sparkconfig seal create --new-key --key-file {key_file} --file {sealed_file}",
        f"#   sparkconfig seal set --key-file {key_file} --file {sealed_file} shop:password",
        f"# Then write ${{{options.provider}:shop:password}} wherever the password was.",
        f"# On a command line in single quotes, --conf 'spark.shop.password=${{{options.provider}:shop:password}}':",
        "# in double quotes the shell replaces a reference with nothing.",
    ]


def _submit(jar: str, confs: dict[str, str]) -> str:
    parts = [f"spark-submit --jars {shlex.quote(jar)}"]
    parts += [f"  --conf {shlex.quote(f'{key}={value}')}" for key, value in confs.items()]
    return " \\\n".join([*parts, "  app.py"])


def _builder(name: str, sealed_file: str, key_file: str) -> str:
    return f"""\
from pyspark.sql import SparkSession
from sparkconfig.session import configure

providers = {{{name!r}: {{"class": "sealed", "file": {sealed_file!r}, "key.file": {key_file!r}}}}}
spark = configure(SparkSession.builder, providers=providers).getOrCreate()"""

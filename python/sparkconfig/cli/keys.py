"""The options that say where the key of a sealed file is."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkconfig.sealed.keys import KeySource

__all__ = ["add_key_options", "key_and_param", "key_of", "key_param", "key_words", "named_by"]


def add_key_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--key-file`` and ``--key-env``, of which one may be given."""
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key-file", type=Path, metavar="FILE", help="file with its key, 0600")
    key.add_argument("--key-env", metavar="VAR", help="environment variable with its key")


def key_of(options: argparse.Namespace, prefix: str = "") -> KeySource | None:
    """Return the key that the options name, None if none of them was given; ``prefix`` is ``new-`` for a new key.

    Its errors name the option rather than the variable: the key itself may have been typed there.
    """
    from sparkconfig.sealed.keys import EnvKey, KeyFile

    file, variable = (
        getattr(options, f"{prefix}{kind}".replace("-", "_")) for kind in ("key-file", "key-env")
    )
    if file is not None:
        return KeyFile(file)
    if variable is not None:
        return EnvKey(variable, shown=named_by(f"--{prefix}key-env"))
    return None


def named_by(option: str) -> str:
    """Say which environment variable is meant without its name."""
    return f"environment variable whose name {option} takes"


def key_and_param(options: argparse.Namespace) -> tuple[KeySource, dict[str, str]]:
    """Return the key, and the param that tells a provider of it.

    Raises:
        UsageError: none of the options was given.
    """
    key = key_of(options)
    if key is None:
        options.parser.refuse("name the key of the sealed file: --key-file or --key-env")
        raise AssertionError
    return key, key_param(options)


def key_param(options: argparse.Namespace) -> dict[str, str]:
    """Return the param that tells a provider of the key that the options name."""
    if options.key_file is not None:
        return {"key.file": str(options.key_file.absolute())}
    return {"key.env": options.key_env}


def key_words(options: argparse.Namespace) -> str:
    """Return the option that names the key, for a shell; of a variable no name, since it may be the key itself."""
    if options.key_file is not None:
        return f"--key-file {shlex.quote(str(options.key_file))}"
    return "--key-env VAR"

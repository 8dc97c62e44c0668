"""The options that say where the key of a sealed file is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkconfig.sealed.keys import KeySource

__all__ = ["add_key_options", "key_and_param"]


def add_key_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--key-file``, ``--key-env`` and ``--passphrase-env``, of which one may be given."""
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key-file", type=Path, metavar="FILE", help="file with its key, 0600")
    key.add_argument("--key-env", metavar="VAR", help="environment variable with its key")
    key.add_argument("--passphrase-env", metavar="VAR", help="environment variable with its passphrase")


def key_and_param(options: argparse.Namespace) -> tuple[KeySource, dict[str, str]]:
    """Return the key, and the param that tells a provider of it.

    Raises:
        UsageError: none of the options was given.
    """
    from sparkconfig.sealed.keys import EnvKey, KeyFile, Passphrase

    if options.key_file is not None:
        return KeyFile(options.key_file), {"key.file": str(options.key_file.absolute())}
    if options.key_env is not None:
        return EnvKey(options.key_env), {"key.env": options.key_env}
    if options.passphrase_env is not None:
        return Passphrase(options.passphrase_env), {"passphrase.env": options.passphrase_env}
    options.parser.refuse("name the key of the sealed file: --key-file, --key-env or --passphrase-env")
    raise AssertionError

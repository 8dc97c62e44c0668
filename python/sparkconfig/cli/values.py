"""Where a secret value comes from: a prompt, standard input, or the environment; never the command line."""

from __future__ import annotations

import os
import sys

from sparkconfig.cli.keys import named_by
from sparkconfig.errors import ConfigurationError

__all__ = ["read_value"]

_LARGEST = 1 << 20


def read_value(name: str, *, variable: str | None, exact: bool, allow_empty: bool) -> str:
    """Return the value for ``name``.

    Args:
        name: what is being set, for prompts and messages.
        variable: the environment variable to take it from, or None.
        exact: whether a line end at the end of standard input belongs to the value.
        allow_empty: whether an empty value is wanted.

    Raises:
        ConfigurationError: there is none, it is empty, no text, or the two answers differ.
    """
    if variable is not None:
        value = _from_environment(variable)
    elif sys.stdin is not None and sys.stdin.isatty():
        value = _asked(name)
    else:
        value = _from_standard_input(exact=exact)
    if not value and not allow_empty:
        raise ConfigurationError(f"the value for '{name}' is empty; if that is meant, add --allow-empty")
    return value


def _from_environment(variable: str) -> str:
    value = os.environ.get(variable)
    if value is None:
        # The name may be the value itself, typed in the wrong place.
        raise ConfigurationError(f"the {named_by('--from-env')} is not set; leave out the $ before the name")
    return value


def _asked(name: str) -> str:
    import getpass

    try:
        first = getpass.getpass(f"value for {name}: ")
        again = getpass.getpass("the same again: ")
    except EOFError:  # Ctrl-D
        raise ConfigurationError("no value was typed; nothing was changed") from None
    if again != first:
        raise ConfigurationError("the two values differ; nothing was changed")
    return first


def _from_standard_input(*, exact: bool) -> str:
    raw = b"" if sys.stdin is None else sys.stdin.buffer.read(_LARGEST + 3)
    if len(raw) > _LARGEST + 2:
        raise ConfigurationError("the value on standard input is longer than 1 MiB")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        bad = True
    else:
        bad = False
    if bad:
        raise ConfigurationError(
            "the value on standard input is not UTF-8 text; encode it, for example as base64"
        )
    if exact:
        return text
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text

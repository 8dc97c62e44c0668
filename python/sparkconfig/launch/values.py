"""What a command gets: the confs of a properties file, and variables, with values in the places of references."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkconfig.errors import ConfigurationError, UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution import messages
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.settings import operator_file
from sparkconfig.settings.schema import PREFIX

__all__ = ["Resolved", "resolve"]

_ENCODING = sys.getfilesystemencoding().upper()


@dataclass(repr=False)
class Resolved:
    """Texts with values.

    Attributes:
        confs: all confs, also those without references.
        variables: for the environment.
    """

    confs: dict[str, str]
    variables: dict[str, str]


def resolve(
    confs: Mapping[str, str],
    variables: Mapping[str, str],
    *,
    operator: Path | None = None,
    early_only: bool = False,
) -> Resolved:
    """Ask the providers for everything, in one round.

    Args:
        confs: of a properties file; its settings declare the providers, unless an operator's file does.
        variables: of the environment, which may hold references.
        operator: that file; None: the one that a driver here would find.
        early_only: leave references in the confs that the plugin resolves.

    Raises:
        UnresolvedReferenceError: something has no value: then nothing is started.
        ConfigurationError: settings or providers are wrong, or a variable cannot hold its value.
    """
    from sparkconfig.settings.early import is_read_early

    operator = operator or operator_file.find(os.environ)
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    settings = own
    if operator is not None:
        settings = dict(operator_file.load(operator, check=False).settings)
    left = {key for key in confs if key in own or (early_only and not is_read_early(key))}
    result = Resolved({}, {})
    with Resolver.from_confs(settings, operator=operator is not None) as resolver:
        texts = {("conf", key): text for key, text in confs.items() if key not in left}
        texts |= {("variable", name): text for name, text in variables.items()}
        wanted = {
            place: Expression(text, place[1], confs)
            for place, text in texts.items()
            if resolver.is_expression(text)
        }
        resolution = resolver.resolve(wanted.values())
    problems = [
        f"{kind} {key}: no declared provider answers its references"
        for (kind, key), expression in wanted.items()
        if kind == "variable"
        and expression in resolution.values
        and not resolution.values[expression].resolved
    ]
    if resolution.problems or problems:
        raise UnresolvedReferenceError(messages.limited([*resolution.problems, *problems]))
    for place, text in texts.items():
        answer = resolution.values[wanted[place]] if place in wanted else None
        target = result.confs if place[0] == "conf" else result.variables
        target[place[1]] = text if answer is None else answer.reveal()
    unfit = [
        f"the variable {name} cannot hold its value: it holds NUL, or what is not text in {_ENCODING}; keep it as"
        " base64 in the store, or pass it as a conf with --properties-file"
        for name, text in result.variables.items()
        if not _fits(text)
    ]
    if unfit:
        raise ConfigurationError.of(unfit)
    result.confs = {key: result.confs.get(key, text) for key, text in confs.items()}
    return result


def _fits(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False

"""Which values are searched for: what references name, what a sealed file holds, or piped lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from sparkconfig.errors import ConfigurationError
from sparkconfig.language import references
from sparkconfig.resolution import messages
from sparkconfig.resolution.files import matcher, name_of
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.sealed.keys import KeySource
from sparkconfig.sealed.opened import load
from sparkconfig.secret import Secret, parts_of
from sparkconfig.settings import operator_file
from sparkconfig.settings.schema import PREFIX, Settings

__all__ = ["named_in", "of_lines", "of_references", "of_sealed_file"]


def named_in(texts: Iterable[str]) -> list[str]:
    """Return each reference in ``texts`` once, by itself."""
    found = (text[each.start : each.end] for text in texts for each in references.scan(text))
    return list(dict.fromkeys(found))


def of_references(
    wanted: Iterable[str], confs: Mapping[str, str], operator: Path | None = None
) -> dict[str, str]:
    """Ask the providers for references.

    Args:
        wanted: references, each by itself; those to providers that are not declared are left out, as text.
        confs: declare the providers, unless an operator's file does.
        operator: that file; None: the one that a driver here would find.

    Returns:
        The values, by the references as messages write them.

    Raises:
        UnresolvedReferenceError: one has no value: its old one would stay in the logs.
        ConfigurationError: settings or providers are wrong.
    """
    operator = operator or operator_file.find(os.environ)
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    if operator is not None:
        own = dict(operator_file.load(operator, check=False).settings)
    with Resolver.from_confs(own, operator=operator is not None) as resolver:
        known = [text for text in wanted if references.scan(text)[0].provider in resolver.providers]
        resolved = resolver.resolve_map({text: text for text in known})
    # What is plain is not a secret: a user's or a host's name, by spark.config.redaction.plain.
    secrets = {
        text: value.reveal()
        for text, value in resolved.items()
        if isinstance(value, Secret) and parts_of(value)
    }
    return {messages.written(references.scan(text)[0]): value for text, value in secrets.items()}


def of_sealed_file(path: Path, key: KeySource, provider: str) -> dict[str, str]:
    """Return the values of a sealed file, by the references that name them, but for those plain by default.

    Raises:
        SealedFileError: it cannot be opened.
    """
    opened = load(path, key)
    plain = matcher(Settings().redaction_plain)
    secret = [
        name for name in opened.names() if not plain.fullmatch(name_of(provider, name.section, name.key))
    ]
    return {f"${{{provider}:{name}}}": opened.value(name) for name in secret}


def of_lines(raw: bytes) -> dict[str, str]:
    """Return each line as a value, by its number.

    Raises:
        ConfigurationError: they are not UTF-8 text.
    """
    try:
        lines = raw.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        lines = None
    if lines is None:
        raise ConfigurationError("the values on standard input are not UTF-8 text")
    return {f"line {number} of standard input": line for number, line in enumerate(lines, 1) if line}

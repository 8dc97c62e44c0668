"""Params of a provider, declared once: checks, messages and the docs' table come from the same lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkconfig._base import durations
from sparkconfig._base.gone import GONE
from sparkconfig._base.record import Record
from sparkconfig._base.text import nearest
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
)
from sparkconfig.providers._kit.paths import failure

__all__ = ["Param", "ParamValues", "read_params"]


class Param(Record):
    """One documented param, ``spark.config.providers.NAME.param.<name>``.

    Attributes:
        name: the part behind ``.param.``.
        doc: what it means, in half a sentence, as Markdown.
        default: the text used when it is absent; None means that it stays unset.
        required: whether configure fails without it.
        secret: whether its value is one: it should be a reference to another provider or be in a file, and
            no message repeats it.
        choices: the values allowed, if they are few.
    """

    name: str
    doc: str
    default: str | None = None
    required: bool = False
    secret: bool = False
    choices: tuple[str, ...] = ()


class ParamValues:
    """Checked params of one provider. Asking for a name that was not declared is a mistake in the code."""

    def __init__(self, provider: str, table: Sequence[Param], given: Mapping[str, str]) -> None:
        self._provider = provider
        self._table = {param.name: param for param in table}
        self._given = given

    def text(self, name: str) -> str:
        """Return the value.

        Raises:
            ConfigurationError: it is unset.
        """
        value = self.optional(name)
        if value is None:
            raise self.wrong(name, "is not set: " + self._table[name].doc)
        return value

    def optional(self, name: str) -> str | None:
        """Return the value or the default; an empty text counts as unset."""
        value = self._given.get(name, "")
        return value if value.strip() else self._table[name].default

    def number(self, name: str, least: int = 0) -> int:
        """Return a whole number of at least ``least``."""
        text = self.text(name).strip()
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):
            raise self.wrong(name, f"must be a whole number from {least}", text)
        return int(text)

    def milliseconds(self, name: str, least: int = 1) -> int | None:
        """Return milliseconds from ``500ms``, ``10s``, ``5m``, ``1h`` (no unit: ms), or None when unset."""
        text = self.optional(name)
        if text is None:
            return None
        try:
            return durations.milliseconds(text, least)
        except ValueError as error:
            problem = str(error)
        raise self.wrong(name, f"must be a duration: {problem}")

    def expression(self, name: str) -> re.Pattern[str]:
        """Return a regular expression; its classes of characters know ASCII alone."""
        text = self.text(name)
        try:
            return re.compile(text, re.ASCII)
        except re.error:
            pass
        raise self.wrong(name, "is not a regular expression", text)

    def patterns(self, name: str) -> tuple[str, ...]:
        """Return a comma-separated list, trimmed, without empty parts."""
        return tuple(part.strip() for part in (self.optional(name) or "").split(",") if part.strip())

    def file_text(self, name: str) -> str:
        """Return what is in the file that the param names, stripped: a token, a password, a JWT."""
        path = self.text(name)
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise self._unreadable(name, path, error) from None

    def server(self, name: str, address: str) -> str:
        """Return the URL of a server without a slash at its end; ``address`` may come from the environment.

        Raises:
            ConfigurationError: it is no address of a server: no outage that may pass.
        """
        stripped = address.strip().rstrip("/")
        found = re.match(
            r"https?://(?:[^\s/@]{0,500}@)?(?:[^\s/@?#\[\]:]+|\[[\w.:%]+\])(?::(\d+))?(?:/\S*)?$",
            stripped,
            re.IGNORECASE,
        )
        if found is None or int(found[1] or 1) not in range(1, 1 << 16):
            raise self.wrong(name, "needs http:// or https:// and a host", address)
        return stripped

    def identity(self, name: str) -> str:
        """Return the text of a file that may be replaced at any time; without it there is no identity.

        Raises:
            AccessDeniedError: it is not there, may not be read, or is empty.
            ProviderUnavailableError: the system cannot read it now, as when this process has no descriptor left.
        """
        path = self.text(name)
        kind: type[ProviderError] = AccessDeniedError
        try:
            text = Path(path).read_text(encoding="utf-8").strip()
            problem = self.wrong(name, "names an empty file")
        except (OSError, ValueError) as error:
            text, problem = "", self._unreadable(name, path, error)
            if isinstance(failure(error, path), ProviderUnavailableError):
                kind = ProviderUnavailableError
        if not text:
            raise kind(str(problem))
        return text

    def _unreadable(self, name: str, path: str, error: Exception) -> ConfigurationError:
        return self.wrong(name, f"names a file that cannot be read ({type(error).__name__})", path)

    def wrong(self, name: str, problem: str, value: str | None = None) -> ConfigurationError:
        """Return an error that names the param, and its value unless that is a secret."""
        shown = "" if value is None or self._table[name].secret else f": {value!r}"
        return ConfigurationError(f"provider {self._provider}: param {name} {problem}{shown}")


def read_params(provider: str, table: Sequence[Param], given: Mapping[str, str]) -> ParamValues:
    """Check ``given`` against ``table``.

    Raises:
        ConfigurationError: a param is unknown, missing, or none of its choices.
    """
    known = {param.name: param for param in table}
    for name in sorted(set(given) - set(known)):
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else "known are " + ", ".join(sorted(known))
        hint = GONE.get(f"{provider}.{name}", hint)
        raise ConfigurationError(f"provider {provider}: unknown param {name}; {hint}")
    values = ParamValues(provider, table, given)
    for param in table:
        value = values.optional(param.name)
        if value is None and param.required:
            raise values.wrong(param.name, "is not set: " + param.doc)
        if value is not None and param.choices and value not in param.choices:
            choices = "must be one of " + ", ".join(param.choices)
            raise values.wrong(param.name, GONE.get(f"{provider}.{param.name}={value}", choices), value)
    return values

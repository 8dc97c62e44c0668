"""One provider tried with the operator's configuration: what it may read, never what it reads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig._base.deadline import CallPool
from sparkconfig._base.text import counted
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.errors import ConfigurationError, ProviderTimeoutError, SparkConfigError
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution.declared import load_providers
from sparkconfig.resolution.lookups import harmless
from sparkconfig.settings import operator_file
from sparkconfig.settings.schema import PREFIX

__all__ = ["Trial", "try_provider"]

_SECONDS = 60.0
"""How long one read may take before it is given up; providers have shorter deadlines of their own."""


@dataclass(frozen=True)
class _Read:
    path: str
    keys: tuple[str, ...] = ()
    ttl: int | None = None
    error: SparkConfigError | None = None


@dataclass
class Trial:
    """What a provider answered, without values.

    Attributes:
        name: the provider's name.
        kind: its class.
        reads: one for each path.
    """

    name: str
    kind: str
    reads: list[_Read] = field(default_factory=list)

    @property
    def code(self) -> ExitCode:
        """The exit code of the first path that failed, else OK."""
        return next((code_for(each.error) for each in self.reads if each.error), ExitCode.OK)

    def as_json(self) -> dict[str, object]:
        """Return it for machines."""
        reads = [
            {
                "path": each.path,
                "keys": list(each.keys),
                "ttl": each.ttl,
                "error": None
                if each.error is None
                else {"type": type(each.error).__name__, "message": str(each.error)},
            }
            for each in self.reads
        ]
        return {"ok": self.code is ExitCode.OK, "provider": self.name, "class": self.kind, "reads": reads}

    def lines(self) -> list[str]:
        """Return it for people."""
        lines = [f"{self.name} ({self.kind}): configured"]
        if not self.reads:
            lines.append("nothing was read; add --path to try a path")
        for each in self.reads:
            if each.error is not None:
                lines.append(f"path {each.path!r}: {type(each.error).__name__}: {each.error}")
                continue
            good = "no ttl" if each.ttl is None else f"ttl {each.ttl} ms"
            lines.append(
                f"path {each.path!r}: {counted(len(each.keys), 'key')} ({good}): {', '.join(each.keys) or '-'}"
            )
        return lines


def try_provider(
    name: str,
    paths: Sequence[str],
    *,
    keys: Set[str] | None,
    confs: Mapping[str, str] | None = None,
    operator: Path | None = None,
) -> Trial:
    """Configure the providers as a start does, and read each path of one.

    Args:
        name: the provider.
        paths: what to read.
        keys: to ask for; None: all.
        confs: the application's confs; with an operator's file only its own settings count.
        operator: the operator's file, instead of the one that a driver here would find.

    Raises:
        ConfigurationError: there is no such provider, or it cannot be configured.
    """
    operator = operator or operator_file.find(os.environ)
    if operator is not None:
        confs = operator_file.load(operator, check=False).settings
    with load_providers(confs or {}) as providers:
        provider = providers.get(name)
        if provider is None:
            declared = ", ".join(providers) or "none"
            raise ConfigurationError(
                f"no provider is called '{name}'; {PREFIX}providers declares: {declared}"
            )
        pool = CallPool()
        try:
            reads = [_read(pool, provider, name, path, keys) for path in paths]
        finally:
            pool.close()
        kind = type(provider)
        return Trial(name, f"{kind.__module__}.{kind.__qualname__}", reads)


def _read(pool: CallPool, provider: ConfigProvider, name: str, path: str, keys: Set[str] | None) -> _Read:
    outcome = pool.run([(name, lambda: provider.get(path, keys))], _SECONDS)[0]
    if outcome.late:
        return _Read(path, error=ProviderTimeoutError(f"no answer within {_SECONDS:.0f} s"))
    if isinstance(outcome.error, SparkConfigError):
        return _Read(path, error=harmless(outcome.error, name, path))
    if outcome.error is not None or outcome.value is None:
        return _Read(
            path, error=ConfigurationError(f"the provider failed with {type(outcome.error).__name__}")
        )
    data = outcome.value.data
    return _Read(path, tuple(sorted(data)), outcome.value.ttl)

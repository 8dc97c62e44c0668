"""Providers from configuration (KIP-421 with the rules of ``spark.config.providers``).

``spark.config.providers=vault,files`` names them, ``.NAME.class`` says what they are (default: the alias
equal to NAME), ``.NAME.param.P`` is what ``configure`` gets. A param may hold references to providers named
earlier.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType

from sparkconfig._base.deadline import CallPool, Outcome
from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    ConfigurationError,
    ProviderTimeoutError,
    SparkConfigError,
    UnresolvedReferenceError,
)
from sparkconfig.language.references import scan
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.providers.envvar import EnvVarConfigProvider
from sparkconfig.providers.registry import find_class
from sparkconfig.resolution.lookups import harmless
from sparkconfig.resolution.transformer import ConfigTransformer
from sparkconfig.settings.foreign import SPARK_EXPANDED
from sparkconfig.settings.kinds import names as name_list
from sparkconfig.settings.schema import PREFIX

__all__ = ["Providers", "Wrap", "load_providers"]

Wrap = Callable[[str, ConfigProvider], ConfigProvider]
_NAME = late(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_log = logging.getLogger(__name__)


class Providers(Mapping[str, ConfigProvider]):
    """Configured providers by name, in the order of their declaration; closes each of them once.

    Args:
        timeout_ms: deadline of one ``configure`` and of one ``close``; None: call on this thread and wait.
    """

    def __init__(self, timeout_ms: int | None = None) -> None:
        self._timeout_ms = timeout_ms
        self._providers: dict[str, ConfigProvider] = {}
        self._to_close: list[tuple[str, ConfigProvider]] = []

    def configure(self, name: str, provider: ConfigProvider, params: Mapping[str, str]) -> None:
        """Configure ``provider`` and add it; it is closed with the others even if this fails.

        Raises:
            SparkConfigError: configure failed; the error holds no value.
        """
        self._to_close.append((name, provider))
        outcome = self._run(name, partial(provider.configure, params))
        error = outcome.error
        if outcome.late:
            raise ProviderTimeoutError(
                f"configure() did not return within {self._timeout_ms} ms (spark.config.provider.timeout)"
            )
        if isinstance(error, SparkConfigError):
            raise harmless(error, name, "")
        if error is not None:  # third-party code; its text may hold params
            raise ConfigurationError(f"configure() failed with {type(error).__name__}")
        self._providers[name] = provider

    def close(self) -> None:
        """Close every provider, the last one first; a second call does nothing."""
        while self._to_close:
            name, provider = self._to_close.pop()
            outcome = self._run(name, provider.close)
            if outcome.late:
                _log.warning("provider '%s': close() did not return within %s ms", name, self._timeout_ms)
            elif outcome.error is not None:  # the others still have to be closed
                _log.warning("provider '%s': close() failed with %s", name, type(outcome.error).__name__)

    def _run(self, name: str, call: Callable[[], None]) -> Outcome[None]:
        """Call a provider's own code, within the deadline if there is one."""
        if self._timeout_ms is None:
            try:
                call()
            except Exception as error:  # noqa: BLE001 - third-party code may raise anything
                return Outcome(error=error)
            return Outcome()
        pool = CallPool()
        try:
            return pool.run([(name, call)], self._timeout_ms / 1000)[0]
        finally:
            pool.close()

    def __getitem__(self, name: str) -> ConfigProvider:
        return self._providers[name]

    def __contains__(self, name: object) -> bool:
        return name in self._providers

    def __iter__(self) -> Iterator[str]:
        return iter(self._providers)

    def __len__(self) -> int:
        return len(self._providers)

    def __repr__(self) -> str:
        return f"Providers({', '.join(self._providers)})"

    def __enter__(self) -> Providers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load_providers(
    confs: Mapping[str, str],
    prefix: str = PREFIX,
    *,
    environ: Mapping[str, str] | None = None,
    timeout_ms: int | None = None,
    wrap: Wrap | None = None,
) -> Providers:
    """Make and configure all providers that ``confs`` declares.

    Args:
        confs: settings; keys that do not start with ``prefix`` + ``providers`` are left alone.
        prefix: what is before ``providers``.
        environ: the environment that ``envvar`` providers read; None: this process's.
        timeout_ms: deadline of one ``configure``, and of a lookup that a param needs.
        wrap: puts a provider in front of each provider (name, provider), for example a cache.

    Raises:
        ConfigurationError: all problems of all providers, by conf key; every provider made so far is closed.
    """
    root = f"{prefix}providers"
    names, problems = _names(confs, root)
    classes, params = _sorted(confs, root, names, problems)
    providers = Providers(timeout_ms)
    transformer = ConfigTransformer(providers, unresolved="fail", timeout_ms=timeout_ms)
    try:
        for index, name in enumerate(names):
            try:
                provider = _make(find_class(classes[name]), environ)
                if wrap is not None:
                    provider = wrap(name, provider)
            except ConfigurationError as error:
                problems.append(f"{root}.{name}.class: {error}")
                continue
            problems += _out_of_order(params[name], names, index, providers) or _configure(
                providers, f"{root}.{name}", provider, params[name], transformer
            )
    except BaseException:
        providers.close()
        raise
    finally:
        transformer.close()
    if problems:
        providers.close()
        raise ConfigurationError.of(problems)
    return providers


def _names(confs: Mapping[str, str], root: str) -> tuple[list[str], list[str]]:
    """The declared names that can be used, and what is wrong with the others."""
    good: list[str] = []
    problems: list[str] = []
    for name in name_list.parse(confs.get(root, "")):
        if name in SPARK_EXPANDED:
            use = "; the alias of the environment provider is envvar" if name == "env" else ""
            problems.append(f"{root}: Spark itself expands ${{{name}:...}}; choose another name{use}")
        elif _NAME.fullmatch(name) is None:
            problems.append(
                f"{root}: '{shorten(name, 40)}' is not a provider name; use letters, digits, '-' and '_'"
            )
        else:
            good.append(name)
    return good, problems


def _sorted(
    confs: Mapping[str, str], root: str, declared: list[str], problems: list[str]
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Sort the keys below ``root`` into classes and params; add what fits nowhere to ``problems``.

    Params keep their whole conf key, which is what messages name.
    """
    classes = {name: name for name in declared}
    params: dict[str, dict[str, str]] = {name: {} for name in declared}
    for key, text in confs.items():
        if not key.startswith(root + "."):
            continue
        name, _, rest = key[len(root) + 1 :].partition(".")
        if name not in params:
            problems.append(f"{key}: '{shorten(name, 40)}' is not listed in {root}")
        elif rest == "class":
            classes[name] = text.strip()
        elif rest.startswith("param.") and rest != "param.":
            params[name][key] = text
        elif rest in ("param", "param.", ""):
            problems.append(f"{key}: the name of the param is missing: {root}.{name}.param.NAME")
        else:
            problems.append(f"{key}: params belong under .param.; write {root}.{name}.param.{rest}")
    return classes, params


def _make(kind: type[ConfigProvider], environ: Mapping[str, str] | None) -> ConfigProvider:
    try:
        if environ is not None and issubclass(kind, EnvVarConfigProvider):
            return kind(environ)
        provider = kind()
    except SparkConfigError as error:
        raise ConfigurationError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - third-party code
        problem = f"cannot be created: {type(error).__name__}"
    else:
        return provider
    raise ConfigurationError(problem)


def _out_of_order(params: Mapping[str, str], declared: list[str], index: int, ready: Providers) -> list[str]:
    """References in params to providers that come later, or that could not be made themselves."""
    return [
        f"{key}: the reference needs provider '{provider}', which "
        + ("could not be made" if provider in declared[:index] else "is not declared earlier")
        for key, text in params.items()
        for provider in dict.fromkeys(reference.provider for reference in scan(text))
        if provider in declared and provider not in ready
    ]


def _configure(
    providers: Providers,
    key: str,
    provider: ConfigProvider,
    params: Mapping[str, str],
    transformer: ConfigTransformer,
) -> list[str]:
    """Resolve the params, configure the provider ``name``, whose keys begin with ``key``; return problems."""
    try:
        resolved = transformer.transform(params).reveal()
    except UnresolvedReferenceError as error:
        return list(error.problems)
    start = len(f"{key}.param.")
    try:
        ready = {param[start:]: str(value) for param, value in resolved.items()}
        providers.configure(key.rpartition(".")[2], provider, ready)
    except SparkConfigError as error:
        return [f"{key}: {error}"]
    return []

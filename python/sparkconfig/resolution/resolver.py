"""The brain of one application: what a text with references means, for the agent, the command and users."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from sparkconfig._base.deadline import CallPool
from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderTimeoutError,
    SecretNotFoundError,
    SparkConfigError,
    SubstitutionError,
    UnresolvedReferenceError,
)
from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.base import Evaluated, Language, PlainLanguage
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import Reference
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution import messages
from sparkconfig.resolution.declared import Wrap, load_providers
from sparkconfig.resolution.files import FileRules, matcher, name_of
from sparkconfig.resolution.lookups import Lookups
from sparkconfig.resolution.result import Resolution, ResolvedValue, Source
from sparkconfig.secret import Secret
from sparkconfig.settings.schema import DEFAULT_PLAIN, Parsed, Settings, read

if TYPE_CHECKING:
    from sparkconfig.substitution import Command

__all__ = ["Expression", "Resolution", "ResolvedValue", "Resolver", "Source", "is_expression"]

_log = logging.getLogger(__name__)


def is_expression(text: str, *, substitution: bool = False) -> bool:
    """Cheap test whether a text may hold something to resolve."""
    return "${" in text or (substitution and "$[" in text)


class Resolver:
    """Resolves expressions with the providers and settings of one application.

    Args:
        providers: configured providers by name.
        settings: the application's settings.
        language: what else than ``${...}`` has a meaning.
        close: called by :meth:`close`, to end the providers.
    """

    def __init__(
        self,
        providers: Mapping[str, ConfigProvider],
        settings: Settings | None = None,
        *,
        language: Language | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.providers = providers
        self.settings = settings or Settings()
        self._plain = matcher(self.settings.redaction_plain)
        self._plain_by_store = set(DEFAULT_PLAIN) <= set(self.settings.redaction_plain)
        self._language = language or PlainLanguage()
        self._close = close
        self._pool = CallPool()
        self._rounds = itertools.count(1)

    @classmethod
    def from_confs(
        cls,
        confs: Mapping[str, str],
        *,
        environ: Mapping[str, str] | None = None,
        sysprops: Mapping[str, str] | None = None,
        operator: bool = False,
        wrap: Wrap | None = None,
        parsed: Parsed | None = None,
    ) -> Resolver:
        """Make the resolver that ``confs`` describe.

        Args:
            confs: settings (``spark.config.*``); all other keys are left alone.
            environ: the environment that ``envvar`` and ``$[envVar=...]`` read; None: this process's.
            sysprops: what ``$[sysProp=...]`` reads; in Spark the driver JVM's system properties.
            operator: whether ``confs`` are an operator's: the allowlists of KIP-269's types then begin empty.
            wrap: puts a provider in front of each provider (name, provider), for example a cache.
            parsed: the settings of ``confs``, if they were read before.

        Raises:
            ConfigurationError: everything that is wrong with settings and providers.
        """
        settings, found = parsed or read(confs)
        problems = list(found)
        try:
            providers = load_providers(
                confs, environ=environ, timeout_ms=settings.provider_timeout, wrap=wrap
            )
        except ConfigurationError as error:
            raise ConfigurationError.of([*problems, *error.problems]) from None
        language: Language | None = None
        try:
            if settings.substitution_enabled:
                from sparkconfig.language.mixed import MixedLanguage

                language = MixedLanguage.from_confs(confs, settings, environ, sysprops, operator=operator)
        except ConfigurationError as error:
            problems += error.problems
        if problems:
            providers.close()
            raise ConfigurationError.of(problems)
        return cls(providers, settings, language=language, close=providers.close)

    def resolve(
        self,
        expressions: Iterable[Expression],
        files: FileRules | None = None,
        *,
        held: bool = False,
        failures: bool = False,
    ) -> Resolution:
        """Resolve all ``expressions`` in one round: each (provider, path) is asked once.

        Args:
            expressions: what to resolve.
            files: which values are needed as files; markers stand for their paths. None: none are.
            held: answer from what the caches hold, without waiting for a store and without a log line.
            failures: have all read, and evaluate only those for which a provider failed.

        Raises nothing for what has no value: see :class:`Resolution`.
        """
        lookups = Lookups(self._memories() if held else self.providers, files)
        language = self._language.begin()
        wanted = {each: language.references(each) for each in dict.fromkeys(expressions)}
        for references in wanted.values():
            lookups.want(references)
        lookups.fetch(None if held else self._pool, self.settings.provider_timeout)
        resolution = Resolution(ttls=lookups.ttls, generation=next(self._rounds))
        deadline = time.monotonic() + self.settings.provider_timeout / 1000
        for expression, references in wanted.items():
            if failures and not any(reference[:2] in lookups.errors for reference in references):
                continue
            call = partial(language.evaluate, expression, references, lookups.fill)
            if self._language.custom and "$[" in expression.text:
                evaluated = self._evaluate_until(deadline, expression, call)
            else:
                evaluated = call()
            self._classify(expression, evaluated, lookups, resolution)
        if not held and not failures:
            for text in resolution.notes_of(wanted):
                _log.warning("%s", text)
        return resolution

    def _memories(self) -> Mapping[str, ConfigProvider]:
        """What answers at once; a provider without a cache is asked itself."""
        return {name: getattr(each, "memory", each) for name, each in self.providers.items()}

    def resolve_map(self, configs: Mapping[str, str]) -> dict[str, Secret | str]:
        """Resolve a whole map in one round; what was not resolved is the text that was given.

        Raises:
            UnresolvedReferenceError: all problems, in the order of the map.
        """
        expressions = self._expressions(configs)
        resolution = self.resolve(expressions.values())
        if resolution.problems:
            problems = resolution.problems
            del resolution
            raise UnresolvedReferenceError(messages.limited(problems))
        result: dict[str, Secret | str] = dict(configs)
        for key, expression in expressions.items():
            result[key] = resolution.values[expression].value
        return result

    def is_expression(self, text: str) -> bool:
        """Cheap test whether ``text`` may hold something to resolve under these settings."""
        return is_expression(text, substitution=self.settings.substitution_enabled)

    def explain(self, configs: Mapping[str, str]) -> list[Source]:
        """Tell where the values of ``configs`` come from, asking the providers, without any value."""
        expressions = self._expressions(configs).values()
        resolution = self.resolve(expressions)
        return [source for expression in expressions for source in resolution.provenance[expression]]

    def substitutions(self, text: str) -> list[Command | None]:
        """Return the ``$[...]`` of a text, None for each that is not a substitution; empty if they are off."""
        return self._language.substitutions(text)

    def close(self) -> None:
        """Close the providers and end the helper threads; once."""
        self._pool.close()
        self._close()

    def __enter__(self) -> Resolver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _expressions(self, configs: Mapping[str, str]) -> dict[str, Expression]:
        texts = dict(configs)
        siblings = MappingProxyType(texts)
        substitution = self.settings.substitution_enabled
        return {
            key: Expression(text, key, siblings)
            for key, text in texts.items()
            if isinstance(text, str) and ("${" in text or (substitution and "$[" in text))
        }

    def _evaluate_until(
        self, deadline: float, expression: Expression, call: Callable[[], Evaluated]
    ) -> Evaluated:
        """Evaluate where a custom type may hang; all of a round together have one provider call's time."""
        (outcome,) = self._pool.run([("$[", call)], max(0.0, deadline - time.monotonic()))
        if outcome.value is not None:
            return outcome.value
        where = "" if expression.key is None else f"{shorten(expression.key)}: "
        error: SparkConfigError
        if outcome.error is not None:
            error = SubstitutionError(f"{where}the evaluation failed with {type(outcome.error).__name__}")
        else:
            error = ProviderTimeoutError(
                f"{where}a substitution type did not answer within {self.settings.provider_timeout} ms"
                " (spark.config.provider.timeout)"
            )
        return Evaluated(expression.text, error=error)

    def _classify(
        self, expression: Expression, evaluated: Evaluated, lookups: Lookups, resolution: Resolution
    ) -> None:
        """Decide what an evaluated expression means: a value, or problems."""
        sources = [
            self._source(expression, r, lookups, generation=resolution.generation) for r in evaluated.answered
        ]
        problems: list[tuple[str, SparkConfigError]] = []
        if evaluated.error is not None:
            problems.append((str(evaluated.error), evaluated.error))
        for reference in {r[:3]: r for r in evaluated.empty}.values():
            if reference.provider not in self.providers and self._is_foreign(reference.provider):
                continue
            source = self._source(expression, reference, lookups, generation=None)
            sources.append(source)
            error = lookups.errors.get((reference.provider, reference.path))
            if error is None:
                kind = SecretNotFoundError if reference.provider in self.providers else ConfigurationError
                error = kind(source.problem or "")
            if self.settings.unresolved == "keep" and isinstance(
                error, SecretNotFoundError | AccessDeniedError | ConfigurationError
            ):
                resolution.note(expression, f"{source.problem}; it stays as it is written")
            else:
                problems.append((source.problem or "", error))
        for reference in {r[:3]: r for r in evaluated.inert}.values():
            if reference.provider not in self.providers:
                continue  # an odd password rather than a reference
            problem = messages.inert(expression.key, reference)
            if self.settings.unresolved == "keep":
                resolution.note(expression, problem)
            else:
                problems.append((problem, SubstitutionError(problem)))
        resolution.provenance[expression] = sources
        if problems:
            resolution.failed[expression] = [error for _, error in problems]
            resolution.problem_texts[expression] = [text for text, _ in problems]
        else:
            ids = lookups.files_of(evaluated.answered)
            # A path is not a secret. Substitutions name their own secrets.
            secret = [r for r in evaluated.answered if not self._is_plain(r, lookups)]
            secrets = tuple(dict.fromkeys([*lookups.values_of(secret), *evaluated.secrets]))
            all_told = secrets or len(secret) < len(evaluated.answered)
            path_only = bool(ids) and None not in ids and "$[" not in expression.text
            resolution.values[expression] = ResolvedValue(
                evaluated.text,
                redact=evaluated.redact and not path_only,
                resolved=evaluated.changed,
                secrets=secrets if all_told else None,
                files={id_: lookups.files[id_] for id_ in ids if id_ is not None},
            )

    def _is_plain(self, reference: Reference, lookups: Lookups) -> bool:
        """Whether the value is not a secret: the operator says so, or its store, and nothing in it looks like one."""
        provider, path, key = reference[:3]
        if self._plain.fullmatch(name_of(provider, path, key)):
            return True
        place = (provider, path)
        if not self._plain_by_store or key not in lookups.plain.get(place, ()):
            return False
        # Imported here: few applications have such a store.
        from sparkconfig.redaction.forms import looks_secret

        return not looks_secret(key, lookups.data[place][key])

    def _is_foreign(self, provider: str) -> bool:
        # Hadoop's ${env.NAME:-default}
        return provider in self.settings.foreign_providers or provider.startswith("env.")

    def _source(
        self, expression: Expression, reference: Reference, lookups: Lookups, *, generation: int | None
    ) -> Source:
        place = (reference.provider, reference.path)
        provider = self.providers.get(reference.provider)
        return Source(
            conf_key=expression.key,
            provider=reference.provider,
            provider_class=None if provider is None else type(provider).__name__,
            path=reference.path,
            key=reference.key,
            ttl=lookups.ttls.get(place),
            problem=None
            if generation is not None
            else messages.problem(
                expression.key,
                reference,
                self.providers,
                lookups.errors,
                kafka=kafka_options.listed(expression.siblings),
                fields=lookups.objects.get(place, {}).get(reference.key, ()),
            ),
            generation=generation,
        )

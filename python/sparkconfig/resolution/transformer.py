"""ConfigTransformer: replaces references in a map by values (KIP-297)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from sparkconfig._base.deadline import CallPool
from sparkconfig._base.record import Record
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    SecretNotFoundError,
    SparkConfigError,
    UnresolvedReferenceError,
)
from sparkconfig.language.references import Reference, scan
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution import messages
from sparkconfig.resolution.lookups import Lookups
from sparkconfig.resolution.result import Place
from sparkconfig.secret import Secret, secret_with
from sparkconfig.settings.foreign import DEFAULT_FOREIGN

__all__ = ["ConfigTransformer", "ConfigTransformerResult", "Unresolved", "reverse_transform"]

Unresolved = Literal["keep", "fail"]
_Plan = tuple[str, str, list[Reference]]
# A place's references: the key of the map, the text before the reference, the reference's key, the text after it.
_Singles = dict[Place, list[tuple[str, str, str, str]]]
_log = logging.getLogger(__name__)


class ConfigTransformerResult(Record):
    """A transformed map.

    Attributes:
        data: every key of the input. A value in which a reference was replaced is a :class:`Secret`; any
            other is the object that was given.
        ttls: (provider, path) to milliseconds for which its values are good (Kafka keys this by path alone,
            so that one provider's ttl may overwrite another's).
    """

    data: Mapping[str, object]
    ttls: Mapping[Place, int]

    def reveal(self) -> dict[str, object]:
        """Return ``data`` with the secrets in clear. Keep it out of logs, messages and plans."""
        return {k: v.reveal() if isinstance(v, Secret) else v for k, v in self.data.items()}


class ConfigTransformer:
    """Replaces ``${provider:[path:]key}`` in the text values of a map; each (provider, path) is asked once.

    Args:
        providers: name to configured provider.
        unresolved: ``keep`` is Kafka's behaviour: what has no value stays as it is written, and a provider's
            error is raised. ``fail`` reports everything that has no value, in one UnresolvedReferenceError.
        foreign: provider names of others (``sys``, ``env``); never reported as unknown.
        timeout_ms: deadline of one provider call; None: call on this thread and wait.
    """

    def __init__(
        self,
        providers: Mapping[str, ConfigProvider],
        *,
        unresolved: Unresolved = "keep",
        foreign: Collection[str] = DEFAULT_FOREIGN,
        timeout_ms: int | None = None,
    ) -> None:
        if unresolved not in ("keep", "fail"):
            raise ConfigurationError(f"unresolved must be 'keep' or 'fail', not {unresolved!r}")
        self._providers = providers
        self._unresolved = unresolved
        self._foreign = foreign
        self._timeout_ms = timeout_ms
        self._pool = None if timeout_ms is None else CallPool()

    def transform(self, configs: Mapping[str, object]) -> ConfigTransformerResult:
        """Return ``configs`` with values instead of references; None and non-text pass unchanged.

        A value is looked at once: what a provider answers is never scanned again.

        Raises:
            UnresolvedReferenceError: ``fail`` mode: all references without a value, by key and provider;
                ``keep`` mode: several providers failed.
            SparkConfigError: ``keep`` mode: the error of the one provider that failed.
        """
        result, failure = self._transform(configs)
        if failure is not None:
            del result  # no value is in a frame of the traceback
            raise failure
        return result

    def _transform(
        self, configs: Mapping[str, object]
    ) -> tuple[ConfigTransformerResult, SparkConfigError | None]:
        data = dict(configs)
        texts = [(name, value) for name, value in data.items() if isinstance(value, str) and "${" in value]
        lookups = Lookups(self._providers)
        singles, others = _sorted(texts, lookups)
        lookups.fetch(self._pool, self._timeout_ms)
        complete = _fill_singles(singles, lookups.data, data)
        for name, text, references in others:
            filled, empty = lookups.fill(text, references)
            if len(empty) < len(references):
                without = set(empty)
                found = [r for r in references if r not in without] if without else references
                data[name] = Secret(filled, lookups.values_of(found))
            complete = complete and not empty
        failure = None if complete else self._failure(_missing(texts, lookups), lookups.errors)
        return ConfigTransformerResult(data, lookups.ttls), failure

    def close(self) -> None:
        """End the helper threads. The providers belong to the caller."""
        if self._pool is not None:
            self._pool.close()

    def _failure(
        self, missing: Sequence[tuple[str, list[Reference]]], errors: Mapping[Place, SparkConfigError]
    ) -> SparkConfigError | None:
        """Decide what the references without a value mean in this mode; None: they stay as written."""
        if self._unresolved == "keep":
            errors, all_errors = {}, errors
            for place, error in all_errors.items():
                if isinstance(error, SecretNotFoundError | AccessDeniedError):
                    _log.warning("%s; its references stay as they are written", error)
                else:
                    errors[place] = error
            if len({str(error) for error in errors.values()}) == 1:
                return next(iter(errors.values()))
        problems = [
            messages.problem(name, reference, self._providers, errors)
            for name, references in missing
            for reference in {r[:3]: r for r in references}.values()
            if self._counts(reference, errors)
        ]
        return UnresolvedReferenceError(messages.limited(problems)) if problems else None

    def _counts(self, reference: Reference, errors: Mapping[Place, SparkConfigError]) -> bool:
        if self._unresolved == "keep":
            return (reference.provider, reference.path) in errors
        return reference.provider in self._providers or reference.provider not in self._foreign


def _sorted(texts: Sequence[tuple[str, str]], lookups: Lookups) -> tuple[_Singles, list[_Plan]]:
    """Sort the texts with exactly one reference by its place, and scan the others; note all that they want.

    Nearly all texts have one reference. Confs may hold thousands, so no object is made for it here.
    """
    singles: _Singles = {}
    others: list[_Plan] = []
    for name, text in texts:
        before, _, rest = text.partition("${")
        inner, brace, after = rest.partition("}")
        parts = inner.split(":", 2)
        if not brace or len(parts) < 2 or "${" in after:
            if references := scan(text):
                others.append((name, text, references))
                lookups.want(references)
            continue
        place = (parts[0], "" if len(parts) == 2 else parts[1])
        rows = singles.get(place)
        if rows is None:
            singles[place] = rows = []
            lookups.want_place(place)  # places are asked in the order of the map
        rows.append((name, before, parts[-1], after))
    for place, rows in singles.items():
        lookups.want_keys(place, {key for _, _, key, _ in rows})
    return singles, others


def _fill_singles(
    singles: _Singles, answers: Mapping[Place, Mapping[str, str]], data: dict[str, object]
) -> bool:
    """Put values into ``data`` for the references that have one; return whether all have."""
    complete = True
    for place, rows in singles.items():
        answer = answers.get(place)
        if answer is None:
            complete = False
            continue
        for name, before, key, after in rows:
            value = answer.get(key)
            if value is None:
                complete = False
            else:
                data[name] = secret_with(f"{before}{value}{after}", (value,))
    return complete


def _missing(texts: Sequence[tuple[str, str]], lookups: Lookups) -> list[tuple[str, list[Reference]]]:
    """The references without a value, in the order of the map."""
    found = ((name, lookups.fill(text, scan(text))[1]) for name, text in texts)
    return [(name, empty) for name, empty in found if empty]


def reverse_transform(
    raw: Mapping[str, str | None],
    derived: Mapping[str, str | None],
    *,
    is_reference: Callable[[str], bool] = lambda text: bool(scan(text)),
) -> dict[str, str | None]:
    """Put the references of ``raw`` back into a map that was derived from its resolved form (KIP-297).

    Every key of ``derived`` whose raw value holds a reference gets the raw text again, so that the map can be
    stored without secrets. Limit, stated in KIP-297: a value that was copied to another key stays in clear.
    """
    result = dict(derived)
    for key, text in raw.items():
        if key in result and isinstance(text, str) and is_reference(text):
            result[key] = text
    return result

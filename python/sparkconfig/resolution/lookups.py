"""One round of lookups: collect the keys of many texts, ask each (provider, path) once, classify the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from sparkconfig._base.deadline import CallPool, Outcome
from sparkconfig._base.text import shorten
from sparkconfig.errors import ProviderError, ProviderTimeoutError, ProviderUnavailableError, SparkConfigError
from sparkconfig.language.references import Reference, replace
from sparkconfig.providers.base import ConfigData, ConfigProvider
from sparkconfig.resolution.files import FileRules, StoredFile, marker
from sparkconfig.resolution.result import Place

__all__ = ["Lookups", "harmless"]


class Lookups:
    """The lookups of one round.

    Attributes:
        data: place to its answer, only the keys that were requested.
        ttls: place to milliseconds; a negative ttl counts as none (Kafka).
        errors: place to what went wrong there; such a place has no data.
        plain: place to the keys whose values its store does not treat as secrets.
        objects: place to the keys that are objects, with their fields' names.
        files: id to what the file holds, for values that are needed as files; ``data`` has their markers.

    Args:
        files: which values are needed as files; None: none.
    """

    def __init__(self, providers: Mapping[str, ConfigProvider], files: FileRules | None = None) -> None:
        self._providers = providers
        self._rules = files
        self.files: dict[str, StoredFile] = {}
        self._ids: dict[tuple[str, str, str], str] = {}
        self._wanted: dict[Place, set[str]] = {}
        self.data: dict[Place, Mapping[str, str]] = {}
        self.ttls: dict[Place, int] = {}
        self.plain: dict[Place, frozenset[str]] = {}
        self.objects: dict[Place, Mapping[str, tuple[str, ...]]] = {}
        self.errors: dict[Place, SparkConfigError] = {}

    def want(self, references: Iterable[Reference]) -> None:
        """Note the references whose provider is known, for the next :meth:`fetch`."""
        wanted, providers = self._wanted, self._providers
        for reference in references:
            if reference.provider in providers:
                place = (reference.provider, reference.path)
                keys = wanted.get(place)
                if keys is None:
                    wanted[place] = keys = set()
                keys.add(reference.key)

    def want_place(self, place: Place) -> None:
        """Note a place, if its provider is known; :meth:`want_keys` says what of it."""
        if place[0] in self._providers:
            self._wanted.setdefault(place, set())

    def want_keys(self, place: Place, keys: set[str]) -> None:
        """Note keys of a place that was noted before; nothing, if its provider is unknown."""
        known = self._wanted.get(place)
        if known is not None:
            known |= keys

    def fetch(self, pool: CallPool | None = None, timeout_ms: int | None = None) -> None:
        """Ask every place once for all its keys; with a pool and a timeout each call has that deadline."""
        wanted, self._wanted = self._wanted, {}
        calls = [
            (name, partial(self._providers[name].get, path, frozenset(keys)))
            for (name, path), keys in wanted.items()
        ]
        if pool is not None and timeout_ms is not None:
            outcomes = pool.run(calls, timeout_ms / 1000)
        else:
            outcomes = [Outcome.of(call) for _, call in calls]
        for (place, keys), outcome in zip(wanted.items(), outcomes, strict=True):
            if outcome.late:
                self.errors[place] = ProviderTimeoutError(
                    f"provider '{place[0]}' did not answer for path '{shorten(place[1])}'"
                    f" within {timeout_ms} ms (spark.config.provider.timeout)"
                )
            elif outcome.error is not None:
                self.errors[place] = harmless(outcome.error, *place)
            else:
                self._take(place, keys, outcome.value)

    def fill(self, text: str, references: Sequence[Reference]) -> tuple[str, list[Reference]]:
        """Return ``text`` with values for its references, and the references that have none."""
        data = self.data
        if len(references) == 1:  # as nearly all texts
            provider, path, key, start, end = references[0]
            answer = data.get((provider, path))
            only = None if answer is None else answer.get(key)
            return (text, [references[0]]) if only is None else (f"{text[:start]}{only}{text[end:]}", [])
        values: list[str | None] = []
        empty: list[Reference] = []
        for reference in references:
            answer = data.get((reference.provider, reference.path))
            value = None if answer is None else answer.get(reference.key)
            values.append(value)
            if value is None:
                empty.append(reference)
        return replace(text, references, values), empty

    def values_of(self, references: Iterable[Reference]) -> list[str]:
        """The values of the references, without those that are needed as files."""
        return [self.data[r.provider, r.path][r.key] for r in references if self._ids.get(r[:3]) is None]

    def files_of(self, references: Iterable[Reference]) -> list[str | None]:
        """The id of each reference's file, None for those that yield a value."""
        return [self._ids.get(reference[:3]) for reference in references]

    def _take(self, place: Place, keys: set[str], answer: object) -> None:
        """Keep the requested keys, if the answer has the types of the contract."""
        where = f"provider '{place[0]}' broke its contract at path '{shorten(place[1])}': "
        if not isinstance(answer, ConfigData):
            kind = type(answer).__name__
            self.errors[place] = ProviderError(f"{where}get() answered {kind}, not ConfigData")
            return
        ttl = answer.ttl
        if ttl is not None and (not isinstance(ttl, int) or isinstance(ttl, bool)):
            kind = type(ttl).__name__
            self.errors[place] = ProviderError(f"{where}the ttl is {kind}, not whole milliseconds")
            return
        data = answer.data
        kept = dict(data) if data.keys() == keys else {key: data[key] for key in keys if key in data}
        if not set(map(type, kept.values())) <= {str}:
            for key, value in list(kept.items()):
                if value is None:
                    del kept[key]
                elif not isinstance(value, str):
                    kind = type(value).__name__
                    self.errors[place] = ProviderError(f"{where}key '{shorten(key)}' is {kind}, not text")
                    return
        if self._rules is not None:
            try:
                kept = {key: self._as_file(self._rules, place, key, value) for key, value in kept.items()}
            except ProviderError as error:
                self.errors[place] = error
                return
        self.data[place] = kept
        self.plain[place] = answer.plain
        self.objects[place] = answer.objects
        if ttl is not None and ttl >= 0:
            self.ttls[place] = ttl

    def _as_file(self, rules: FileRules, place: Place, key: str, value: str) -> str:
        """The value, or the marker of the file that it is needed as."""
        found = rules.file_of(*place, key, value)
        if found is None:
            return value
        id_, self.files[id_] = found
        self._ids[place[0], place[1], key] = id_
        return marker(id_)


def harmless(error: BaseException, name: str, path: str) -> SparkConfigError:
    """Make an error that holds no value out of what a provider raised.

    The project's own errors keep their text, by contract free of values; of foreign ones only the type is told.
    Causes and tracebacks go: responses and local variables stand there.
    """
    if isinstance(error, SparkConfigError):
        error.__cause__ = None
        error.__context__ = None
        return error.with_traceback(None)
    return ProviderUnavailableError(
        f"provider '{name}' failed at path '{shorten(path)}' with {type(error).__name__}"
    )

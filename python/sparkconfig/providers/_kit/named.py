"""Stores that keep one value under one name: the value is a JSON object of fields, or whole values are keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from sparkconfig.errors import ConfigurationError, ProviderError, SecretNotFoundError
from sparkconfig.formats.flat import json_fields
from sparkconfig.providers._kit.fields import BASE64_KEYS, text_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import StoreProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["WHOLE", "Found", "NamedStoreProvider", "layout_param"]

_Item = TypeVar("_Item")
_WIDTH = 8
WHOLE = "whole"


def layout_param(default: str = "json") -> Param:
    """Return the param that says what a path is."""
    return Param(
        "layout",
        "`json`: path is the name of a secret, keys are its JSON fields; `whole`: path and key together are the "
        "name, the value is the whole secret. An empty path always means `whole`",
        default=default,
        choices=("json", WHOLE),
    )


@dataclass(frozen=True)
class Found:
    """A value as the store gave it.

    Attributes:
        ttl: the milliseconds until its own end, if the store knows one.
        plain: whether the store itself does not treat it as a secret.
    """

    raw: str | bytes = field(repr=False)
    ttl: int | None = None
    plain: bool = False


class NamedStoreProvider(StoreProvider):
    """Maps paths and keys to names; a subclass fetches names.

    With ``json`` all keys come from one version of one secret, so they belong together. With ``whole`` every
    key is a secret of its own, which the store may change at its own time.

    Attributes:
        separator: what joins path and key to a name.
    """

    separator: ClassVar[str] = "/"

    def __init__(self) -> None:
        super().__init__()
        self._layout = "json"
        self._base64: tuple[str, ...] = ()

    def _open(self, values: ParamValues, seconds: float) -> None:
        self._layout = values.text("layout")
        self._base64 = values.patterns(BASE64_KEYS.name) if BASE64_KEYS in self.table else ()
        self._connect(values, seconds)

    def _read(
        self,
        path: str,
        keys: Set[str] | None,
        left: float,  # noqa: ARG002 - clients here have fixed timeouts
    ) -> ConfigData:
        if path and self._layout != WHOLE:
            return self._json(path, keys)
        found = self._list(path) if keys is None else None
        if found is None:
            names = {
                key: f"{path.rstrip(self.separator)}{self.separator}{key}" if path else key
                for key in keys or ()
            }
            fetched = self._fetch(path, list(names.values()))
            found = {key: fetched[name] for key, name in names.items() if name in fetched}
        where = self._where(path)
        data = {key: self._text(each, key, where) for key, each in found.items()}
        plain = frozenset(key for key, each in found.items() if each.plain)
        return ConfigData(data, ttl=self._soonest(found.values()), plain=plain)

    def _json(self, path: str, keys: Set[str] | None) -> ConfigData:
        found = self._fetch(path, [path]).get(path)
        where = self._where(path)
        if found is None:
            raise SecretNotFoundError(f"{where}: there is no such secret, or it has no value")
        text = found.raw if isinstance(found.raw, str) else text_of(found.raw, path, (), where)
        try:
            fields = json_fields(text, where)
        except ProviderError as error:
            problem = f"{error}; for whole values use an empty path or the param layout={WHOLE}"
        else:
            plain = frozenset(fields) if found.plain else frozenset()
            return ConfigData.of(fields, keys, self._soonest([found]), plain)
        raise ProviderError(problem)

    def _text(self, found: Found, key: str, where: str) -> str:
        if isinstance(found.raw, str):
            return found.raw
        return text_of(found.raw, key, self._base64, where)

    def _soonest(self, found: Iterable[Found]) -> int | None:
        ends = [each.ttl for each in found] + [self._ttl]
        return min((end for end in ends if end and end > 0), default=None)

    def _list(self, path: str) -> Mapping[str, Found]:
        """Return all secrets below ``path`` by key; stores that can list override it."""
        raise ConfigurationError(f"{self._where(path)}: whole secrets are not listed; name the keys")

    def _each(self, items: Collection[_Item], fetch: Callable[[_Item], Found | None]) -> dict[_Item, Found]:
        """Fetch several at a time, for stores that have no call for many; None means "not found"."""
        if len(items) <= 1:
            answers = [fetch(item) for item in items]
        else:
            with ThreadPoolExecutor(min(_WIDTH, len(items))) as pool:
                answers = list(pool.map(fetch, items))
        return {item: answer for item, answer in zip(items, answers, strict=True) if answer is not None}

    @abstractmethod
    def _connect(self, values: ParamValues, seconds: float) -> None:
        """Make the client, as in :meth:`StoreProvider._open`."""

    @abstractmethod
    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        """Return what is there of ``names``; ``path`` is for messages."""

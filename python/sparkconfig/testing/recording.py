"""A provider for tests: in memory, scripted, and it remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from sparkconfig.errors import ConfigurationError, SecretNotFoundError
from sparkconfig.providers.base import ChangeCallback, ConfigData, ConfigProvider

__all__ = ["ProviderCall", "RecordingProvider"]


@dataclass(frozen=True)
class ProviderCall:
    """One call of ``get``: what was asked, never what was answered. ``keys`` is None when all were asked."""

    path: str
    keys: frozenset[str] | None


@dataclass
class _Script:
    """What a path does besides answering: the next errors, and an action before each answer."""

    errors: list[BaseException] = field(default_factory=list)
    before: Callable[[], None] | None = None


class RecordingProvider(ConfigProvider):
    """Answers from a mapping of path to keys and values, and records its life.

    Made by a test, ``RecordingProvider({"db/prod": {"password": "x"}})``, or by configuration, where it takes
    the params ``data`` (the same mapping as JSON) and ``ttl`` (milliseconds). Other params are only recorded,
    so that a test can look at what arrived.

    Attributes:
        calls: every ``get``, in order.
        params: what ``configure`` received, or None before it.
        configured: how many times ``configure`` was called.
        closed: how many times ``close`` was called.
        ttl: milliseconds that answers carry, or None.
        pushes: whether ``subscribe`` works.
    """

    def __init__(
        self,
        data: Mapping[str, Mapping[str, str]] | None = None,
        *,
        ttl: int | None = None,
        pushes: bool = True,
    ) -> None:
        self._lock = threading.RLock()
        self._data = {path: dict(values) for path, values in (data or {}).items()}
        self._scripts: dict[str, _Script] = {}
        self._subscriptions: list[tuple[str, frozenset[str], ChangeCallback]] = []
        self._pushes = pushes
        self.ttl = ttl
        self.calls: list[ProviderCall] = []
        self.params: dict[str, str] | None = None
        self.configured = 0
        self.closed = 0

    def configure(self, params: Mapping[str, str]) -> None:
        """Record ``params``; take ``data`` (JSON) and ``ttl`` (milliseconds) from them."""
        self.configured += 1
        self.params = dict(params)
        try:
            loaded = json.loads(params.get("data", "{}"))
            self._data.update({str(path): dict(values) for path, values in loaded.items()})
            self.ttl = int(params["ttl"]) if "ttl" in params else self.ttl
        except (ValueError, AttributeError, TypeError):
            raise ConfigurationError(
                "param data must be JSON like {path: {key: value}}, ttl a number"
            ) from None

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Record the call, run what was scripted for the path, and answer from the mapping."""
        with self._lock:
            self.calls.append(ProviderCall(path, None if keys is None else frozenset(keys)))
            script = self._scripts.get(path, _Script())
            error = script.errors.pop(0) if script.errors else None
        if script.before is not None:
            script.before()
        if error is not None:
            raise error
        with self._lock:
            return self._answer(path, keys)

    def _answer(self, path: str, keys: Set[str] | None) -> ConfigData:
        if path not in self._data:
            raise SecretNotFoundError(f"recording provider: there is no path {path!r}")
        values = self._data[path]
        chosen = dict(values) if keys is None else {key: values[key] for key in keys if key in values}
        return ConfigData(chosen, ttl=self.ttl)

    # What a test scripts.

    def set(self, path: str, values: Mapping[str, str]) -> None:
        """Make ``values`` the whole content of ``path``, and push to subscribers of a changed key."""
        with self._lock:
            before = self._data.get(path, {})
            self._data[path] = dict(values)
            changed = {key for key in {*before, *values} if before.get(key) != values.get(key)}
            news = [
                (callback, self._answer(path, keys))
                for subscribed, keys, callback in self._subscriptions
                if subscribed == path and keys & changed
            ]
        for callback, answer in news:
            callback(path, answer)

    def remove(self, path: str) -> None:
        """Forget ``path``: the next ``get`` raises SecretNotFoundError."""
        with self._lock:
            self._data.pop(path, None)

    def fail(self, path: str, *errors: BaseException) -> None:
        """Raise these, one for each of the next calls for ``path``, before answering again."""
        with self._lock:
            self._scripts.setdefault(path, _Script()).errors.extend(errors)

    def before_answer(self, path: str, action: Callable[[], None]) -> None:
        """Call ``action`` in each ``get`` of ``path`` before it answers: to block on an event, say."""
        with self._lock:
            self._scripts.setdefault(path, _Script()).before = action

    # Subscriptions.

    @property
    def pushes(self) -> bool:
        """Whether :meth:`subscribe` works."""
        return self._pushes

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Call ``callback`` on every :meth:`set` that changes one of ``keys``."""
        if not self._pushes:
            super().subscribe(path, keys, callback)
        with self._lock:
            self._subscriptions.append((path, frozenset(keys), callback))

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End that subscription; an unknown one is not an error."""
        if not self._pushes:
            super().unsubscribe(path, keys, callback)
        with self._lock:
            wanted = (path, frozenset(keys), callback)
            self._subscriptions = [each for each in self._subscriptions if each != wanted]

    def unsubscribe_all(self) -> None:
        """End all subscriptions."""
        if not self._pushes:
            super().unsubscribe_all()
        with self._lock:
            self._subscriptions.clear()

    def close(self) -> None:
        """Count the call."""
        self.closed += 1

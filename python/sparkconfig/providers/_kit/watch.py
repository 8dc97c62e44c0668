"""Pushes of providers that read files: another state of the file system says "check", and the value comes from a read.

A look at a file's state is one call of the system: it follows links, lists no directory, and works on each file system.
Network file systems may answer it from memory, so every file is read every two seconds besides.

One thread looks at the files of all providers. Each provider reads in a thread of its own: where a file system hangs,
it holds up nobody else's reads.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from abc import abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from sparkconfig._base.text import shorten
from sparkconfig._base.threads import daemon
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers.base import ChangeCallback, ConfigData, ConfigProvider

__all__ = ["FilePushes"]

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.06
_REST = 20
"""Between two looks pass at least so many times what one takes: thousands of files cost a twentieth of a core."""
_POLL_SECONDS = 2.0
_SETTLE_SECONDS = 0.01
"""Who writes a file in place empties it first: a read a moment later finds what was written."""

_State = tuple[object, ...] | None
"""Of the files of a path; None: they cannot be named."""


@dataclass
class _Subscription:
    path: str
    keys: frozenset[str]
    callback: ChangeCallback
    state: _State
    known: ConfigData | None = field(default=None, repr=False)


class FilePushes(ConfigProvider):
    """Adds ``subscribe`` to a provider that reads local files; the subclass says which files a path means.

    Its thread runs while there are subscriptions. A file that vanishes or cannot be read is pushed without data, once:
    the next ``get`` says what is wrong.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._subscribing = threading.Lock()
        self._events = threading.Event()
        self._ended = False
        self._checker: threading.Thread | None = None

    @property
    def pushes(self) -> bool:
        """Files can be watched."""
        return True

    @abstractmethod
    def _files(self, path: str, keys: Set[str]) -> Sequence[str]:
        """The files whose change may change what ``path`` answers for these keys."""

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Call ``callback`` with the keys' whole new data after each change.

        Raises:
            ProviderError: the path cannot be read now.
        """
        # The state first, so that no change falls between.
        subscription = _Subscription(path, frozenset(keys), callback, self._state(path, keys))
        subscription.known = self.get(path, subscription.keys)
        with self._subscribing:
            self._subscriptions.append(subscription)
            if self._checker is None:
                self._checker = daemon("files", self._check_on_events)
                self._checker.start()
        _LOOKER.add(self)

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End the subscriptions that were made with the same arguments."""
        ended = (path, frozenset(keys), callback)
        with self._subscribing:
            self._subscriptions = [s for s in self._subscriptions if (s.path, s.keys, s.callback) != ended]
        self._events.set()

    def unsubscribe_all(self) -> None:
        """End all subscriptions."""
        with self._subscribing:
            self._subscriptions = []
        self._events.set()

    def close(self) -> None:
        """End subscriptions and the thread."""
        self._ended = True
        self.unsubscribe_all()
        checker = self._checker
        if checker is not None and checker is not threading.current_thread():
            checker.join(timeout=2)

    @property
    def has_subscriptions(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._subscriptions)

    def look(self) -> None:
        """Have the thread read if a file has another state."""
        seen: dict[str, object] = {}  # sections of one file are many paths
        if any(self._state(each.path, each.keys, seen) != each.state for each in self._subscriptions):
            self._events.set()

    def _check_on_events(self) -> None:
        while True:
            if self._events.wait(_POLL_SECONDS):
                time.sleep(_SETTLE_SECONDS)
                self._events.clear()
            with self._subscribing:
                subscriptions = list(self._subscriptions)
                if not subscriptions:
                    self._checker = None
                    return
            for subscription in subscriptions:
                if self._ended:
                    return
                self._check(subscription)

    def _check(self, subscription: _Subscription) -> None:
        """Read, and push a change. Survives everything: a thread that ends would never push again."""
        path = shorten(subscription.path)
        subscription.state = self._state(subscription.path, subscription.keys)
        try:
            fresh = self.get(subscription.path, subscription.keys)
        except SparkConfigError as error:
            _log.debug("a watched file cannot be read now: %s", error)
            fresh = ConfigData({})
        except Exception as error:  # noqa: BLE001
            _log.warning("'%s' cannot be read: %s", path, type(error).__name__)
            return
        if subscription.known is not None and fresh.data == subscription.known.data:
            return
        subscription.known = fresh
        try:
            subscription.callback(subscription.path, fresh)
        except Exception as error:  # noqa: BLE001 - one bad callback must not end the others' pushes
            _log.error("a callback for '%s' failed with %s", path, type(error).__name__)

    def _state(self, path: str, keys: Set[str], seen: dict[str, object] | None = None) -> _State:
        """What changes when a file is written, replaced, led elsewhere by a link, or may be read from now on."""
        known = {} if seen is None else seen
        try:
            files = self._files(path, keys)
            known.update((file, _state_of(file)) for file in files if file not in known)
            return tuple(known[file] for file in files)
        except Exception as error:  # noqa: BLE001 - what is wrong with a path, get says
            _log.debug("'%s' cannot be looked at: %s", shorten(path), type(error).__name__)
            return None


def _state_of(file: str) -> object:
    try:
        found = os.stat(file)  # noqa: PTH116 - texts throughout
    except (OSError, ValueError) as error:
        return getattr(error, "errno", None)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class _Looker:
    """Looks at the files of all providers of this process, while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._providers: list[FilePushes] = []
        self._thread: threading.Thread | None = None

    def add(self, provider: FilePushes) -> None:
        """Look at the files of a provider, until it has no subscriptions."""
        with self._lock:
            if provider not in self._providers:
                self._providers.append(provider)
            if self._thread is None:
                self._thread = daemon("looks", self._look)
                self._thread.start()

    def _look(self) -> None:
        took = 0.0
        while True:
            time.sleep(max(_LOOK_SECONDS, took * _REST))
            with self._lock:
                providers = list(self._providers)
            began = time.monotonic()
            for provider in providers:
                provider.look()
            took = time.monotonic() - began
            with self._lock:
                self._providers = [each for each in self._providers if each.has_subscriptions]
                if not self._providers:
                    self._thread = None
                    return


_LOOKER = _Looker()

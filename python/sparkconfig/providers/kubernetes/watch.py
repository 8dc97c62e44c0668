"""Watches of the kubernetes provider: an event says "look", and the value comes from an ordinary read."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Set
from typing import Any

from sparkconfig._base.threads import daemon
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers.base import ChangeCallback, ConfigData

__all__ = ["PathWatch", "Watches"]

_log = logging.getLogger(__name__)
_WATCH_SECONDS = 240
"""How long the server keeps one watch open; it is opened again after that."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0


class PathWatch:
    """One object of the API, one daemon thread, any number of subscriptions.

    Each watch begins with the object's present state, so nothing is missed between two watches. Where watching
    fails, or is not allowed, the object is read at growing intervals: a slow poll is better than silence. A
    deleted object is not pushed; the next read says that it is not there.
    """

    def __init__(
        self, path: str, open_watch: Callable[[], tuple[Any, Any]], read: Callable[[], ConfigData]
    ) -> None:
        self._path = path
        self._open_watch = open_watch
        self._read = read
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._subscriptions: list[tuple[frozenset[str], ChangeCallback]] = []
        self._known = read()
        self._watch: Any = None
        self._thread = daemon(f"watch-{path}", self._run)
        self._thread.start()

    def add(self, keys: Set[str], callback: ChangeCallback) -> None:
        """Push changes of ``keys`` to ``callback``."""
        with self._lock:
            self._subscriptions.append((frozenset(keys), callback))

    def remove(self, keys: Set[str], callback: ChangeCallback) -> bool:
        """End a subscription; return whether none is left."""
        with self._lock:
            self._subscriptions = [
                each for each in self._subscriptions if each != (frozenset(keys), callback)
            ]
            return not self._subscriptions

    def stop(self) -> None:
        """End the thread; a watch that is open is cut."""
        self._stopped.set()
        if self._watch is not None:
            self._watch.stop()
        if self._thread is not threading.current_thread():
            self._thread.join(2)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopped.is_set():
            kind = "the watch ended"
            try:
                self._watch, events = self._open_watch()
                for _ in events:
                    if self._stopped.is_set():
                        return
                    self._check()
                    pause = _FIRST_PAUSE
            except Exception as error:  # noqa: BLE001 - the thread must survive what a callback or client raises
                kind = type(error).__name__
            if self._stopped.wait(pause):
                return
            _log.debug("kubernetes: watching %r again (%s)", self._path, kind)
            pause = min(pause * 2, _LONGEST_PAUSE)
            self._check()

    def _check(self) -> None:
        """Read, and push what has changed since the last time."""
        try:
            fresh = self._read()
        except SparkConfigError as error:
            _log.warning("kubernetes: a watched object cannot be read: %s", error)
            return
        before, self._known = self._known.data, fresh
        changed = {key for key in {*before, *fresh.data} if before.get(key) != fresh.data.get(key)}
        with self._lock:
            concerned = [(keys, callback) for keys, callback in self._subscriptions if keys & changed]
        for keys, callback in concerned:
            data = {key: value for key, value in fresh.data.items() if key in keys}
            self._push(callback, ConfigData(data, ttl=fresh.ttl))

    def _push(self, callback: ChangeCallback, data: ConfigData) -> None:
        try:
            callback(self._path, data)
        except Exception as error:  # noqa: BLE001 - one bad callback must not end the others' pushes
            _log.error("kubernetes: a callback for %r failed (%s)", self._path, type(error).__name__)


class Watches:
    """The watches of one provider, by path.

    Args:
        open_watch: opens the watch of a path.
        read: reads a path.
    """

    def __init__(
        self, open_watch: Callable[[str], tuple[Any, Any]], read: Callable[[str], ConfigData]
    ) -> None:
        self._open_watch = open_watch
        self._read = read
        self._lock = threading.Lock()
        self._watches: dict[str, PathWatch] = {}

    def add(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Push changes of ``keys``; the first subscription of a path opens its watch."""
        with self._lock:
            if path not in self._watches:
                self._watches[path] = PathWatch(
                    path, lambda: self._open_watch(path), lambda: self._read(path)
                )
            self._watches[path].add(keys, callback)

    def remove(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End one subscription; the last one of a path ends its watch."""
        with self._lock:
            watch = self._watches.get(path)
            over = watch is not None and watch.remove(keys, callback)
            if over:
                del self._watches[path]
        if watch is not None and over:
            watch.stop()

    def stop(self) -> None:
        """End all watches."""
        with self._lock:
            watches, self._watches = list(self._watches.values()), {}
        for watch in watches:
            watch.stop()

"""Pushes of providers that read files: an event of the file system says "check", and the value comes from a read.

watchdog (inotify and the like) reports events. Where it is not installed, has no watches left, or the file system
reports nothing (network file systems), the same check happens every two seconds.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import os
import threading
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from sparkconfig._base.text import shorten
from sparkconfig._base.threads import daemon
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers._kit.links import places
from sparkconfig.providers.base import ChangeCallback, ConfigData, ConfigProvider

__all__ = ["FilePushes"]

_log = logging.getLogger(__name__)
_POLL_SECONDS = 2.0
_SETTLE_SECONDS = 0.01
"""Events of one change come in bursts: write, close, rename."""

_Identity = tuple[int, int] | None
"""Device and number of a directory; None: there is none."""


@dataclass
class _Subscription:
    path: str
    keys: frozenset[str]
    callback: ChangeCallback
    known: ConfigData | None = field(default=None, repr=False)


class FilePushes(ConfigProvider):
    """Adds ``subscribe`` to a provider that reads local files; the subclass says which files a path means.

    One thread checks; it starts with the first subscription. A file that vanishes or cannot be read is pushed without
    data, once: the next ``get`` says what is wrong.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._subscribing = threading.Lock()
        self._events = threading.Event()
        self._ended = threading.Event()
        self._checker: threading.Thread | None = None
        self._folders = _Folders(self._events)

    @property
    def pushes(self) -> bool:
        """Files can be watched."""
        return True

    @abstractmethod
    def _files(self, path: str) -> Sequence[str]:
        """The files or directories whose change may change what ``path`` answers."""

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Call ``callback`` with the keys' whole new data after each change.

        Raises:
            ProviderError: the path cannot be read now.
        """
        subscription = _Subscription(path, frozenset(keys), callback)
        # Watched before it is read, so that no change falls between.
        self._watch(subscription)
        try:
            subscription.known = self.get(path, subscription.keys)
        except Exception:
            self._unwatch()
            raise
        with self._subscribing:
            self._subscriptions.append(subscription)
            if self._checker is None:
                self._checker = daemon("files", self._check_on_events)
                self._checker.start()
        self._events.set()

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End the subscriptions that were made with the same arguments."""
        ended = (path, frozenset(keys), callback)
        with self._subscribing:
            self._subscriptions = [s for s in self._subscriptions if (s.path, s.keys, s.callback) != ended]
            idle = not self._subscriptions
        if idle:
            self._folders.clear()

    def unsubscribe_all(self) -> None:
        """End all subscriptions."""
        with self._subscribing:
            self._subscriptions = []
        self._folders.clear()

    def close(self) -> None:
        """End subscriptions, watches and the thread."""
        self.unsubscribe_all()
        self._ended.set()
        self._events.set()
        self._folders.close()
        checker = self._checker
        if checker is not None and checker is not threading.current_thread():
            checker.join(timeout=2)

    def _check_on_events(self) -> None:
        while not self._ended.is_set():
            if self._events.wait(_POLL_SECONDS):
                self._ended.wait(_SETTLE_SECONDS)
                self._events.clear()
            else:  # when nothing changes, since it can take half a second
                self._unwatch()
            with self._subscribing:
                subscriptions = list(self._subscriptions)
            for subscription in subscriptions:
                if self._ended.is_set():
                    return
                self._check(subscription)

    def _check(self, subscription: _Subscription) -> None:
        """Read, and push a change. Survives everything: a thread that ends would never push again."""
        path = shorten(subscription.path)
        # Again, for a link may lead elsewhere now.
        self._watch(subscription)
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

    def _watch(self, subscription: _Subscription) -> None:
        """Watch what a subscription needs; what is wrong with its path, :meth:`get` says."""
        try:
            self._folders.watch(self._files(subscription.path))
        except Exception as error:  # noqa: BLE001 - it is read every two seconds all the same
            _log.debug("'%s' cannot be watched: %s", shorten(subscription.path), type(error).__name__)

    def _unwatch(self) -> None:
        """End the watches that no subscription needs any more, as on what a link led to before."""
        with self._subscribing:
            paths = {subscription.path for subscription in self._subscriptions}
        needed: list[str] = []
        for path in paths:
            try:
                needed += self._files(path)
            except Exception as error:  # noqa: BLE001 - what is wrong with one path, get says; the others go on
                _log.debug("'%s' needs no watch now: %s", shorten(path), type(error).__name__)
        self._folders.keep(needed)


class _Folders:
    """One provider's watches on the directories of files; nothing happens where that does not work."""

    def __init__(self, events: threading.Event) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._usable = True
        self._watched: set[str] = set()
        self._failed: dict[str, _Identity] = {}

    def watch(self, files: Sequence[str]) -> None:
        """Watch the directory in which each file lies, and those of the links that lead there."""
        wanted = _places(files)
        told: list[tuple[int, str, tuple[object, ...]]] = []
        with contextlib.suppress(ImportError):
            _handler_class(), _observer_class()  # no import holds the lock
        with self._lock:
            for folder, names in wanted.items():
                self._add(folder, names, told)
        for level, text, parts in told:
            _log.log(level, text, *parts)

    def keep(self, files: Iterable[str]) -> None:
        """End the watches on other directories than those of these files."""
        wanted = _places(files)
        with self._lock:
            for folder in self._watched - wanted.keys():
                self._watched.remove(folder)
                _OBSERVED.remove(folder, self._events)
            self._failed = {folder: which for folder, which in self._failed.items() if folder in wanted}

    def clear(self) -> None:
        """Watch nothing any more."""
        self.keep(())

    def close(self) -> None:
        """Watch nothing for ever."""
        self._usable = False
        self.clear()

    def _add(self, folder: str, names: set[str], told: list[tuple[int, str, tuple[object, ...]]]) -> None:
        identity = _identity(folder)
        # What failed would fail again, until there is another directory.
        if not self._usable or self._failed.get(folder, ()) == identity:
            return
        try:
            _OBSERVED.add(folder, identity, names, self._events)
        except ImportError:
            self._usable = False
            text = "watchdog is not installed; files are checked every %g s"
            told.append((logging.INFO, text, (_POLL_SECONDS,)))
        except (OSError, RuntimeError) as error:
            # No watches, instances or threads are left, or there is no directory.
            self._failed[folder] = identity
            level = logging.DEBUG if identity is None else logging.WARNING
            why = getattr(error, "strerror", None) or type(error).__name__
            text = "'%s' cannot be watched (%s); its files are checked every %g s"
            told.append((level, text, (shorten(folder), why, _POLL_SECONDS)))
        else:
            self._failed.pop(folder, None)
            self._watched.add(folder)


def _places(files: Iterable[str]) -> dict[str, set[str]]:
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for file in files:
        # A relative path, without a working directory.
        with contextlib.suppress(OSError):
            for folder, name in places(file):
                wanted[folder].add(name)
    return wanted


def _identity(folder: str) -> _Identity:
    """Which directory has this name now."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - texts throughout
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class _Observed:
    """The directories that this process watches, through one watchdog observer for all providers.

    Each observer would be an inotify instance, of which a user has 128 on most systems, for all processes together.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._observer: Any = None
        self._handlers: dict[str, Any] = {}

    def add(self, folder: str, identity: _Identity, names: Set[str], events: threading.Event) -> None:
        """Set ``events`` when a file of these names is written, and when anything comes to a directory or goes.

        Logs that grow in the same directory cause no event. The empty name stands for all files.

        Args:
            folder: the directory's path.
            identity: which directory that is now; if it was another one, the new one is watched from now on.
            names: of files.
            events: what to set.

        Raises:
            ImportError: watchdog is not installed.
            OSError: the system has no watch for it, or the directory does not exist.
            RuntimeError: the system has no thread for it.
        """
        if identity is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with self._lock:
            handler = self._handlers.get(folder)
            if handler is None or handler.identity != identity:
                handler = self._follow(folder, identity, handler)
            known = handler.listeners.get(events, frozenset())
            if events not in handler.listeners or not names <= known:
                handler.listeners = {**handler.listeners, events: known | names}

    def _follow(self, folder: str, identity: _Identity, earlier: Any) -> Any:  # noqa: ANN401 - made late, as below
        """Watch a directory, instead of another one that had its name."""
        handler = _handler_class()(folder, identity)
        if earlier is not None:
            handler.listeners = earlier.listeners
            del self._handlers[folder]
            self._unschedule(earlier)
        try:
            handler.watch = _schedule(self._started(), handler, folder)
        except (OSError, RuntimeError):
            self._end_if_idle()
            raise
        self._handlers[folder] = handler
        return handler

    def _unschedule(self, handler: Any) -> None:  # noqa: ANN401 - as above
        with contextlib.suppress(KeyError):  # it ended with its directory
            self._observer.unschedule(handler.watch)

    def remove(self, folder: str, events: threading.Event) -> None:
        """Undo an :meth:`add`; the last one ends watchdog's threads."""
        with self._lock:
            handler = self._handlers.get(folder)
            if handler is None:
                return
            handler.listeners = {
                each: names for each, names in handler.listeners.items() if each is not events
            }
            if not handler.listeners:
                del self._handlers[folder]
                self._unschedule(handler)
            self._end_if_idle()

    def _end_if_idle(self) -> None:
        if not self._handlers and self._observer is not None:
            observer, self._observer = self._observer, None
            observer.stop()
            observer.join(timeout=2)

    def _started(self) -> Any:  # noqa: ANN401 - watchdog's observers have no common type
        if self._observer is None:
            observer = _observer_class()()
            observer.daemon = True
            observer.start()
            self._observer = observer
        return self._observer


_OBSERVED = _Observed()


def _schedule(observer: Any, handler: Any, folder: str) -> Any:  # noqa: ANN401 - no common type, as above
    from watchdog import events

    # Not each write, of which a log has many, but their end.
    names = ("FileClosed", "FileCreated", "FileDeleted", "FileMoved", "DirCreated", "DirDeleted", "DirMoved")
    wanted = [getattr(events, f"{name}Event") for name in names]
    return observer.schedule(handler, folder, recursive=False, event_filter=wanted)


@functools.cache
def _observer_class() -> Any:  # noqa: ANN401 - imported late
    from watchdog.observers import Observer

    return Observer


@functools.cache
def _handler_class() -> Any:  # noqa: ANN401 - the base class is imported late
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        watch: Any = None
        listeners: Mapping[threading.Event, frozenset[str]] = {}

        def __init__(self, folder: str, identity: _Identity) -> None:
            self.folder = folder
            self.identity = identity

        def on_any_event(self, event: FileSystemEvent) -> None:
            comes_or_goes = event.event_type != "closed"
            path = os.fsdecode(event.src_path)
            if path == self.folder and event.event_type == "deleted":
                # The next one may have its number too.
                self.identity = None
            name = os.path.basename(path)  # noqa: PTH119 - texts throughout
            for listener, names in self.listeners.items():
                if comes_or_goes or "" in names or name in names:
                    listener.set()

    return Handler

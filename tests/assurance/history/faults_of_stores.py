"""Faults of stores."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from history.scope import Act, Scope
from history.site import Site
from history.stores import RenamedFile
from support.fakes.http_server import Fault as Trouble

# Stores.


def trouble(choose: Callable[[int], Trouble | None]) -> Act:
    @contextmanager
    def act(site: Site) -> Iterator[Scope]:
        site.troubles.choose = choose
        try:
            yield Scope(paths=(6, 7))
        finally:
            site.troubles.choose = lambda number: None

    return act


@contextmanager
def store_down(site: Site) -> Iterator[Scope]:
    """Nobody listens."""
    with site.openbao.down(), site.leases.down():
        yield Scope(paths=(6, 7))


@contextmanager
def store_revokes(site: Site) -> Iterator[Scope]:
    """The key/value path is deleted, and written again."""
    with _gone(site, "kv"):
        yield Scope(paths=(6,))


def file_gone(name: str) -> Act:
    @contextmanager
    def act(site: Site) -> Iterator[Scope]:
        with _gone(site, name):
            yield Scope(paths=(site.store(name).number,))

    return act


@contextmanager
def _gone(site: Site, name: str) -> Iterator[None]:
    store = site.store(name)
    with site.held(store):
        store.remove()
        try:
            yield
        finally:
            store.rotate()


@contextmanager
def file_of_garbage(site: Site) -> Iterator[Scope]:
    """A sealed file is overwritten with half of itself, and is a whole one again later."""
    store = site.store("sealed")
    assert isinstance(store, RenamedFile)
    with site.held(store):
        whole = store.file.read_bytes()
        partial = store.file.with_suffix(".half")
        partial.write_bytes(whole[: len(whole) // 2])
        shutil.copymode(store.file, partial)
        partial.replace(store.file)
        try:
            yield Scope(paths=(store.number,))
        finally:
            partial.write_bytes(whole)
            shutil.copymode(store.file, partial)
            partial.replace(store.file)
            store.rotate()


@contextmanager
def permissions_taken(site: Site) -> Iterator[Scope]:
    """Nobody may read a file any more: "not allowed" ends its value."""
    store = site.store("renamed")
    assert isinstance(store, RenamedFile)
    with site.held(store):
        store.forbid()
        try:
            yield Scope(paths=(store.number,))
        finally:
            store.rotate()


@contextmanager
def database_restarted(site: Site) -> Iterator[Scope]:
    """All logins end and fail for a moment; a path without a role is not rotated meanwhile."""
    with site.held(site.store("logins")):
        site.postgres.restart()
        yield Scope(paths=(7,))

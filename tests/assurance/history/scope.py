"""Whom a fault hits, and which of the site's processes it picks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from history.site import Application, Site


@dataclass
class Scope:
    """Whom a fault hits: readers with all of these words, and these paths; none: each one."""

    where: tuple[str, ...] = ()
    paths: tuple[int, ...] = ()


Act = Callable[[Site], AbstractContextManager[Scope]]


def victim(site: Site) -> Application:
    """One of the applications."""
    return site.chance.choice(site.applications)


def one_executor(site: Site) -> tuple[Application, int, str]:
    """An executor of one of them, and its address."""
    application = victim(site)
    pid, address = site.chance.choice(sorted(application.executors().items()))
    return application, pid, address

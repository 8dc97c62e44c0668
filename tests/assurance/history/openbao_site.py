"""The OpenBao of a run, behind a proxy whose faults a run chooses, and credentials that it makes on demand."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from history.journal import fingerprint
from history.paths import WatchedPath
from history.stores import Store
from history.timeline import Rotations, Version
from support.fakes.fault_proxy import FaultProxy
from support.fakes.http_server import Fault, Request, Response
from support.leased_roles import LeasedRoles
from support.real_vault import RealVault

Choice = Callable[[int], Fault | None]
"""Which fault the request of a number has."""


class Troubles:
    """What goes wrong with all requests, by their number; nothing at first."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self.choose: Choice = lambda number: None

    def next(self) -> Fault | None:
        """The fault of the next request."""
        return self.choose(next(self._numbers))


class KeyValueProxy(FaultProxy):
    """The way to the key/value engine."""

    def __init__(self, upstream: str, troubles: Troubles) -> None:
        super().__init__(upstream)
        self._troubles = troubles

    def fault_for(self, request: Request) -> Fault | None:
        """As the troubles say."""
        self.requests.clear()  # an hour of them would be a leak of ours
        return self._troubles.next()


class NotedLeases(LeasedRoles):
    """The way to credentials that are made on demand, each of which is a rotation.

    Attributes:
        named: the number of each user and password, by fingerprint.
    """

    def __init__(
        self, vault: RealVault, *, seconds: int, troubles: Troubles, rotations: Rotations, path: int
    ) -> None:
        super().__init__(vault, seconds=seconds)
        self._troubles = troubles
        self._rotations = rotations
        self._path = path
        self.named: dict[int, int] = {}

    def fault_for(self, request: Request) -> Fault | None:
        """As the troubles say."""
        self.requests.clear()
        return self._troubles.next()

    def answer(self, request: Request) -> Response:
        """Note a lease before it is handed out."""
        begin = time.monotonic_ns()
        answer = super().answer(request)
        if answer.status < 300 and "/creds/" in request.path:
            data = json.loads(answer.body)["data"]
            number = len(self.named) // 2
            for key in ("username", "password"):
                self.named[fingerprint(data[key])] = number
            self._rotations.note(self._path, Version(number, begin, time.monotonic_ns()))
        return answer


class Leases(Store):
    """Credentials that OpenBao makes when they are asked for, and that end soon.

    Each read makes new ones: the last ones are good for as long as their lease.
    """

    name = "leases"
    other = False

    def __init__(
        self, number: int, rotations: Rotations, proxy: NotedLeases, token: Path, seconds: int
    ) -> None:
        super().__init__(number, rotations)
        self._proxy, self._token = proxy, token
        self.within = self.gone = seconds * 1_000_000_000

    def write(self, number: int) -> None:
        """It changes by itself."""

    def rotate(self) -> None:
        """It changes by itself."""

    def confs(self) -> Mapping[str, str]:
        """Of its provider."""
        return self._proxy.provider(self.name, str(self._token))

    def path(self) -> WatchedPath:
        """Its references, as `LeasedRoles.options` has them."""
        options = self._proxy.options(self.name)
        return WatchedPath(self.number, self.name, options["user"], options["password"])

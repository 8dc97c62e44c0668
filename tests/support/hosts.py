"""Several hosts on one machine: network namespaces with addresses of their own, on one switch. Linux and root only."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass


class NoHosts(Exception):  # noqa: N818 - an answer, not a fault
    """There can be no hosts here; the text says why."""


@dataclass(frozen=True)
class Host:
    """One namespace.

    Attributes:
        name: of the namespace, and of its cable at the switch.
        address: its own, on the switch.
    """

    name: str
    address: str

    @property
    def command(self) -> tuple[str, ...]:
        """What a command line begins with to run there."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Pull its cable: nothing goes in or out, and no connection is told."""
        _ip("link", "set", self.name, "down")

    def plug(self) -> None:
        """Put the cable back."""
        _ip("link", "set", self.name, "up")


@dataclass(frozen=True)
class Hosts:
    """Some hosts and the switch between them, to which this machine is connected too.

    Attributes:
        address: this machine's, on the switch.
    """

    address: str
    hosts: Sequence[Host]


@contextmanager
def hosts(count: int) -> Iterator[Hosts]:
    """Make hosts and remove them at the end.

    Raises:
        NoHosts: this user may not, or ``ip`` is not installed.
    """
    if os.geteuid() != 0:
        raise NoHosts("network namespaces need root")
    if shutil.which("ip") is None:
        raise NoHosts("ip is not installed: apt-get install iproute2")
    # Names of interfaces have 15 letters at most; a network of its own for each run, in one that nobody routes.
    token, net = secrets.token_hex(3), f"10.{200 + secrets.randbelow(50)}.{secrets.randbelow(250)}"
    switch = f"sc{token}"
    with ExitStack() as stack:
        try:
            _ip("link", "add", switch, "type", "bridge")
            stack.callback(_ip, "link", "del", switch)
            _ip("addr", "add", f"{net}.1/24", "dev", switch)
            _ip("link", "set", switch, "up")
            made = []
            for number in range(1, count + 1):
                host = Host(f"sc{token}-{number}", f"{net}.{number + 1}")
                _ip("netns", "add", host.name)
                stack.callback(_ip, "netns", "del", host.name)
                _ip("link", "add", host.name, "type", "veth", "peer", "name", "eth0", "netns", host.name)
                _ip("link", "set", host.name, "master", switch, "up")
                for command in (
                    ("link", "set", "lo", "up"), ("addr", "add", f"{host.address}/24", "dev", "eth0"),
                    ("link", "set", "eth0", "up"), ("route", "add", "default", "via", f"{net}.1"),
                ):  # fmt: skip
                    _ip("-n", host.name, *command)
                made.append(host)
        except subprocess.CalledProcessError as error:
            raise NoHosts(f"no network namespaces here: {error.stderr.strip()}") from None
        yield Hosts(f"{net}.1", made)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)

"""Places on a network: hosts, ports, the path below them, and whether one lies within another."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote

__all__ = ["Place", "UnclearError", "hosts_of", "path_of", "url_of"]

Host = tuple[str, int | None]

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*", re.ASCII)
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.ASCII)
_PORT = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_UNSAFE = re.compile(r"[^\x21-\x7e]|[\\()<>\"'`|^{}]")
_DELIMITERS = re.compile(r"[/\\?#;:@%,&=\x00-\x20\x7f]")


class UnclearError(ValueError):
    """It is not certain where this leads; the text says why and holds nothing of it."""


@dataclass(frozen=True)
class Place:
    """Somewhere a secret may go.

    Attributes:
        scheme: in lower case, such as ``jdbc:postgresql``; ``""`` where only hosts are named.
        hosts: each with its port; None: the port that the source uses by default.
        path: database, topic or folders below the hosts.
        below: whether everything below ``path`` is meant, too.
        default_port: the port of hosts that name none.
    """

    scheme: str
    hosts: tuple[Host, ...]
    path: tuple[str, ...] = ()
    below: bool = False
    default_port: int | None = None

    def __str__(self) -> str:
        """As records show it: nothing that a URL's parameters or user info could hide is here."""
        hosts = ",".join(
            (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "") for host, port in self.hosts
        )
        start = f"{self.scheme}://" if self.scheme else ""
        return "/".join([f"{start}{hosts}", *self.path])

    def holds(self, other: Place) -> bool:
        """Whether everything that ``other`` may reach lies here."""
        if self.scheme and self.scheme != other.scheme:
            return False
        mine = {(host, port or other.default_port) for host, port in self.hosts}
        if not other.hosts or any(
            (host, port or other.default_port) not in mine for host, port in other.hosts
        ):
            return False
        if self.below:
            return not other.below and other.path[: len(self.path)] == self.path
        return self.path == other.path and not other.below


def hosts_of(text: str, default_port: int | None) -> tuple[Host, ...]:
    """``a:1,b`` as hosts.

    Raises:
        UnclearError: a host is missing, or may be read in more than one way.
    """
    if "@" in text:
        raise UnclearError("it holds user info before the host")
    if _UNSAFE.search(text) or "%" in text:
        raise UnclearError("its host holds characters that have no place in one")
    return tuple(dict.fromkeys(_host(each, default_port) for each in text.split(",")))


def _host(text: str, default_port: int | None) -> Host:
    if text.startswith("["):
        name, closing, rest = text[1:].partition("]")
        if not closing or (rest and not rest.startswith(":")):
            raise UnclearError("its IPv6 address is not closed")
        return _address(name), _port(rest[1:]) if rest else default_port
    name, colon, port = text.partition(":")
    return _name(name), _port(port) if colon else default_port


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise UnclearError("its IPv6 address is not one") from None
    return str(address.ipv4_mapped or address)


def _name(text: str) -> str:
    name = text.lower().removesuffix(".")
    if not name:
        raise UnclearError("it names no host")
    if not _HOST.fullmatch(name):
        raise UnclearError("its host is not a name")
    # What ends with a number is an address to resolvers, in several notations.
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise UnclearError("its host is a number that is not an IPv4 address with four parts") from None
    return name


def _port(text: str) -> int:
    if not _PORT.fullmatch(text) or int(text) > 65535:
        raise UnclearError("its port is not a number from 1 to 65535")
    return int(text)


def path_of(text: str) -> tuple[str, ...]:
    """``/a/b`` as ``("a", "b")``, with percent escapes resolved.

    Raises:
        UnclearError: a part may be read in more than one way.
    """
    parts = text.removeprefix("/").removesuffix("/").split("/") if text.strip("/") else []
    found = []
    for part in parts:
        plain = unquote(part, errors="strict") if _is_utf8(part) else "%"
        if not plain or plain in (".", "..") or _DELIMITERS.search(plain):
            raise UnclearError("its path may be read in more than one way")
        found.append(plain)
    if not parts and text not in ("", "/"):
        raise UnclearError("its path may be read in more than one way")
    return tuple(found)


def _is_utf8(part: str) -> bool:
    try:
        unquote(part, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def url_of(text: str, ports: dict[str, int]) -> tuple[Place, str]:
    """Split ``https://a:1/b?c`` into the place it names and the rest after its path.

    Args:
        text: the URL.
        ports: the default ports of the schemes that may stand there.

    Raises:
        UnclearError: it is not such a URL, or may be read in more than one way.
    """
    if "${" in text or "$[" in text:
        raise UnclearError("it holds a reference")
    scheme, mark, rest = text.partition("://")
    scheme = scheme.lower()
    if not mark or not _SCHEME.fullmatch(scheme):
        raise UnclearError("it is not a URL with a host")
    if scheme not in ports:
        raise UnclearError(f"it begins with none of {', '.join(sorted(ports))}")
    end = min((at for at in map(rest.find, "?#;") if at >= 0), default=len(rest))
    authority, slash, path = rest[:end].partition("/")
    port = ports[scheme] or None
    place = Place(scheme, hosts_of(authority, port), path_of(slash + path), default_port=port)
    return place, rest[end:]

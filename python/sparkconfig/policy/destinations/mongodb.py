"""Where a MongoDB URI leads, whose user info may hold references."""

from __future__ import annotations

import re

from sparkconfig.policy.destinations.places import Place, UnclearError, url_of

__all__ = ["place_of"]

_PORTS = {"mongodb": 27017, "mongodb+srv": 0}
_REFERENCE = re.compile(r"\$\{[^{}$]*\}")
_STANDS = "\x01"
"""Stands for a reference: no host, path or parameter may hold it."""
_HARMLESS = frozenset({
    "authsource", "authmechanism", "replicaset", "readpreference", "readpreferencetags", "readconcernlevel", "w",
    "wtimeoutms", "journal", "retrywrites", "retryreads", "tls", "ssl", "appname", "directconnection",
    "loadbalanced", "maxpoolsize", "minpoolsize", "maxidletimems", "connecttimeoutms", "sockettimeoutms",
    "serverselectiontimeoutms", "localthresholdms", "heartbeatfrequencyms", "compressors",
})  # fmt: skip


def place_of(uri: str) -> Place:
    """``mongodb://user:${...}@a,b:1/shop?w=1`` as its hosts and database.

    Raises:
        UnclearError: a reference stands elsewhere than before the hosts, or it may be read in more than one way.
    """
    if _STANDS in uri:
        raise UnclearError("its URI holds characters that have no place in one")
    plain = _REFERENCE.sub(_STANDS, uri)
    if "$" in plain:
        raise UnclearError("its URI holds a reference that is not closed, or a substitution")
    scheme, mark, rest = plain.partition("://")
    end = min((at for at in map(rest.find, "/?") if at >= 0), default=len(rest))
    info, _, hosts = rest[:end].rpartition("@")
    if "@" in info:
        raise UnclearError("its URI holds more than one @ before the hosts")
    place, parameters = url_of(scheme + mark + hosts + rest[end:], _PORTS)
    if parameters[:1] not in ("", "?"):
        raise UnclearError("its URI holds more than parameters behind its path")
    for parameter in filter(None, re.split("[&;]", parameters[1:])):
        if parameter.partition("=")[0].lower() not in _HARMLESS or _STANDS in parameter:
            raise UnclearError("a parameter of its URI could lead elsewhere or load code")
    return place

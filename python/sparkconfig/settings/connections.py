"""Named connections: ``spark.config.connections.NAME.*``, which users use by their names alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparkconfig._base.late import late
from sparkconfig._base.record import Record, field
from sparkconfig._base.text import nearest, shorten

__all__ = ["FAMILY", "OPTION", "Connection", "read_connections"]

FAMILY = "connections."
"""Below ``spark.config.``."""

OPTION = "sparkconfig.connection"
"""The option of a data source that names a connection."""

_NAME = late(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SUBKEYS = ("format", "option.KEY", "user.options")
_OWN_OPTIONS = "sparkconfig."
_USER = "{user}"
_ALWAYS = ("checkpointlocation", "sparkconfig.format")

#: Their destination is the user's path, so a connection could send its credentials anywhere. Credentials of file
#: systems belong into confs of the file system.
_FILES = ("parquet", "orc", "csv", "json", "text", "xml", "avro", "binaryfile", "image", "libsvm")

#: By format, what users may set beside a connection: what to read or write, never where, or with which code.
_USER_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "jdbc": (
        "dbtable", "query", "partitioncolumn", "lowerbound", "upperbound", "numpartitions", "querytimeout", "batchsize",
        "fetchsize", "truncate", "cascadetruncate", "createtableoptions", "createtablecolumntypes", "customschema",
        "pushdownpredicate", "pushdownaggregate", "pushdownlimit", "pushdownoffset", "pushdowntablesample",
        "tablecomment", "prefertimestampntz", "hint", "isolationlevel", "path",
    ),
    "kafka": (
        "subscribe", "subscribepattern", "assign", "topic", "startingoffsets", "endingoffsets", "startingtimestamp",
        "endingtimestamp", "startingoffsetsbytimestamp", "endingoffsetsbytimestamp",
        "startingoffsetsbytimestampstrategy", "failondataloss", "minpartitions", "maxrecordsperpartition",
        "maxoffsetspertrigger", "minoffsetspertrigger", "maxtriggerdelay", "includeheaders", "groupidprefix",
        "kafkaconsumer.polltimeoutms", "fetchoffset.numretries", "fetchoffset.retryintervalms",
    ),
    "mongodb": ("database", "collection"),
    "snowflake": ("dbtable", "query", "sfdatabase", "sfschema"),
    "redis": ("table", "keys.pattern", "key.column"),
    "neo4j": ("labels", "query", "relationship"),
}  # fmt: skip


class Connection(Record):
    """What a name stands for.

    Attributes:
        name: as users write it.
        format: the data source that they have to name with it.
        options: what the connection sets, references unresolved. Users can neither read nor override it.
        user_options: patterns, in lower case, of the options that users may set beside it.
    """

    name: str
    format: str
    options: Mapping[str, str]
    user_options: tuple[str, ...] = ()

    def sets(self, option: str) -> bool:
        """Whether the connection itself sets this option."""
        return option.lower() in self._folded

    def lets_users_set(self, option: str) -> bool:
        """Whether users may set this option beside the connection."""
        folded = option.lower()
        return not self.sets(option) and any(_matches(pattern, folded) for pattern in self.user_options)

    def text(self, option: str) -> str | None:
        """What the connection sets the option to, in any case of letters."""
        return self._folded.get(option.lower())

    @property
    def _folded(self) -> dict[str, str]:
        return {key.lower(): text for key, text in self.options.items()}


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


class _Parts(Record, frozen=False):
    format: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    user_options: list[str] | None = None


def read_connections(confs: Mapping[str, str], prefix: str) -> tuple[dict[str, Connection], list[str]]:
    """Read all connections.

    Args:
        confs: the settings; other keys are left alone.
        prefix: ``spark.config.connections.``.

    Returns:
        The connections by name, and what is wrong, by key; no problem shows a value.
    """
    parts: dict[str, _Parts] = {}
    problems: list[str] = []
    for key, text in confs.items():
        if not key.startswith(prefix):
            continue
        name, _, below = key[len(prefix) :].partition(".")
        if _NAME.fullmatch(name) is None:
            problems.append(
                f"{shorten(key)}: the name of a connection begins with a letter or _, and has letters, digits, _ and -"
                f" only, 64 at most; write {prefix}NAME.format"
            )
        elif not isinstance(text, str):
            problems.append(f"{shorten(key)}: expected text, got {type(text).__name__}")
        else:
            problem = _add(parts.setdefault(name, _Parts()), below, text, f"{prefix}{name}.")
            if problem:
                problems.append(f"{shorten(key)}: {problem}")
    if problems:
        return {}, problems
    found = {name: _made(name, part, problems, prefix) for name, part in parts.items()}
    return found, problems


def _add(part: _Parts, below: str, text: str, root: str) -> str:
    """Take one setting of a connection. Returns what is wrong with it, or nothing."""
    if below == "format":
        part.format = text.strip()
    elif below == "user.options":
        part.user_options = [each.strip().lower() for each in text.split(",") if each.strip()]
    elif below.startswith("option.") and below != "option.":
        option = below[len("option.") :]
        if option.lower().startswith(_OWN_OPTIONS):
            return f"options that begin with {_OWN_OPTIONS} are not a data source's; remove it"
        if any(option.lower() == known.lower() for known in part.options):
            return "this option is set twice, in other cases of letters; keep one"
        if _USER in text:
            return f"{_USER} is not filled in here; declare a connection for each user or team, and rules who uses it"
        part.options[option] = text
    else:
        near = nearest(below, _SUBKEYS, 0.5)
        guess = f"; did you mean {root}{near}?" if near else ""
        return f"no such setting of a connection{guess}; there are: {', '.join(_SUBKEYS)}"
    return ""


def _made(name: str, part: _Parts, problems: list[str], prefix: str) -> Connection:
    kind = part.format or ""
    folded = kind.lower()
    if not kind:
        problems.append(
            f"{prefix}{name}.format: the connection '{name}' needs the data source that it is for, such as jdbc"
        )
    elif folded in _FILES or folded == "sparkconfig":
        problems.append(
            f"{prefix}{name}.format: a connection cannot be for {folded}, whose destination is the user's own option;"
            " set the credentials of the file system in its confs"
        )
    if not part.options:
        problems.append(
            f"{prefix}{name}.option.*: the connection '{name}' sets no option; set one, such as url"
        )
    listed = _USER_OPTIONS.get(folded, ()) if part.user_options is None else tuple(part.user_options)
    return Connection(name, kind, dict(part.options), (*_ALWAYS, *listed))

"""Which options of which data source are credentials, and which say where those go.

The table ``formats.json`` ships with the package; a policy's ``formats`` adds to it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from sparkconfig.policy.destinations import jdbc, mongodb
from sparkconfig.policy.destinations.places import Place, UnclearError, hosts_of, url_of
from sparkconfig.policy.patterns import Pattern

__all__ = ["LATE", "Format", "Formats", "Goal", "names", "shown_place"]

LATE = "spark.hadoop.sparkconfig.credential."
"""Before the name of a conf whose value our own doors of Hadoop hand out, which ask where it goes."""

_WRAPPER = "sparkconfig"
_WRAPPED = "sparkconfig.format"
_PROVIDER = "connectionprovider"
_JAAS = re.compile(
    r"\s*org\.apache\.kafka\.common\.security\."
    r"(?:plain\.PlainLoginModule|scram\.ScramLoginModule|oauthbearer\.OAuthBearerLoginModule)\s+required"
    r"(?:\s+(?:username|password|token)\s*=\s*(?:\"[^\"\\;]*\"|'[^'\\;]*'))*\s*;\s*"
)


@dataclass(frozen=True, eq=False)
class Goal:
    """Which options say where a source goes.

    Attributes:
        kind: ``jdbc``, ``hosts``, ``url``, ``mongodb``, or ``fixed``: always ``options[0]``, which is a URL.
        options: one of them names it.
        port: the default port.
        port_option: the option that names another default port.
        schemes: for ``url`` and ``fixed``: scheme to default port, 0: there is none.
        jdbc: for ``url``: the prefix of the names of a driver's properties; None: a JDBC URL is not allowed.
        driver_option: the option that names the driver of such a URL.
        of: patterns of the credentials that go there; empty: all of the source's.
    """

    kind: str
    options: tuple[str, ...]
    port: int | None = None
    port_option: str = ""
    schemes: Mapping[str, int] | None = None
    jdbc: str | None = None
    driver_option: str = ""
    of: tuple[Pattern, ...] = ()

    @property
    def named_by(self) -> tuple[str, ...]:
        """The options that name it."""
        return () if self.kind == "fixed" else self.options


@dataclass(frozen=True, eq=False)
class Format:
    """A data source. All names are in lower case.

    Attributes:
        name: as rules call it.
        credentials: patterns of the options that hold credentials.
        goal: what says where these go; None: unknown.
        own: options that go nowhere. Of ``jdbc``, Spark's own: all others go to the driver.
        jaas: options with a login module of Kafka.
        anywhere: whether these options may stand beside every source's, as those of file systems do.
        confs: patterns of confs that are credentials of this source.
        values: options that are harmless with some values alone, by their patterns.
    """

    name: str
    credentials: tuple[Pattern, ...] = ()
    goal: Goal | None = None
    own: tuple[Pattern, ...] = ()
    jaas: tuple[str, ...] = ()
    anywhere: bool = False
    confs: tuple[Pattern, ...] = ()
    values: tuple[tuple[Pattern, frozenset[str]], ...] = ()

    def is_credential(self, option: str) -> bool:
        """Whether a reference has its place there."""
        return any(pattern.matches(option.lower()) for pattern in self.credentials)


class Formats:
    """The table.

    Args:
        added: name to entry, as in ``formats.json``; what ships has these names already keeps its entry's other fields.
    """

    def __init__(self, added: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        shipped = _shipped()
        entries: dict[str, dict[str, Any]] = {name: dict(entry) for name, entry in shipped["formats"].items()}
        for name, entry in (added or {}).items():
            old = entries.setdefault(name.lower(), {})
            for field, value in entry.items():
                joins = isinstance(value, list | tuple) and field in old
                old[field] = [*old[field], *value] if joins else value
        self._redirecting = tuple(map(Pattern, shipped["redirecting"]))
        self._by_name: dict[str, Format] = {}
        for name, entry in entries.items():
            made = _format(name, entry)
            for each in (name, *map(str.lower, entry.get("also", ()))):
                self._by_name[each] = made
        self._last: tuple[Mapping[str, str], Format | None, Place | str] = ({}, None, "")
        self._anywhere = [each for each in dict.fromkeys(self._by_name.values()) if each.anywhere]

    def of(self, names: Iterable[str], options: Mapping[str, str], option: str) -> Format | None:
        """The source whose option ``option`` is.

        Args:
            names: what the source is called, as written and by its short name.
            options: all options; the wrapper format names the source there.
            option: the name of one of them.
        """
        known = [name.lower() for name in names]
        if _WRAPPER in known:
            known = [next((text for key, text in options.items() if key.lower() == _WRAPPED), "").lower()]
        for each in self._anywhere:
            if each.is_credential(option):
                return each
        found = {self._by_name[name] for name in known if name in self._by_name}
        return found.pop() if len(found) == 1 else None

    def is_named(self, source: Format, names: Iterable[str]) -> bool:
        """Whether ``source`` is one of ``names``: of a file system only our own doors say that, and where it is."""
        return any(self._by_name.get(name.lower()) is source for name in names)

    def of_conf(self, key: str) -> Format | None:
        """The source whose credential this conf is, by its canonical key in lower case."""
        key = key.replace(LATE, "spark.hadoop.", 1)
        found = [
            each for each in dict.fromkeys(self._by_name.values()) if any(p.matches(key) for p in each.confs)
        ]
        return found[0] if found else None

    def place(self, source: Format, options: Mapping[str, str], option: str | None = None) -> Place:
        """Where a source with these options sends its credentials.

        Args:
            source: the source.
            options: as they were written, references unresolved.
            option: the credential in question; None: any.

        Raises:
            UnclearError: it is not certain.
        """
        goal = source.goal
        if goal is None:
            raise UnclearError(f"where the source '{source.name}' goes is not known here")
        if option and goal.of and not any(each.matches(option.lower()) for each in goal.of):
            raise UnclearError("where this credential of the source goes is not known here")
        # A message may hold thousands of references beside each other, and all of them go to one place.
        of, at, found = self._last
        if of is not options or at is not source:
            try:
                found = self._place(source, goal, _folded(options))
            except UnclearError as error:
                found = str(error)
            self._last = (options, source, found)
        if isinstance(found, str):
            raise UnclearError(found)
        return found

    def _place(self, source: Format, goal: Goal, folded: Mapping[str, str]) -> Place:
        named, text = _named(goal, folded)
        if goal.kind == "jdbc":
            return self._jdbc(source, text, folded)
        holds = "${" in text or "$[" in text
        if holds and goal.kind != "mongodb":
            raise UnclearError(f"the option '{named}' holds a reference")
        for name in folded:
            self._require_harmless(source, goal, name, folded[name])
        if goal.kind == "mongodb":
            return mongodb.place_of(text)
        return _hosts(source, goal, text, folded) if goal.kind == "hosts" else _url(goal, named, text, folded)

    def exact(self, source: Format, options: Mapping[str, str]) -> str | None:
        """A JDBC URL of an unknown grammar, if nothing else but user and password goes to its driver."""
        folded = _folded(options)
        url = folded.get("url", "")
        if source.goal is None or source.goal.kind != "jdbc" or "${" in url or "$[" in url:
            return None
        others = _driver_properties(source, folded) - {"user", "password"}
        return None if others else url

    def _jdbc(self, source: Format, url: str, folded: Mapping[str, str]) -> Place:
        if folded.get(_PROVIDER, _WRAPPER).lower() != _WRAPPER:
            raise UnclearError("the option 'connectionProvider' chooses who connects")
        return jdbc.place_of(url, sorted(_driver_properties(source, folded)), folded.get("driver"))

    def _require_harmless(self, source: Format, goal: Goal, name: str, text: str) -> None:
        values = next((values for pattern, values in source.values if pattern.matches(name)), None)
        if values is not None:
            if text not in values:
                raise UnclearError(f"the option '{_printable(name)}' could lead elsewhere or load code")
        elif name in source.jaas:
            if not _JAAS.fullmatch(text):
                raise UnclearError(
                    f"the option '{name}' holds another login module than PLAIN's, SCRAM's or OAUTHBEARER's, or more"
                )
        elif (
            name in (*goal.named_by, goal.port_option, goal.driver_option, _WRAPPED)
            or any(pattern.matches(name) for pattern in source.own)
            or source.is_credential(name)
        ):
            return
        elif any(pattern.matches(name) for pattern in self._redirecting):
            raise UnclearError(f"the option '{_printable(name)}' could lead elsewhere or load code")


def _printable(name: str) -> str:
    return name if re.fullmatch(r"[a-z0-9_.-]{1,60}", name) else "?"


def _named(goal: Goal, folded: Mapping[str, str]) -> tuple[str, str]:
    """The option that says where it goes, and its text."""
    if goal.kind == "fixed":
        return "", goal.options[0]
    named = [name for name in goal.options if name in folded]
    if len(named) != 1:
        raise UnclearError(f"not one of the options {', '.join(goal.options)} says where it goes")
    return named[0], folded[named[0]]


def _hosts(source: Format, goal: Goal, text: str, folded: Mapping[str, str]) -> Place:
    port = goal.port
    if goal.port_option in folded:
        (host,) = hosts_of(f"x:{folded[goal.port_option]}", None)
        port = host[1]
    plain = text.removeprefix("https://").rstrip("/") if source.name == "snowflake" else text
    return Place("", hosts_of(",".join(each.strip() for each in plain.split(",")), port), default_port=port)


def _url(goal: Goal, named: str, text: str, folded: Mapping[str, str]) -> Place:
    if goal.jdbc is not None and text[:5].lower() == "jdbc:":
        own = (*goal.options, goal.driver_option)
        properties = [name.removeprefix(goal.jdbc) for name in folded if name.startswith(goal.jdbc)]
        return jdbc.place_of(
            text, sorted(set(properties).difference(own)), folded.get(goal.driver_option) or None
        )
    place, rest = url_of(text, dict(goal.schemes or {}))
    if rest:
        raise UnclearError(f"the option '{named}' holds more than a URL's path")
    return place


def _driver_properties(source: Format, folded: Mapping[str, str]) -> set[str]:
    mine = {pattern.text for pattern in source.own} | {_PROVIDER, _WRAPPED}
    return {name for name in folded if name not in mine}


def _folded(options: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in options.items():
        if not isinstance(text, str):
            continue
        if found.setdefault(name.lower(), text) != text:
            raise UnclearError("an option stands there twice, in other cases of letters")
    return found


def _format(name: str, entry: Mapping[str, Any]) -> Format:
    goal = entry.get("to")
    return Format(
        name,
        tuple(Pattern(each.lower()) for each in entry.get("credentials", ())),
        None
        if goal is None
        else Goal(
            goal["kind"],
            tuple(each.lower() for each in goal["options"]),
            goal.get("port"),
            str(goal.get("portOption") or "").lower(),
            goal.get("schemes"),
            goal.get("jdbc"),
            str(goal.get("driverOption") or "").lower(),
            tuple(Pattern(each.lower()) for each in goal.get("of", ())),
        ),
        tuple(Pattern(each.lower()) for each in (*entry.get("own", ()), *entry.get("harmless", ()))),
        tuple(each.lower() for each in entry.get("jaas", ())),
        bool(entry.get("anywhere")),
        tuple(Pattern(each.lower()) for each in entry.get("confs", ())),
        tuple((Pattern(name.lower()), frozenset(texts)) for name, texts in entry.get("values", {}).items()),
    )


@functools.cache
def _shipped() -> Mapping[str, Any]:
    text = resources.files("sparkconfig.policy.destinations").joinpath("formats.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def shown_place(names: Iterable[str], texts: Mapping[str, str], option: str) -> str:
    """Where a source would send the value of ``option``, for records; ``""`` if that is not certain."""
    table = _table()
    try:
        source = table.of(names, texts, option)
        if source is None or (source.anywhere and not table.is_named(source, names)):
            return ""
        return str(table.place(source, texts, option))
    except UnclearError:
        return ""


@functools.cache
def _table() -> Formats:
    return Formats()


def names() -> Sequence[str]:
    """The formats that ship."""
    return tuple(_shipped()["formats"])

"""What a rule about references binds them to: data sources, options and destinations.

On servers that several users share, a reference without such words stands only where a credential does.
A user who could put it into ``nullValue`` or ``query`` could read its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkconfig.errors import ConfigurationError
from sparkconfig.language.kafka import CLIENT, PROVIDERS
from sparkconfig.language.references import scan
from sparkconfig.policy.destinations import jdbc
from sparkconfig.policy.destinations.formats import LATE, Format, Formats
from sparkconfig.policy.destinations.places import Place, UnclearError, hosts_of, url_of
from sparkconfig.policy.jobtype import SHARED
from sparkconfig.policy.keys.keys import canonical, fold
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import SOMEWHERE, OverrideRequest, ReferenceUse
from sparkconfig.settings.scopes import CONF_SCOPES, OPTION_SCOPES

__all__ = ["Bounds", "Destination"]

# Confs of which one says where another goes: a catalog's, and those of Hive's metastore.
_CONNECTIONS = (
    re.compile(r"(spark\.sql\.catalog\.[^.]+\.)"),
    re.compile(r"(spark\.hadoop\.)(?:javax\.jdo\.|datanucleus\.)"),
)
_PORTS = {
    "http": 80, "https": 443, "bolt": 7687, "bolt+s": 7687, "neo4j": 7687, "neo4j+s": 7687,
    "mongodb": 27017, "mongodb+srv": 0, "s3a": 0, "abfss": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Destination:
    """A destination that a rule names.

    Attributes:
        text: as it stands in the rule.
        place: where it is; None: the URL is compared as it is.
    """

    text: str
    place: Place | None

    @classmethod
    def of(cls, text: str) -> Destination:
        """Parse ``host:port``, a URL, or a JDBC URL; ``/*`` at its end stands for everything below.

        Raises:
            ConfigurationError: it is not one of these, or may be read in more than one way.
        """
        problem = ""
        try:
            return cls(text, _place(text))
        except UnclearError as error:
            problem = str(error)
        raise ConfigurationError(f"the destination is not clear: {problem}")

    def holds(self, place: Place) -> bool:
        """Whether ``place`` lies here."""
        return self.place is not None and self.place.holds(place)


def _place(text: str) -> Place | None:
    below = text.endswith("/*")
    plain = text[:-2] if below else text
    if "*" in plain:
        raise UnclearError("a star may stand only at its end, behind a slash")
    if plain.lower().startswith("jdbc:"):
        if not jdbc.is_known(plain):
            if below:
                raise UnclearError("the URLs of its driver are not known here: give the exact URL")
            return None
        found = jdbc.place_of(plain)
    elif "://" in plain:
        found, rest = url_of(plain, _PORTS)
        if rest:
            raise UnclearError("it holds more than a path")
    else:
        found = Place("", hosts_of(plain, None))
        below = True
    return Place(found.scheme, found.hosts, found.path, below, found.default_port)


def _pads_user(request: OverrideRequest, option: str) -> bool:
    """Whether a reference is one part of the name of a user, on a shared server.

    Servers cut long names and quote the rest in their errors: with enough padding in front, an error would end in the
    middle of the value, and only whole values are masked.
    """
    if request.job_type not in SHARED or request.scope == "application":
        return False
    text = request.texts.get(option, "")
    return option.lower().endswith(("user", "username")) and [each[3:] for each in scan(text)] != [
        (0, len(text))
    ]


@dataclass(frozen=True)
class Bounds:
    """The bounds of one rule.

    Attributes:
        table: the data sources that are known.
        formats: patterns of data sources; None: any.
        options: patterns of the options in which the reference may stand; None: where credentials do.
        to: destinations; None: any.
        scopes_named: whether the rule names its scopes.
    """

    table: Formats
    formats: tuple[Pattern, ...] | None = None
    options: tuple[Pattern, ...] | None = None
    to: tuple[Destination, ...] | None = None
    scopes_named: bool = False

    @classmethod
    def of(
        cls,
        table: Formats,
        formats: Sequence[str] | None,
        options: Sequence[str] | None,
        to: Sequence[str] | None,
        *,
        scopes_named: bool,
    ) -> Bounds:
        """Make the bounds.

        Raises:
            ConfigurationError: a destination is not clear.
        """
        return cls(
            table,
            None if formats is None else tuple(Pattern(each.lower()) for each in formats),
            None if options is None else tuple(Pattern(each.lower()) for each in options),
            None if to is None else tuple(map(Destination.of, to)),
            scopes_named,
        )

    @property
    def any(self) -> bool:
        """Whether the rule names a bound."""
        return (self.formats, self.options, self.to) != (None, None, None)

    def problem(self, request: OverrideRequest, use: ReferenceUse) -> str | None:
        """Why the reference may not stand where it stands (None: it may); a text for people."""
        if use.where == SOMEWHERE:
            return None
        if not use.where:
            return self._by_name(request)
        if _pads_user(request, use.where):
            return "in the name of a user it may only be the whole text: a server's error would show a part of it"
        if request.scope in OPTION_SCOPES:
            source = self.table.of(request.formats, request.texts, use.where)
            names = {*(each.lower() for each in request.formats), *([source.name] if source else [])}
            return self._in_option(request, use, use.where, source, names)
        conf = fold(canonical(use.where, request.scope))
        strict = request.scope in CONF_SCOPES and request.scope != "application"
        if strict or self.any:
            return self._in_conf(request, conf, self.table.of_conf(conf), strict=strict)
        return None

    def _by_name(self, request: OverrideRequest) -> str | None:
        if self.any:
            return "the rule binds it to options of data sources, so its value may not be asked for by name"
        # Workers of shared servers ask only where the operator has opened that by name.
        if request.job_type in SHARED and request.scope != "worker" and not self.scopes_named:
            return "to be asked for by name it needs a rule that names the scope"
        return None

    def _in_option(
        self, request: OverrideRequest, use: ReferenceUse, option: str, source: Format | None, names: set[str]
    ) -> str | None:
        if self.formats is not None and not any(
            each.matches(name) for each in self.formats for name in names
        ):
            return "the rule names other formats"
        if option.lower() == PROVIDERS and CLIENT in names:
            pass  # Kafka asks by itself: which of its options holds the reference, a door has seen before
        elif self.options is not None:
            if not any(each.matches(option.lower()) for each in self.options):
                return "the rule names other options"
        elif (self.any or request.job_type in SHARED) and not (source and source.is_credential(option)):
            return (
                f"{use.where[:60]!r} is not an option for credentials of this data source; a rule may name it under"
                " options"
            )
        return None if self.to is None else self._from_source(request, option, source)

    def _from_source(self, request: OverrideRequest, option: str, source: Format | None) -> str | None:
        if source is None:
            return "where this data source goes is not known here; the policy's formats may say it"
        if source.anywhere and not self.table.is_named(source, request.formats):
            return "where a file system goes is not known before it is used: let the operator set its credentials"
        return self._elsewhere(source, request.texts, option)

    def _elsewhere(self, source: Format, texts: Mapping[str, str], option: str) -> str | None:
        problem = ""
        try:
            if any(
                each.place is None and each.text == self.table.exact(source, texts) for each in self.to or ()
            ):
                return None
            place = self.table.place(source, texts, option)
        except UnclearError as error:
            problem = f"where it would go is not certain: {error}"
        if problem:
            return problem
        if any(each.holds(place) for each in self.to or ()):
            return None
        return "the rule names other destinations"

    def _in_conf(
        self, request: OverrideRequest, conf: str, source: Format | None, *, strict: bool
    ) -> str | None:
        if self.formats is not None and not (
            source is not None and any(each.matches(source.name) for each in self.formats)
        ):
            return "the rule names other formats"
        if self.options is not None:
            if not any(each.matches(conf) for each in self.options):
                return "the rule names other options"
        elif strict and request.job_type in SHARED and source is None:
            return "this conf is not one for credentials; a rule may name it under options"
        if self.to is not None and not conf.startswith(LATE):
            prefix = next((each.match(conf) for each in _CONNECTIONS if each.match(conf)), None)
            if source is None or source.goal is None or prefix is None:
                return "where a conf's value goes is not known when it is set: write it as an option"
            start = prefix.group(1)
            names = {name: fold(canonical(name, request.scope)) for name in request.target}
            texts = {
                names[name].removeprefix(start): text
                for name, text in request.texts.items()
                if names[name].startswith(prefix.group())
            }
            return self._elsewhere(source, texts, conf.removeprefix(start))
        return None

    def elsewhere(self, request: OverrideRequest, use: ReferenceUse) -> str | None:
        """Why the credential of a file system would go to another place than the rule says."""
        if self.to is None or request.scope not in OPTION_SCOPES:
            return None
        source = self.table.of(request.formats, request.texts, use.where)
        return self._elsewhere(source, request.texts, use.where) if source and source.anywhere else None

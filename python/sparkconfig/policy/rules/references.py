"""Which references a kind of job may use: a shared server must not read every secret that its provider can."""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.references import scan
from sparkconfig.policy.destinations.formats import Formats
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import OverrideRequest, ReferenceUse
from sparkconfig.policy.rules.bounds import Bounds
from sparkconfig.policy.rules.users import concerns_user

if TYPE_CHECKING:
    from sparkconfig.policy.rules import schema

__all__ = ["SUBSTITUTION", "ReferenceRule", "ReferenceRules", "uses_in"]

SUBSTITUTION = "$["
"""The provider under which rules see a text that holds ``$[...]`` (KIP-269)."""

USER = "{user}"
"""Stands for the authenticated user in the path of an allowing rule, as one segment with percent escapes."""


@dataclass(frozen=True)
class ReferenceRule:
    """Allows or forbids references.

    Attributes:
        allow: whether it allows.
        provider, path, key: patterns of the three parts.
        place: where the rule stands.
        job_types: the job types it is about; None: all.
        scopes: the scopes it is about; None: all.
        users: patterns of the users it is about; None: all.
        bounds: where the reference may stand, and where it may go.
        message: the operator's own text for violations.
    """

    allow: bool
    provider: Pattern
    path: Pattern
    key: Pattern
    place: str
    job_types: frozenset[str] | None = None
    scopes: frozenset[str] | None = None
    users: tuple[Pattern, ...] | None = None
    bounds: Bounds | None = None
    message: str | None = None

    @classmethod
    def of(cls, element: schema.ReferenceElement, place: str, table: Formats) -> ReferenceRule:
        """Make the rule of an element.

        Raises:
            ConfigurationError: a destination is not clear.
        """
        allow = element.type == "allow"
        texts = (element.provider, element.path, element.key)
        # What is forbidden is forbidden in any case of letters: some stores do not tell them apart.
        provider, path, key = (Pattern(text if allow else text.lower()) for text in texts)
        return cls(
            allow=allow,
            provider=provider,
            path=path,
            key=key,
            place=place,
            job_types=None if element.job_types is None else frozenset(element.job_types),
            scopes=None if element.scopes is None else frozenset(element.scopes),
            users=None if element.users is None else tuple(map(Pattern, element.users)),
            bounds=Bounds.of(
                table, element.formats, element.options, element.to, scopes_named=element.scopes is not None
            ),
            message=element.message,
        )

    def concerns(self, job_type: str, scope: str) -> bool:
        """Whether the rule is about this kind of job and this scope."""
        return (self.job_types is None or job_type in self.job_types) and (
            self.scopes is None or scope in self.scopes
        )

    def matches(self, request: OverrideRequest, use: ReferenceUse) -> bool:
        """Whether the reference fits, for the user who asks.

        An allowing rule wants all spellings of the path to fit, a forbidding one any.
        """
        if not concerns_user(self.users, request, allow=self.allow):
            return False
        spellings = _spellings(use.path)
        if not self.allow:
            return any(
                self._fits(self.path, use.provider.lower(), path.lower(), use.key.lower())
                for path in spellings
            )
        if USER not in self.path.text:
            return all(self._fits(self.path, use.provider, path, use.key) for path in spellings)
        patterns = _of_user(self.path.text, request)
        # A user's name may need percent escapes: each spelling of the path is compared with the same spelling of
        # the pattern.
        return bool(patterns) and all(
            self._fits(pattern, use.provider, path, use.key)
            for pattern, path in zip(patterns, _each_spelling(use.path), strict=True)
        )

    @property
    def about_users(self) -> bool:
        """Whether it depends on who asks."""
        return self.users is not None or USER in self.path.text

    def covers(self, use: ReferenceUse) -> bool:
        """Whether the reference fits for some user."""
        anyones = Pattern(self.path.text.replace(USER, "*"))
        return all(self._fits(anyones, use.provider, path, use.key) for path in _spellings(use.path))

    def _fits(self, pattern: Pattern, provider: str, path: str, key: str) -> bool:
        return self.provider.matches(provider) and pattern.matches(path) and self.key.matches(key)


class _Allowing:
    """Allowing rules by the first segment of the paths that they allow.

    They allow a path only if it fits as it is written, so that no other rule need be asked.
    """

    def __init__(self, rules: Iterable[ReferenceRule]) -> None:
        self._anywhere: list[tuple[int, ReferenceRule]] = []
        self._below: dict[str, list[tuple[int, ReferenceRule]]] = {}
        for number, rule in enumerate(rules):
            first, slash, _ = rule.path.prefix.partition(USER)[0].partition("/")
            known = self._below.setdefault(first, []) if slash else self._anywhere
            known.append((number, rule))

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool(self._anywhere or self._below)

    def near(self, use: ReferenceUse) -> list[ReferenceRule]:
        """Those that could allow this use, in the order of the document."""
        first, slash, _ = use.path.partition("/")
        below = self._below.get(first, []) if slash else []
        if not below:
            return [rule for _, rule in self._anywhere]
        return [rule for _, rule in sorted((*self._anywhere, *below), key=operator.itemgetter(0))]


class ReferenceRules:
    """All rules of a document about references.

    A forbidding rule wins. If any allowing rule is about the job and scope, what none of them allows is forbidden.
    Without rules everything that the providers return is allowed.
    """

    def __init__(self, rules: Sequence[ReferenceRule] = ()) -> None:
        self.rules = tuple(rules)
        self._about: dict[tuple[str, str], tuple[list[ReferenceRule], _Allowing]] = {}

    def problem(self, request: OverrideRequest, use: ReferenceUse) -> tuple[str | None, str]:
        """Why the reference may not be used (None: it may), and the place of the rule that decided."""
        job_type = request.job_type
        forbidding, allowing = self._of(job_type, request.scope)
        for rule in forbidding:
            if rule.matches(request, use):
                text = rule.message or f"a {job_type} job may not use this reference"
                return text, rule.place
        reasons: dict[str, str] = {}
        for rule in allowing.near(use):
            if rule.matches(request, use):
                problem = rule.bounds.problem(request, use) if rule.bounds is not None else None
                if problem is None:
                    return None, rule.place
                reasons[rule.message or problem] = rule.place
        if reasons:
            text = "; ".join(reasons)
            return f"a {job_type} job may not use this reference here: {text}", "; ".join(reasons.values())
        if allowing.any:
            return f"no rule lets a {job_type} job use this reference", "no rule"
        return None, "no rule about references"

    def goes_elsewhere(self, request: OverrideRequest, use: ReferenceUse) -> bool:
        """Whether allowing rules are about this use of a file system's credential, and each names other places.

        Threads of libraries have no user: to them the rules about all users apply.
        """
        _, allowing = self._of(request.job_type, request.scope)
        bounds = [
            rule.bounds
            for rule in allowing.near(use)
            if rule.matches(request, use) or (not request.principal and rule.covers(use))
        ]
        return bool(bounds) and all(each is not None and each.elsewhere(request, use) for each in bounds)

    @property
    def about_users(self) -> bool:
        """Whether a rule depends on who asks."""
        return any(rule.about_users for rule in self.rules)

    def _of(self, job_type: str, scope: str) -> tuple[list[ReferenceRule], _Allowing]:
        """What forbids and what allows there; both are among a handful of names, so all are kept."""
        found = self._about.get((job_type, scope))
        if found is None:
            rules = [rule for rule in self.rules if rule.concerns(job_type, scope)]
            found = (
                [rule for rule in rules if not rule.allow],
                _Allowing(rule for rule in rules if rule.allow),
            )
            self._about[job_type, scope] = found
        return found


def uses_in(
    props: Mapping[str, object], foreign: Iterable[str] = (), *, substitution: bool = True
) -> list[ReferenceUse]:
    """The references in the text values of ``props``.

    Args:
        props: one map; what its own ``kafka.config.providers`` answers is resolved by Kafka's clients. Where that
            provider asks us, the use counts for the reference that it will ask for.
        foreign: names that Spark or others expand.
        substitution: whether ``$[...]`` has a meaning.
    """
    kafka = kafka_options.declared({**props, **{name.lower(): text for name, text in props.items()}})
    ours = frozenset(name for name, kind in kafka.items() if kind == kafka_options.REFERENCE_PROVIDER)
    others = frozenset(foreign) | (kafka.keys() - ours)
    found: list[ReferenceUse] = []
    for name, value in props.items():
        if not isinstance(value, str):
            continue
        if "${" in value:
            asked = [
                kafka_options.asked_of_us(reference) or reference if reference.provider in ours else reference
                for reference in scan(value)
                if reference.provider not in others
            ]
            found += [ReferenceUse(name, r.provider, r.path, r.key) for r in asked]
        if substitution and SUBSTITUTION in value:
            found.append(ReferenceUse(name, SUBSTITUTION, "", ""))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=64)
def _spellings(path: str) -> tuple[str, ...]:
    """The path as written, and what a store may make of it: percent escapes and ``..`` resolved."""
    return tuple(dict.fromkeys(_each_spelling(path)))


def _each_spelling(path: str) -> list[str]:
    plain = path
    for _ in range(3):
        plain = unquote(plain)
    plain = plain.replace("\\", "/")
    normal = posixpath.normpath(plain) if plain else ""
    return [path, plain, normal]


def _of_user(text: str, request: OverrideRequest) -> list[Pattern]:
    """The pattern of a path for the user who asks, in each spelling; empty: the user is unknown."""
    name = quote(request.principal, safe="")
    if not name or name.strip(".") == "":
        return []
    # A star in a name would be decoded to a pattern's.
    if "*" in request.principal:
        return []
    return [Pattern(each) for each in _each_spelling(text.replace(USER, name))]

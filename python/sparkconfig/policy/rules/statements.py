"""Which statements run, and which functions, paths and data sources they may name.

Shared servers run what many users send. A document says it in lists, ``statements``, ``functions``, ``paths``,
``sources`` and ``connections``, each decided like ``references``: a forbidding rule wins; once any allowing rule of a
list is about the job type, what none of that list allows is refused; without a list everything of its kind is allowed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import OverrideRequest, StatementItem
from sparkconfig.policy.rules.references import USER
from sparkconfig.policy.rules.users import concerns_user

if TYPE_CHECKING:
    from sparkconfig.policy.rules import schema

__all__ = ["SECTIONS", "StatementRule", "StatementRules"]

SECTIONS = {
    "statement": "statements",
    "function": "functions",
    "path": "paths",
    "source": "sources",
    "connection": "connections",
}
"""The list of a document in which each kind of item is decided."""

_DO = {
    "statement": "run this statement",
    "function": "make functions of this class",
    "path": "{detail} this path",
    "source": "{detail} with this data source",
    "connection": "{detail} through this connection",
    "connection write": "send SQL of its own or write through this connection",
}
_MOST, _LONGEST = 4096, 1000
# Years, months and days of a table in braces are far fewer.
_MOST_BRACES, _MOST_PATHS = 20, 1_000_000
_ANY = Pattern("*")
_GLOB = re.compile(r"[*?\[\]{}\\]")
_SEGMENT = re.compile(r"[\w@+-][\w.@+-]*")


@dataclass(frozen=True)
class StatementRule:
    """Allows or forbids items of one kind.

    Attributes:
        kind: ``statement``, ``function``, ``path``, ``source`` or ``connection``.
        allow: whether it allows.
        names: patterns of the item's name, one of which must fit.
        place: where the rule stands.
        detail: what the item's detail must be; None: anything.
        job_types: the job types it is about; None: all.
        users: patterns of the users it is about; None: all.
        message: the operator's own text for violations.
    """

    kind: str
    allow: bool
    names: tuple[Pattern, ...]
    place: str
    detail: tuple[Pattern, ...] | None = None
    job_types: frozenset[str] | None = None
    users: tuple[Pattern, ...] | None = None
    message: str | None = None

    @classmethod
    def of(cls, kind: str, element: schema.StatementBase, place: str) -> StatementRule:
        """Make the rule of an element."""
        allow = element.type == "allow"
        # Kinds of statements and short names of sources have no case; what is forbidden is in any case of letters.
        folds = not allow or kind in ("statement", "source")
        names, detail = element.patterns()
        return cls(
            kind=kind,
            allow=allow,
            names=tuple(_pattern(kind, text, folds=folds) for text in names),
            detail=None
            if detail is None
            else tuple(Pattern(text if allow else text.lower()) for text in detail),
            place=place,
            job_types=None if element.job_types is None else frozenset(element.job_types),
            users=None if element.users is None else tuple(map(Pattern, element.users)),
            message=element.message,
        )

    def concerns(self, request: OverrideRequest) -> bool:
        """Whether the rule is about this kind of job and this user."""
        if self.job_types is not None and request.job_type not in self.job_types:
            return False
        return concerns_user(self.users, request, allow=self.allow)

    def of_user(self, user: str) -> StatementRule:
        """The rule with the user's name in its patterns; one that is not a plain folder name fits nothing."""
        if self.kind != "path" or not self.allow or not any(USER in each.text for each in self.names):
            return self
        name = user if _SEGMENT.fullmatch(user) else None
        texts = [each.text for each in self.names if USER not in each.text or name is not None]
        return replace(self, names=tuple(Pattern(text.replace(USER, name or "")) for text in texts))

    def matches(self, item: StatementItem) -> bool:
        """Whether the item fits; an allowing rule wants all its spellings to fit, a forbidding one any."""
        detail = item.detail if self.allow else item.detail.lower()
        if self.detail is not None and not any(pattern.matches(detail) for pattern in self.detail):
            return False
        if self.kind == "path":
            return self._matches_path(item.name)
        name = item.name.lower() if not self.allow or self.kind in ("statement", "source") else item.name
        return any(pattern.matches(name) for pattern in self.names)

    def _matches_path(self, path: str) -> bool:
        if self.allow and not any(pattern.matches(path) for pattern in self.names):
            return False  # as it was written it is a spelling, too
        spellings = _spellings(path)
        if not self.allow:
            return any(spelling.may_reach(pattern) for spelling in spellings for pattern in self.names)
        if any(pattern.text == "*" for pattern in self.names):
            return True
        # Where it leads is not known before it is read.
        if any(spelling.is_open for spelling in spellings):
            return False
        return any(all(pattern.matches(each.text) for each in spellings) for pattern in self.names)


class StatementRules:
    """All rules of a document about statements."""

    def __init__(self, rules: Iterable[StatementRule] = ()) -> None:
        self._by_kind: dict[str, list[StatementRule]] = {}
        for rule in rules:
            self._by_kind.setdefault(rule.kind, []).append(rule)
        self._decided: dict[tuple[str, str, StatementItem], tuple[str | None, str]] = {}
        self._about: dict[tuple[str, str], tuple[list[StatementRule], list[StatementRule]]] = {}

    @property
    def rules(self) -> Mapping[str, Sequence[StatementRule]]:
        """The rules by kind."""
        return self._by_kind

    def concerns(self, job_type: str) -> bool:
        """Whether any rule is about statements of such jobs; connections are asked about where they are used."""
        return any(self.decides(kind, job_type) for kind in self._by_kind if kind != "connection")

    def allowed(self, kind: str, job_type: str) -> tuple[str, ...] | None:
        """The patterns that rules allow anybody in such jobs; None: what is not listed is not refused."""
        _, allowing = self._of(job_type, kind)
        return tuple(each.text for rule in allowing for each in rule.names) if allowing else None

    def named(self, statement: str, job_type: str) -> tuple[str, ...] | None:
        """The same of what a statement of this kind may name."""
        _, allowing = self._of(job_type, "statement")
        rules = [rule for rule in allowing if any(each.matches(statement) for each in rule.names)]
        return tuple(each.text for rule in rules for each in rule.detail or (_ANY,)) if allowing else None

    def decides(self, kind: str, job_type: str) -> bool:
        """Whether any rule is about items of this kind in such jobs."""
        rules = self._by_kind.get(kind, ())
        return any(rule.job_types is None or job_type in rule.job_types for rule in rules)

    def problem(self, request: OverrideRequest, item: StatementItem) -> tuple[str | None, str]:
        """Why the item is refused (None: it is not), and the place of the rule that decided."""
        asked = (request.job_type, request.principal, item)
        found = self._decided.get(asked)
        if found is None:
            found = self._decide(request, item)
            if len(item.name) + len(item.detail) <= _LONGEST:
                if len(self._decided) >= _MOST:  # items come from users: memory must not grow with them
                    self._decided.clear()
                self._decided[asked] = found
        return found

    def _decide(self, request: OverrideRequest, item: StatementItem) -> tuple[str | None, str]:
        # A rule about other users makes the list a list of what is allowed, too.
        forbidding, allowing = self._of(request.job_type, item.kind)
        for rule in forbidding:
            if rule.concerns(request) and rule.matches(item):
                return rule.message or f"a {request.job_type} job may not {_do(item)}", rule.place
        for rule in allowing:
            if rule.of_user(request.principal).matches(item) and rule.concerns(request):
                return None, rule.place
        if allowing:
            where = SECTIONS.get(item.kind, "statements")
            text = (
                f"no rule lets a {request.job_type} job {_do(item)}; ask the operator, who can allow it there"
            )
            return text, f"no rule under {where}"
        return None, f"no rule about {SECTIONS.get(item.kind, item.kind)}"

    def _of(self, job_type: str, kind: str) -> tuple[list[StatementRule], list[StatementRule]]:
        """What forbids and what allows such items."""
        if kind not in self._by_kind:
            return [], []
        found = self._about.get((job_type, kind))
        if found is None:
            rules = [
                each for each in self._by_kind[kind] if each.job_types is None or job_type in each.job_types
            ]
            found = [rule for rule in rules if not rule.allow], [rule for rule in rules if rule.allow]
            self._about[job_type, kind] = found
        return found


def _do(item: StatementItem) -> str:
    text = _DO.get(f"{item.kind} {item.detail}") or _DO.get(item.kind, "do this")
    return text.format(detail=item.detail or "use")


def _pattern(kind: str, text: str, *, folds: bool) -> Pattern:
    if kind == "path":
        scheme, mark, rest = text.partition(":")
        text = scheme.lower() + mark + rest
    return Pattern(text.lower() if folds else text)


def _is_flood(text: str) -> bool:
    """Whether Hadoop, which writes out each path that braces stand for, would fill the driver's memory with them."""
    braces, commas = text.count("{"), text[text.find("{") : text.rfind("}") + 1].count(",")
    return braces > _MOST_BRACES or (commas + 2) ** braces > _MOST_PATHS


@dataclass(frozen=True)
class _Spelling:
    """One way to write a path.

    Attributes:
        text: as it stands there.
        is_open: whether it does not say where it leads: it holds a parent folder, what Hadoop may make one of, a
            reference, or braces that stand for more paths than anybody can look at.
        folder: in lower case, with a slash at the end.
        begin: the part of ``folder`` before the first glob; None: there is none.
    """

    text: str
    is_open: bool
    folder: str
    begin: str | None

    @classmethod
    def of(cls, text: str) -> _Spelling:
        folder = text.lower().rstrip("/") + "/"
        glob = _GLOB.search(folder)
        # Hadoop takes away backslashes, and joins parts when it expands braces: `.{./a,b/c}` becomes `../a`.
        parts = re.split(r"[/{},]", text)
        is_joined = "." in parts and _has_slash_in_braces(text)
        is_open = (
            any(each in text for each in ("${", "$[", "\\")) or ".." in parts or is_joined or _is_flood(text)
        )
        return cls(text, is_open, folder, None if glob is None else folder[: glob.start()])

    def may_reach(self, pattern: Pattern) -> bool:
        """Whether reading the path, its globs and what lies below it, may reach what ``pattern`` forbids."""
        if self.is_open or pattern.matches(self.folder) or pattern.matches(self.folder[:-1]):
            return True
        if self.begin is None:
            return pattern.prefix.startswith(self.folder)
        return self.begin.startswith(pattern.prefix) or pattern.prefix.startswith(self.begin)


def _has_slash_in_braces(text: str) -> bool:
    """Whether there are braces of which Hadoop makes several paths, before it lists any folder."""
    depth = 0
    for character in text:
        if character == "/" and depth:
            return True
        depth += (character == "{") - (character == "}" and depth > 0)
    return False


@lru_cache(maxsize=64)
def _spellings(path: str) -> tuple[_Spelling, ...]:
    """The path as the driver wrote it, and with its percent escapes decoded."""
    plain = path
    for _ in range(3):
        plain = unquote(plain)
    return tuple(map(_Spelling.of, dict.fromkeys([path, plain, _normal(plain)])))


def _normal(path: str) -> str:
    scheme, mark, rest = path.partition(":")
    if not mark or "/" in scheme:
        return posixpath.normpath(path) if path else path
    if not rest.startswith("//"):
        return f"{scheme}:{posixpath.normpath(rest)}" if rest else path
    authority, slash, below = rest[2:].partition("/")
    end = "/" if below.endswith("/") and below.strip("/") else ""
    return f"{scheme}://{authority}" + (posixpath.normpath(slash + below) + end if slash else "")

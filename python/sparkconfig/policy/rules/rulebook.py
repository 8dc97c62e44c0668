"""From a policy document to its rules."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sparkconfig._base.text import nearest, shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.destinations.formats import Formats
from sparkconfig.policy.keys.keys import canonical, fold
from sparkconfig.policy.keys.values import text_of
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.rules import schema
from sparkconfig.policy.rules.conditions import Condition, build
from sparkconfig.policy.rules.databricks import (
    holds_databricks_secret,
    unwrapped,
    without_databricks_secrets,
)
from sparkconfig.policy.rules.document import Document, Location, dotted, fail
from sparkconfig.policy.rules.references import ReferenceRule, ReferenceRules
from sparkconfig.policy.rules.statements import SECTIONS, StatementRule, StatementRules
from sparkconfig.policy.rules.table_rules import TableRule
from sparkconfig.settings.scopes import CONF_SCOPES, OPTION_SCOPES

__all__ = ["Rule", "Rulebook", "load"]

_Model = TypeVar("_Model", bound=BaseModel)

_log = logging.getLogger(__name__)
_SPARK_CONF = "spark_conf."
_OWN_FIELDS = ("version", "extends", "rules", "references", *SECTIONS.values(), "formats", "tables")


@dataclass(frozen=True)
class Rule:
    """One rule about one key or key pattern.

    Attributes:
        key: the key or pattern as it is written.
        pattern: the same in canonical form, without case.
        condition: what the value must be.
        place: where it stands: ``policy.json line 14, rules[2]``.
        job_types: the job types it is about; None: all.
        scopes: the scopes it is about; None: all.
        formats: patterns, in lower case, of the data sources whose options it is about; None: all, and confs.
        users: patterns of the users it is about; None: all.
        fixed: the value it puts in place.
        default: the value that it puts in place where a job sets none.
        required: whether a job must set the key.
        message: the operator's own text for violations.
    """

    key: str
    pattern: Pattern
    condition: Condition
    place: str
    job_types: frozenset[str] | None = None
    scopes: frozenset[str] | None = None
    formats: tuple[Pattern, ...] | None = None
    users: tuple[Pattern, ...] | None = None
    fixed: str | None = field(default=None, repr=False)
    default: str | None = field(default=None, repr=False)
    required: bool = False
    message: str | None = None

    @property
    def rank(self) -> tuple[bool, int, bool, bool, bool, bool]:
        """How specific the rule is; the most specific rules decide (see docs/policies.md)."""
        return (
            self.pattern.exact,
            self.pattern.weight,
            self.users is not None,
            self.job_types is not None,
            self.formats is not None,
            self.scopes is not None,
        )

    @property
    def subject(self) -> tuple[object, ...]:
        """What the rule is about: key, jobs, scopes, sources and users."""
        return self.pattern.text, self.job_types, self.scopes, self.formats, self.users

    def concerns(self, job_type: str, scope: str, formats: Sequence[str] = ()) -> bool:
        """Whether the rule is about this kind of job, this scope, and options of such a data source.

        Args:
            job_type: the kind of job.
            scope: the scope.
            formats: the names of the source, in lower case. Empty: it is not known which it is, so that it may be the
                rule's.
        """
        if self.job_types is not None and job_type not in self.job_types:
            return False
        if self.formats is not None and not self._is_of(formats):
            return False
        if self.scopes is not None:
            return scope in self.scopes
        if self.formats is not None:
            return scope in OPTION_SCOPES
        # A pattern such as '*' that names no scope is about confs: it would forbid .option("header", ...).
        return scope not in OPTION_SCOPES or not self.pattern.text.startswith("*")

    def _is_of(self, formats: Sequence[str]) -> bool:
        return not formats or any(each.matches(name) for each in self.formats or () for name in formats)


@dataclass(frozen=True)
class Rulebook:
    """A whole policy document.

    Attributes:
        name: the file's name.
        rules: about keys.
        references: about references.
        statements: about statements, and the functions, paths and sources that they name.
        tables: about new tables.
        formats: what the document says of data sources.
        ignored: attributes of a Databricks policy that are not about Spark confs.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    references: ReferenceRules = field(default_factory=ReferenceRules)
    statements: StatementRules = field(default_factory=StatementRules)
    tables: tuple[TableRule, ...] = ()
    formats: Mapping[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def load(document: Document, base: Rulebook | None = None) -> Rulebook:
    """Check a document and make its rules.

    Args:
        document: the document.
        base: what the document extends: its rules are added, and a rule about the same key for the same jobs, users,
            scopes and sources replaces the base's.

    Raises:
        ConfigurationError: all mistakes, each with line and field.
    """
    if not document.data or any(name in document.data for name in _OWN_FIELDS):
        return _own(document, base or Rulebook(document.name))
    return _databricks(unwrapped(document))


def _own(document: Document, base: Rulebook) -> Rulebook:
    if not document.data:
        fail(document, [((), "it is empty; give rules, references, statements or tables")])
    parsed = _validated(schema.Own, document, document.data)
    problems: list[tuple[Location, str]] = []
    rules: list[Rule] = []
    for index, element in enumerate(parsed.rules):
        location: Location = ("rules", index)
        if element.key is None:
            problems.append(((*location, "key"), "a rule needs the key or key pattern that it is about"))
        for key in element.key or ():
            _add(
                rules,
                problems,
                element,
                document=document,
                location=location,
                key=key,
                optional=True,
            )
    formats = {**base.formats} | {
        name: element.model_dump(exclude_none=True, by_alias=True, exclude={"note"})
        for name, element in parsed.formats.items()
    }
    sources = Formats(formats)
    references: list[ReferenceRule] = []
    for index, reference in enumerate(parsed.references):
        location = ("references", index)
        try:
            references.append(ReferenceRule.of(reference, _place(document, location), sources))
        except ConfigurationError as error:
            problems.append(((*location, "to"), str(error)))
    statements = [
        StatementRule.of(kind, element, _place(document, (section, index)))
        for kind, section in SECTIONS.items()
        for index, element in enumerate(getattr(parsed, section))
    ]
    tables: list[TableRule] = []
    for index, table in enumerate(parsed.tables):
        location = ("tables", index)
        tables_problems: list[tuple[Location, str]] = []
        made = TableRule.of(table, _place(document, location), location, tables_problems)
        problems += tables_problems
        tables.append(made)
    if problems:
        fail(document, problems)
    replaced = {rule.subject for rule in rules}
    before = [rule for rule in base.rules if rule.subject not in replaced]
    return Rulebook(
        document.name,
        (*before, *rules),
        ReferenceRules([*base.references.rules, *references]),
        StatementRules([*chain.from_iterable(base.statements.rules.values()), *statements]),
        (*base.tables, *tables),
        formats,
    )


@lru_cache(maxsize=64)  # once, though each setting of a policy reads the file
def _say_secrets(name: str, keys: str) -> None:
    _log.warning(
        "%s: only Databricks can compare {{secrets/...}}, so any value passes in its place, and none is put there: %s",
        name,
        keys,
    )


def _databricks(document: Document) -> Rulebook:
    ours = {path: element for path, element in document.data.items() if path.startswith(_SPARK_CONF)}
    ignored = [path for path in document.data if path not in ours]
    problems: list[tuple[Location, str]] = []
    for path in ignored:
        first = path.partition(".")[0]
        near = nearest(first, ["spark_conf", *_OWN_FIELDS], 0.75)
        if first == "spark_conf" or near:
            meant = "spark_conf.KEY" if "spark_conf" in (first, near) else near
            problems.append(((path,), f"no such attribute; did you mean {meant}?"))
    if not ours and not problems:
        problems.append(
            ((), "it holds neither rules, references or tables nor spark_conf.* attributes (Databricks)")
        )
    if problems:
        fail(document, problems)
    secret = [path for path, element in ours.items() if holds_databricks_secret(element)]
    if secret:
        _say_secrets(document.name, ", ".join(map(shorten, secret)))
    ours = {path: without_databricks_secrets(element) for path, element in ours.items()}
    parsed = _validated(schema.Databricks, document, {"elements": ours}, skip=1)
    rules: list[Rule] = []
    for path, element in parsed.elements.items():
        if element.key is not None:
            problems.append(((path, "key"), "the attribute's path is the key here"))
        else:
            _add(
                rules,
                problems,
                element,
                document=document,
                location=(path,),
                key=path[len(_SPARK_CONF) :],
                optional=False,
                scopes=frozenset(CONF_SCOPES),
            )
    if problems:
        fail(document, problems)
    return Rulebook(document.name, tuple(rules), ignored=tuple(ignored))


def _add(
    rules: list[Rule],
    problems: list[tuple[Location, str]],
    element: schema.Element,
    *,
    document: Document,
    location: Location,
    key: str,
    optional: bool,
    scopes: frozenset[str] | None = None,
) -> None:
    """Make the rule of ``element`` at ``location``; what is wrong with it goes to ``problems``."""
    pattern = Pattern(fold(canonical(key)))
    fixed = text_of(element.value) if isinstance(element, schema.Fixed) else None
    default = text_of(getattr(element, "default_value", None))
    is_optional = getattr(element, "is_optional", None)
    limiting = not isinstance(element, schema.Fixed | schema.Forbidden)
    if element.formats is not None and not set(OPTION_SCOPES).issuperset(scopes or element.scopes or ()):
        problems.append(
            (location, "formats are about the options of data sources, whose scopes are source and sink")
        )
        return
    try:
        condition = build(element, key)
    except ConfigurationError as error:
        problems.append((location, str(error)))
        return
    if not pattern.exact and (default is not None or is_optional is False):
        problems.append((location, "a pattern of keys can have no defaultValue and cannot be required"))
        return
    if is_optional is None:
        is_optional = optional
    rules.append(
        Rule(
            key=key,
            pattern=pattern,
            condition=condition,
            place=_place(document, location),
            job_types=None if element.job_types is None else frozenset(element.job_types),
            scopes=scopes if element.scopes is None else frozenset(element.scopes),
            formats=None
            if element.formats is None
            else tuple(Pattern(each.lower()) for each in element.formats),
            users=None if element.users is None else tuple(map(Pattern, element.users)),
            fixed=fixed if pattern.exact else None,
            default=default,
            required=limiting and pattern.exact and default is None and not is_optional,
            message=element.message,
        )
    )


def _place(document: Document, location: Location) -> str:
    return f"{document.at(location)}, {dotted(location)}"


def _validated(model: type[_Model], document: Document, data: Mapping[str, Any], skip: int = 0) -> _Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
    problems: dict[Location, str] = {}
    for item in found:
        location = _location(document.data, item["loc"][skip:])
        problems.setdefault(location, _problem(item["type"], item["msg"], location))
    fail(document, list(problems.items()))
    raise AssertionError  # fail() never returns


def _location(data: Any, loc: Sequence[str | int]) -> Location:  # noqa: ANN401 - parsed JSON
    """Pydantic's location without the names of the types that it tried."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            data = data[part]
            path.append(part)
        elif index == len(loc) - 1 and isinstance(data, dict):
            path.append(part)  # a field that is missing
    return tuple(path)


_FIELDS = sorted(
    {
        field_.alias or name
        for model in (schema.Own, schema.Range, schema.Regex, schema.Fixed, schema.Allowlist)
        for name, field_ in model.model_fields.items()
    }
    | {
        "provider",
        "path",
        "tables",
        "require",
        "forbid",
        "users",
        "statement",
        "className",
        "source",
        "connection",
        "access",
    }
)


def _problem(kind: str, message: str, location: Location) -> str:
    if kind == "extra_forbidden":
        near = nearest(str(location[-1]), _FIELDS) if location else ""
        return "no such field here" + (f"; did you mean {near}?" if near else "")
    if kind == "missing":
        return "this field is missing"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return "type must be fixed, forbidden, allowlist, blocklist, regex, range or unlimited"
    return shorten(message.removeprefix("Value error, "), 200)

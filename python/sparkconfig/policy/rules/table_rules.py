"""The rules about new tables in a policy document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.rules.matching import Budget
from sparkconfig.policy.tables import CreateTableRequest

if TYPE_CHECKING:
    from sparkconfig.policy.rules import schema
    from sparkconfig.policy.rules.conditions import Condition
    from sparkconfig.policy.rules.document import Location

__all__ = ["TableRule"]

_FIELDS = ("name", "provider", "location", "comment", "columns", "partitions", "buckets", "statement")
_MAPS = ("options.", "properties.", "columns.")


@dataclass(frozen=True)
class _Requirement:
    """A condition on one attribute of a table."""

    attribute: str
    condition: Condition
    optional: bool
    message: str | None


@dataclass(frozen=True)
class TableRule:
    """What must hold for tables whose name fits.

    Attributes:
        tables: pattern of the whole name, without case.
        requirements: the conditions on attributes; all of them must hold.
        forbid: whether such tables may not be created at all.
        place: where the rule stands.
        job_types: the job types it is about; None: all.
        message: the operator's own text for violations.
    """

    tables: Pattern
    requirements: tuple[_Requirement, ...]
    forbid: bool
    place: str
    job_types: frozenset[str] | None = None
    message: str | None = None

    @classmethod
    def of(
        cls,
        element: schema.TableElement,
        place: str,
        location: Location,
        problems: list[tuple[Location, str]],
    ) -> TableRule:
        """Make the rule of an element; what is wrong goes to ``problems``."""
        from sparkconfig.policy.rules.conditions import build

        requirements: list[_Requirement] = []
        for attribute, wanted in element.require.items():
            where = (*location, "require", attribute)
            if attribute not in _FIELDS and not attribute.startswith(_MAPS):
                known = ", ".join([*_FIELDS, *(f"{name}NAME" for name in _MAPS)])
                problems.append((where, f"a table has no such attribute; use {known}"))
                continue
            try:
                condition = build(wanted, attribute)
            except ConfigurationError as error:
                problems.append((where, str(error)))
                continue
            optional = wanted.type in ("forbidden", "blocklist", "blacklist")
            given = getattr(wanted, "is_optional", None)
            requirements.append(
                _Requirement(attribute, condition, optional if given is None else given, wanted.message)
            )
        if not element.forbid and not element.require:
            problems.append((location, "a table rule needs require, or forbid: true"))
        return cls(
            tables=Pattern(element.tables.lower().removeprefix("spark_catalog.")),
            requirements=tuple(requirements),
            forbid=element.forbid,
            place=place,
            job_types=None if element.job_types is None else frozenset(element.job_types),
            message=element.message,
        )

    def problems(self, request: CreateTableRequest, budget: Budget) -> list[str]:
        """What is wrong with the table; values of options and properties are never shown."""
        if self.job_types is not None and request.job_type not in self.job_types:
            return []
        # Spark may or may not name its own session catalog; a pattern for prod.* means both.
        if not self.tables.matches(request.name.lower().removeprefix("spark_catalog.")):
            return []
        if self.forbid:
            return [self.message or f"a {request.job_type} job may not create this table"]
        found: list[str] = []
        for requirement in self.requirements:
            text = _attribute(request, requirement.attribute)
            if text is None:
                if not requirement.optional:
                    found.append(requirement.message or f"{requirement.attribute}: it must be given")
                continue
            problem = requirement.condition.problem(requirement.attribute, text, budget)
            if problem is not None:
                found.append(requirement.message or f"{shorten(requirement.attribute)}: {problem}")
        return [self.message] if found and self.message else found


def _attribute(request: CreateTableRequest, name: str) -> str | None:
    plain: Mapping[str, object] = {
        "name": request.name,
        "provider": request.provider,
        "location": request.location,
        "comment": request.comment,
        "columns": len(request.columns),
        "partitions": len(request.partitioning),
        "buckets": request.buckets,
        "statement": request.statement,
    }
    if name in plain:
        value = plain[name]
        return None if value is None else str(value)
    kind, _, key = name.partition(".")
    wanted = key.lower()
    entries: Mapping[str, str] = getattr(request, kind)
    return next((text for given, text in entries.items() if given.lower() == wanted), None)

"""The shape of a policy document, checked with pydantic. Needs the extra ``sparkconfig[policy]``.

Two forms. A Databricks cluster policy: ``{"spark_conf.KEY": ELEMENT, ...}``. Our own: ``{"rules": [ELEMENT with
"key"], "references": [...], "statements": [...], "functions": [...], "paths": [...], "sources": [...],
"connections": [...], "formats": {...}, "tables": [...]}``. The elements are the same.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel

from sparkconfig.settings.job_types import JobType
from sparkconfig.settings.scopes import Scope

__all__ = [
    "Allowlist",
    "Blocklist",
    "ConnectionElement",
    "Databricks",
    "Element",
    "Fixed",
    "Forbidden",
    "FunctionElement",
    "Own",
    "PathElement",
    "Range",
    "ReferenceElement",
    "Regex",
    "SourceElement",
    "StatementBase",
    "StatementElement",
    "TableElement",
    "Unlimited",
]


def _is_scalar(value: object) -> object:
    if isinstance(value, bool | int | float | str):
        return value
    raise ValueError("expected text, a number, true or false")


def _is_end(value: object) -> object:
    if value is None or (isinstance(value, int | float | str) and not isinstance(value, bool)):
        return value
    raise ValueError('expected a number, or text such as "8g", "30s" or "unlimited"')


Scalar = Annotated[
    bool | int | float | str,
    PlainValidator(_is_scalar),
    WithJsonSchema({"type": ["boolean", "number", "string"]}),
]
End = Annotated[
    int | float | str | None, PlainValidator(_is_end), WithJsonSchema({"type": ["number", "string", "null"]})
]


Patterns = Annotated[
    tuple[Annotated[StrictStr, Field(min_length=1)], ...],
    Field(min_length=1),
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
            ]
        }
    ),
]
"""One pattern, or a list of patterns of which one must fit."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class _Element(_Model):
    """What all elements share.

    ``key``, ``jobTypes``, ``scopes``, ``formats``, ``users``, ``message`` and ``note`` are ours.
    """

    key: Patterns | None = None
    hidden: StrictBool = False
    job_types: Annotated[tuple[JobType, ...], Field(min_length=1)] | None = None
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1)] | None = None
    formats: Patterns | None = None
    users: Patterns | None = None
    message: StrictStr | None = None
    note: StrictStr | None = None


class _Limiting(_Element):
    default_value: Scalar | None = None
    is_optional: StrictBool | None = None


class Fixed(_Element):
    """The value is the operator's; jobs may set that value only."""

    type: Literal["fixed"]
    value: Scalar


class Forbidden(_Element):
    """Jobs may not set it."""

    type: Literal["forbidden"]


class Unlimited(_Limiting):
    """Jobs may set any value."""

    type: Literal["unlimited"]


class Allowlist(_Limiting):
    """One of these values."""

    type: Literal["allowlist", "whitelist"]
    values: Annotated[tuple[Scalar, ...], Field(min_length=1)]


class Blocklist(_Limiting):
    """None of these values."""

    type: Literal["blocklist", "blacklist"]
    values: Annotated[tuple[Scalar, ...], Field(min_length=1)]


class Regex(_Limiting):
    """The whole value matches."""

    type: Literal["regex"]
    pattern: StrictStr


class Range(_Limiting):
    """From ``minValue`` to ``maxValue``, both included; an end that is left out or ``"unlimited"`` is open."""

    type: Literal["range"]
    min_value: End = None
    max_value: End = None
    unit: StrictStr | None = None

    @model_validator(mode="after")
    def _has_an_end(self) -> Range:
        ends = [end for end in (self.min_value, self.max_value) if end not in (None, "unlimited")]
        if not ends:
            raise ValueError("a range needs minValue or maxValue; use type unlimited for any value")
        return self


Element = Annotated[
    Fixed | Forbidden | Unlimited | Allowlist | Blocklist | Regex | Range, Field(discriminator="type")
]


class ReferenceElement(_Model):
    """Which references a kind of job may use, where they may stand, and where their values may go.

    ``*`` stands for any text in each pattern, and ``{user}`` in the path of an allowing one for the authenticated user.
    """

    type: Literal["allow", "forbid"]
    provider: Annotated[StrictStr, Field(min_length=1)]
    path: StrictStr = "*"
    key: StrictStr = "*"
    job_types: Annotated[tuple[JobType, ...], Field(min_length=1)] | None = None
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1)] | None = None
    users: Patterns | None = None
    formats: Patterns | None = None
    options: Patterns | None = None
    to: Patterns | None = None
    message: StrictStr | None = None
    note: StrictStr | None = None


class StatementBase(_Model):
    """What the rules about statements, functions, paths and sources share."""

    type: Literal["allow", "forbid"]
    job_types: Annotated[tuple[JobType, ...], Field(min_length=1)] | None = None
    users: Patterns | None = None
    message: StrictStr | None = None
    note: StrictStr | None = None

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The patterns of an item's name, and of its detail (None: any)."""
        raise NotImplementedError


class StatementElement(StatementBase):
    """Which statements a kind of job may run, and with what."""

    statement: Patterns
    name: Patterns | None = None

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The kinds of statements; what they name."""
        return self.statement, self.name


class FunctionElement(StatementBase):
    """Which classes a kind of job may make functions of."""

    class_name: Patterns

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The classes."""
        return self.class_name, None


class _AccessElement(StatementBase):
    access: Literal["read", "write"] | None = None

    def _access(self) -> tuple[str, ...] | None:
        return None if self.access is None else (self.access,)


class PathElement(StatementBase):
    """Which paths a kind of job may read or write, or keep the checkpoints of its streams in."""

    path: Patterns
    access: Literal["read", "write", "checkpoint"] | None = None

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The paths; the access. What Spark trusts in a checkpoint, only a rule that says so allows."""
        if self.access is not None:
            return self.path, (self.access,)
        return self.path, ("read", "write") if self.type == "allow" else None


class SourceElement(_AccessElement):
    """Which data sources a kind of job may read or write with."""

    source: Patterns

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The sources; the access."""
        return self.source, self._access()


class ConnectionElement(_AccessElement):
    """Which named connections a kind of job may read or write through."""

    connection: Patterns

    def patterns(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """The connections; the access."""
        return self.connection, self._access()


class GoalElement(_Model):
    """Which options say where a data source goes."""

    kind: Literal["jdbc", "hosts", "url"]
    options: Patterns
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    port_option: StrictStr | None = None
    schemes: dict[StrictStr, Annotated[int, Field(ge=0, le=65535)]] | None = None


class FormatElement(_Model):
    """What is known about a data source: adds to the table that ships."""

    also: Patterns | None = None
    credentials: Patterns | None = None
    to: GoalElement | None = None
    own: Patterns | None = None
    harmless: Patterns | None = None
    confs: Patterns | None = None
    note: StrictStr | None = None


class TableElement(_Model):
    """What must hold for a new table whose name fits ``tables``."""

    tables: Annotated[StrictStr, Field(min_length=1)] = "*"
    require: dict[StrictStr, Element] = Field(default_factory=dict)
    forbid: StrictBool = False
    job_types: Annotated[tuple[JobType, ...], Field(min_length=1)] | None = None
    message: StrictStr | None = None
    note: StrictStr | None = None


class Own(_Model):
    """Our own form."""

    json_schema: Annotated[StrictStr | None, Field(alias="$schema")] = None
    version: Literal[1] = 1
    extends: Annotated[StrictStr, Field(min_length=1)] | None = None
    note: StrictStr | None = None
    rules: tuple[Element, ...] = ()
    references: tuple[ReferenceElement, ...] = ()
    statements: tuple[StatementElement, ...] = ()
    functions: tuple[FunctionElement, ...] = ()
    paths: tuple[PathElement, ...] = ()
    sources: tuple[SourceElement, ...] = ()
    connections: tuple[ConnectionElement, ...] = ()
    formats: dict[Annotated[StrictStr, Field(min_length=1)], FormatElement] = Field(default_factory=dict)
    tables: tuple[TableElement, ...] = ()


class Databricks(_Model):
    """The ``spark_conf`` part of a Databricks cluster policy: attribute path to element."""

    elements: dict[StrictStr, Element]

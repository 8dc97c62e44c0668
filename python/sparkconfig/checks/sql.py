"""What a SQL file would ask of the policies: new tables, SET statements, options and references.

For ``sparkconfig validate --sql`` only: at run time Spark's own parser reads the statements. Here it is sqlglot's
Spark dialect (extra ``sparkconfig[policy]``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparkconfig._base import advice
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.tables import CreateTableRequest

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["Statement", "statements"]

_SET = re.compile(r"SET\s+(?!-v\b)(?:`([^`]+)`|([^=\s`]+))\s*=(.*)", re.IGNORECASE | re.DOTALL)
_UNSET = re.compile(r"RESET\s+(?:`([^`]+)`|(\S+))\s*", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:CREATE\s+(?:OR\s+REPLACE\s+)?(?:EXTERNAL\s+)?|REPLACE\s+)TABLE\b", re.IGNORECASE)
_VIEW = re.compile(
    r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:GLOBAL\s+)?(?:TEMP|TEMPORARY)\s+VIEW\b.*\bUSING\b",
    re.IGNORECASE | re.DOTALL,
)

_PATH = re.compile(r"\b\w+\s*\.\s*`[^`]*[:/][^`]*`")


@dataclass(frozen=True)
class Statement:
    """One statement.

    Attributes:
        line: where it begins.
        text: the statement.
        confs: what it sets in the session; None as a value: it takes the key away.
        options: the OPTIONS of a table or view.
        provider: its data source.
        table: the table that it creates.
        problem: why it cannot be evaluated here.
    """

    line: int
    text: str = field(repr=False)
    confs: dict[str, str | None] = field(default_factory=dict, repr=False)
    options: dict[str, str] = field(default_factory=dict, repr=False)
    provider: str = ""
    table: CreateTableRequest | None = None
    problem: str | None = None


def statements(text: str, job_type: str) -> Iterator[Statement]:
    """Read a SQL file.

    Raises:
        ConfigurationError: sqlglot is not installed, or the text ends inside a string or comment.
    """
    for line, statement in _split(text):
        setting, unsetting = _SET.fullmatch(statement), _UNSET.fullmatch(statement)
        if setting is not None:
            value = setting[3].strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            yield Statement(line, statement, confs={(setting[1] or setting[2]): value})
        elif unsetting is not None:
            yield Statement(line, statement, confs={(unsetting[1] or unsetting[2]): None})
        elif _TABLE.match(statement) or _VIEW.match(statement):
            yield _created(line, statement, job_type)
        elif _PATH.search(statement):
            problem = (
                "it names a path, which is not checked here: rules about the key path are about the option of that"
                " name, and what the list paths says, --statement asks"
            )
            yield Statement(line, statement, problem=problem)
        else:
            yield Statement(line, statement)


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each statement, without comments around it."""
    problem = ""
    try:
        from sqlglot.dialects.spark import Spark
        from sqlglot.errors import SqlglotError
    except ImportError:
        problem = f"reading SQL needs sqlglot; install it with: {advice.install('policy')}"
    if problem:
        raise ConfigurationError(problem)
    try:
        tokens = Spark().tokenize(text)
    except SqlglotError:  # its text quotes the statement
        problem = "the SQL ends inside a string or a comment, or holds a character that SQL does not know"
    if problem:
        raise ConfigurationError(problem)
    first: Any = None
    last: Any = None
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if first is not None:
                yield first.line, text[first.start : last.end + 1]
            first = None
        else:
            first, last = first or token, token
    if first is not None:
        yield first.line, text[first.start : last.end + 1]


def _created(line: int, statement: str, job_type: str) -> Statement:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    replacing = re.match(r"\s*REPLACE\b", statement, re.IGNORECASE) is not None
    known = re.sub(r"^\s*REPLACE\b", "CREATE OR REPLACE", statement, flags=re.IGNORECASE)
    tree: object = None
    try:
        tree = sqlglot.parse_one(known, dialect="spark")
    except (SqlglotError, RecursionError):
        tree = None
    if not isinstance(tree, exp.Create):
        return Statement(line, statement, problem="it cannot be read here; only Spark itself can parse it")
    found = tree.args.get("properties")
    properties: list[exp.Expression] = found.expressions if found is not None else []
    options = {
        _name(item.this): _text(item.args.get("value"))
        for group in properties
        if type(group).__name__ == "OptionsProperty"
        for item in group.expressions
    }
    if tree.kind != "TABLE":
        return Statement(line, statement, options=options, provider=_provider(known))
    return Statement(
        line,
        statement,
        options=options,
        provider=_provider(known),
        table=_table(
            tree, properties, options, job_type, replacing=replacing or bool(tree.args.get("replace"))
        ),
    )


def _provider(statement: str) -> str:
    """The data source after USING; ``""`` if there is none."""
    found = re.search(r"\bUSING\s+(?:`([^`]+)`|([\w.]+))", statement, re.IGNORECASE)
    return "" if found is None else str(found[1] or found[2])


def _table(
    tree: exp.Create,
    properties: list[exp.Expression],
    options: dict[str, str],
    job_type: str,
    *,
    replacing: bool,
) -> CreateTableRequest:
    from sqlglot import exp

    def single(kind: type[exp.Expression]) -> exp.Expression | None:
        return next((item for item in properties if isinstance(item, kind)), None)

    schema = tree.this if isinstance(tree.this, exp.Schema) else None
    table = tree.this.this if schema is not None else tree.this
    columns = {
        column.name: column.args["kind"].sql("spark") if column.args.get("kind") else ""
        for column in (schema.expressions if schema is not None else [])
        if isinstance(column, exp.ColumnDef)
    }
    partitions = single(exp.PartitionedByProperty)
    clustered = single(exp.ClusteredByProperty)
    buckets = clustered.args.get("buckets") if clustered is not None else None
    provider, location = single(exp.FileFormatProperty), single(exp.LocationProperty)
    comment = single(exp.SchemaCommentProperty)
    as_query = tree.args.get("expression") is not None
    return CreateTableRequest(
        name=".".join(part.name for part in table.parts),
        job_type=job_type,
        statement="replace" if replacing else "ctas" if as_query else "create",
        provider=provider.this.name.lower() if provider is not None else None,
        columns=columns,
        partitioning=tuple(item.sql("spark") for item in partitions.this.expressions) if partitions else (),
        buckets=int(buckets.name) if buckets is not None and buckets.name.isdigit() else None,
        location=location.this.name if location is not None else None,
        options=options,
        properties={
            _name(item.this): _text(item.args.get("value"))
            for item in properties
            if type(item) is exp.Property
        },
        comment=comment.this.name if comment is not None else None,
    )


def _name(node: exp.Expression) -> str:
    """The name of an option or property, which may have dots."""
    from sqlglot import exp

    return f"{_name(node.this)}.{_name(node.expression)}" if isinstance(node, exp.Dot) else str(node.name)


def _text(value: Any) -> str:  # noqa: ANN401 - an expression of sqlglot
    return "" if value is None else str(value.name or value.sql("spark"))

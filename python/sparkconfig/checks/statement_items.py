"""What a SQL statement would ask the rules about statements, functions, paths, sources and connections.

For ``sparkconfig validate --statement`` and policy cases only: at run time Spark's own parser reads the statement. This
reads common statements by their words, and returns None for the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sparkconfig.policy.request import StatementItem
from sparkconfig.settings.connections import OPTION

__all__ = ["items_of"]

_FLAGS = re.IGNORECASE | re.DOTALL
_TEXT = r"'([^']*)'|\"([^\"]*)\""
_NAMES: Sequence[tuple[str, str | Callable[[re.Match[str]], str]]] = (
    (r"ADD\s+(JAR|FILE|ARCHIVE)S?\b\s*(.*)", lambda found: f"add-{found[1].lower()}"),
    (r"LIST\s+(JAR|FILE|ARCHIVE)S?\b", lambda found: f"list-{found[1].lower()}s"),
    (r"SET\s+CATALOG\b", "set-catalog"),
    (r"(?:USE)\b", "set-namespace"),
    (r"SET\b", "set"),
    (r"RESET\b", "reset"),
    (r"EXPLAIN\b", "explain"),
    (r"SHOW\s+(\w+)", lambda found: f"show-{found[1].lower()}"),
    (r"DESC(?:RIBE)?\s+FUNCTION\b", "describe-function"),
    (r"DESC(?:RIBE)?\b", "describe-relation"),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?FUNCTION\b.*?\bAS\s+['\"]", "create-function"),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?FUNCTION\b", "create-sql-function"),
    (r"DROP\s+(?:TEMPORARY\s+)?FUNCTION\b", "drop-function"),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:GLOBAL\s+)?TEMP(?:ORARY)?\s+VIEW\b.*?\bUSING\b", "create-temp-view-using"),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:GLOBAL\s+)?(?:TEMP(?:ORARY)?\s+)?VIEW\b", "create-view"),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:EXTERNAL\s+)?TABLE\b.*?\bAS\s+(?:SELECT|WITH|FROM|TABLE|VALUES)\b",
     "create-table-as-select"),
    (r"(CREATE\s+OR\s+REPLACE|REPLACE)\s+TABLE\b", "replace-table"),
    (r"CREATE\s+(?:EXTERNAL\s+)?TABLE\b", "create-table"),
    (r"CREATE\s+(?:DATABASE|SCHEMA|NAMESPACE)\b", "create-namespace"),
    (r"DROP\s+(TABLE|VIEW)\b", lambda found: f"drop-{found[1].lower()}"),
    (r"DROP\s+(?:DATABASE|SCHEMA|NAMESPACE)\b", "drop-namespace"),
    (r"LOAD\s+DATA\b", "load-data"),
    (r"INSERT\s+OVERWRITE\s+(?:LOCAL\s+)?DIRECTORY\b", "insert-directory"),
    (r"INSERT\b", "insert"),
    (r"DELETE\s+FROM\b", "delete-from-table"),
    (r"UPDATE\b", "update-table"),
    (r"MERGE\b", "merge-into-table"),
    (r"CACHE\b", "cache-table"),
    (r"UNCACHE\b", "uncache-table"),
    (r"REFRESH\s+TABLE\b", "refresh-table"),
    (r"TRUNCATE\b", "truncate-table"),
    (r"ANALYZE\b", "analyze-table"),
)  # fmt: skip
_KNOWN = [(re.compile(r"\s*" + pattern, _FLAGS), name) for pattern, name in _NAMES]
_QUERY = re.compile(r"\s*\(*\s*(?:SELECT|WITH|FROM|VALUES|TABLE|MAP|REDUCE)\b", re.IGNORECASE)
_TRANSFORM = re.compile(
    r"\bSELECT\s+TRANSFORM\s*\(.*\bUSING\s+['\"]|(?:^|[;(])\s*(?:MAP|REDUCE)\b.*\bUSING\s+['\"]", _FLAGS
)
_VARIABLE = re.compile(r"\$\{((?:env|system):[^}]*)\}", re.IGNORECASE)
_DIRECT = re.compile(r"(?:\b([\w.]+)|`([^`]+)`)\s*\.\s*`([^`]*[/:][^`]*)`")
_USING = re.compile(r"\bUSING\s+(?:`([^`]+)`|([\w.]+))", re.IGNORECASE)
_LOCATION = re.compile(rf"\b(?:LOCATION|INPATH|DIRECTORY)\s+(?:{_TEXT})", re.IGNORECASE)
_PATH = re.compile(rf"['\"`(,\s]path['\"`]?\s*=?\s*(?:{_TEXT})", re.IGNORECASE)
_CONNECTION = re.compile(rf"{re.escape(OPTION)}[`'\"]?\s*=?\s*(?:{_TEXT})", re.IGNORECASE)
_CLASS = re.compile(rf"\bAS\s+(?:{_TEXT})", re.IGNORECASE)
_MADE = frozenset({"create-table", "create-table-as-select", "replace-table", "create-namespace"})


def items_of(text: str) -> list[StatementItem] | None:
    """The items of one statement; None: only Spark itself can say.

    Paths are as they were written, with ``file:`` before local ones: links and defaults are the server's.
    """
    found: list[StatementItem] = []
    kind, match = _kind(text)
    if not kind and _QUERY.match(text) is None:
        return None
    if kind:
        resources = match is not None and kind in ("add-jar", "add-file", "add-archive")
        found.append(StatementItem("statement", kind, match[2].strip("'\" ") if resources and match else ""))
    if _TRANSFORM.search(text):
        found.append(StatementItem("statement", "transform"))
    found += [StatementItem("statement", "variable", each) for each in _VARIABLE.findall(text)]
    if kind == "create-function" and (made_of := _CLASS.search(text)):
        found.append(StatementItem("function", made_of[1] or made_of[2]))
    accesses = ("read", "write") if kind in _MADE else ("write",) if kind == "insert-directory" else ("read",)
    for source, quoted, path in _DIRECT.findall(text):
        found.append(StatementItem("source", (source or quoted).lower(), "read"))
        found.append(StatementItem("path", _path(path), "read"))
    if kind.startswith(("create-", "replace-", "insert-directory")):
        for plain, quoted in _USING.findall(text):
            found += [StatementItem("source", (plain or quoted).lower(), access) for access in accesses]
    for one, other in (*_LOCATION.findall(text), *(_PATH.findall(text) if kind else ())):
        found += [StatementItem("path", _path(one or other), access) for access in accesses]
    writes = kind == "create-table-as-select" or kind.startswith("insert")
    for one, other in _CONNECTION.findall(text):
        found.append(StatementItem("connection", one or other, "write" if writes else "read"))
    return list(dict.fromkeys(found))


def _kind(text: str) -> tuple[str, re.Match[str] | None]:
    for pattern, made in _KNOWN:
        match = pattern.match(text)
        if match is not None:
            return made if isinstance(made, str) else made(match), match
    return "", None


def _path(text: str) -> str:
    scheme, colon, rest = text.partition(":")
    if not colon or "/" in scheme:
        return f"file:{text}"
    if scheme.lower() == "file":
        return "file:/" + rest.lstrip("/")
    return scheme.lower() + colon + rest

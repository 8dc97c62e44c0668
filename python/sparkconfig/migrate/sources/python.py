"""Python: each literal with the names that it goes by where it stands. It is reported, place by place."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.sources import folding, sql
from sparkconfig.migrate.sources.assignments import COMMENTED
from sparkconfig.migrate.text import Document, Text

__all__ = ["read", "texts_of"]

_OPTION = "seal the value, and write {reference} in its place"
_RUNTIME = (
    "set it in spark-defaults.conf, with --conf or in the session's builder, as {reference}; what is set on a running"
    " session reaches some readers as it is written"
)
_HERE = "seal the value, and write sparkconfig.current('{reference}').reveal() where it is used"
_OPTIONS = frozenset(
    {"option", "options", "config", "setAll", "load", "save", "saveAsTable", "start", "toTable", "jdbc"}
)
_STATEMENT = re.compile(r"\b(?:OPTIONS|TBLPROPERTIES|SET|CREATE|ALTER)\b", re.IGNORECASE)
_MAGIC = re.compile(r"^# MAGIC ?", re.MULTILINE)
# What they return says the same as their argument.
_SAME = frozenset(
    {
        "str",
        "bytes",
        "lit",
        "Secret",
        "SecretStr",
        "b64decode",
        "b64encode",
        "dedent",
        "quote",
        "quote_plus",
        "Literal",
    }
)
_KEYS = ("key", "name", "conf", "keyName")
_VALUES = ("value", "default", "defaultValue", "defaultvalue", "fallback")


def read(content: str) -> Document:
    """Read a module.

    Raises:
        ConfigurationError: it is not the Python of this interpreter.
    """
    return Document(content, sorted(texts_of(content), key=lambda text: text.start), "python")


def texts_of(content: str) -> list[Text]:
    """Return the literals of a module, and of what is commented out in it.

    Raises:
        ConfigurationError: it is not the Python of this interpreter.
    """
    if "\f" in content or "\r" in content.replace("\r\n", "\n"):
        raise ConfigurationError("this module has line ends that are not in common use")
    tree = _parsed(content)
    if tree is not None:
        with contextlib.suppress(RecursionError):
            return [*_literals(tree, content), *_comments(content)]
    raise ConfigurationError("this file is not Python that can be read here")


def _parsed(content: str) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _comments(content: str) -> Iterator[Text]:
    """Code in comments, line by line, and the cells of other languages in Databricks' notebooks."""
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type != tokenize.COMMENT:
            continue
        start = starts[token.start[0] - 1] + token.start[1]
        text = _MAGIC.sub("", token.string).lstrip("# \t").rstrip("\\ \t")
        magic = token.string.startswith("# MAGIC")
        tree = _parsed(text) or _parsed(f"_{text}") or _parsed(text.rstrip(",")) or _parsed(f"f({text}")
        found = list(_literals(tree, None)) if tree is not None else []
        if _STATEMENT.search(text) or magic:
            found += sql.texts_of(text)
        for each in found:
            kept = each.kept if magic else COMMENTED
            yield Text(each.key, each.value, start, start + len(token.string), kept=kept, conf=each.conf)


def _literals(tree: ast.Module, content: str | None) -> Iterator[Text]:
    names = _Names(tree)
    lines = _Lines(content) if content is not None else None
    skipped = _docstrings(tree)
    for node in ast.walk(tree):
        if id(node) in names.inner or id(node) in skipped or not isinstance(node, ast.expr):
            continue
        value = folding.text(node)
        if value is None:
            continue
        start, end = lines.span(node) if lines is not None else (0, 0)
        for key, kept in names.of(node) or [("", _HERE)]:
            yield Text(key, value, start, end, kept=kept, conf=False)
        if _STATEMENT.search(value):
            for each in sql.texts_of(value):
                yield Text(each.key, each.value, start, end, kept=each.kept, conf=False)


def _docstrings(tree: ast.Module) -> set[int]:
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)}  # fmt: skip


class _Lines:
    """Places of a module's nodes in its text."""

    def __init__(self, content: str) -> None:
        self._lines = content.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        return (
            self._at(node.lineno, node.col_offset),
            self._at(node.end_lineno or node.lineno, node.end_col_offset or 0),
        )

    def _at(self, line: int, octets: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:octets].decode())


class _Names:
    """What each literal of a module is called: by calls, targets, keywords, keys and the variables it goes through."""

    def __init__(self, tree: ast.Module) -> None:
        self._found: dict[int, list[tuple[str, str]]] = defaultdict(list)
        #: Parts of a text that is put together: the whole is looked at.
        self.inner: set[int] = set()
        self._assigned: dict[str, list[ast.expr]] = defaultdict(list)
        given: list[tuple[str, ast.expr, str]] = []
        for node in ast.walk(tree):
            given += _given(node)
            if isinstance(node, ast.expr) and folding.text(node) is not None:
                self.inner.update(id(part) for part in ast.walk(node) if part is not node)
        for key, value, _ in given:
            self._assigned[key].append(value)
        for key, value, kept in given:
            self._give(key, value, kept, depth=0)

    def of(self, node: ast.expr) -> list[tuple[str, str]]:
        return self._found[id(node)]

    def _give(self, key: str, node: ast.expr, kept: str, *, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if folding.text(node) is not None:
            self._found[id(node)].append((key, kept))
            return
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        inner = self._assigned[name] if name and name != key else _alternatives(node)
        for each in inner:
            self._give(key, each, kept, depth=depth + 1)


_DEEPEST = 6


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """The expressions of which one is the value, or a part of it."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Starred):
        return [node.value]
    if isinstance(node, ast.Call):
        # "...".encode(), and str("...")
        own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*own, *node.args] if _called(node) in _SAME else own
    return []


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr, str]]:
    """Names and values that a node brings together, and what to write instead."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _to_target(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield from _to_target(node.target, node.value)
    elif isinstance(node, ast.Compare):
        yield from _to_target(node.left, node.comparators[0])
    elif isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
        yield from _of_pairs(node)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.BoolOp):
        # os.environ.get("DB_PASSWORD") or "..."
        asked = [
            folding.text(each.args[0]) for each in node.values if isinstance(each, ast.Call) and each.args
        ]
        yield from ((name, value, _HERE) for name in asked if name for value in node.values)
    elif isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        pairs = [*zip(positional[::-1], node.defaults[::-1], strict=False)]
        pairs += [
            (arg, each)
            for arg, each in zip(node.kwonlyargs, node.kw_defaults, strict=True)
            if each is not None
        ]
        yield from ((arg.arg, default, _HERE) for arg, default in pairs)


def _of_pairs(node: ast.Dict | ast.List | ast.Tuple | ast.Set) -> Iterator[tuple[str, ast.expr, str]]:
    if isinstance(node, ast.Dict):
        pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
    else:
        inner = [each.elts for each in node.elts if isinstance(each, ast.List | ast.Tuple)]
        pairs = [(each[0], each[1]) for each in inner if len(each) == 2]
    for key, value in pairs:
        if name := folding.text(key):
            yield name, value, _OPTION


def _to_target(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr, str]]:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, each in zip(target.elts, value.elts, strict=False):
            yield from _to_target(one, each)
    elif isinstance(target, ast.Starred):
        yield from _to_target(target.value, value)
    elif isinstance(target, ast.Name):
        yield target.id, value, _HERE
    elif isinstance(target, ast.Attribute):
        yield target.attr, value, _HERE
    elif isinstance(target, ast.Subscript) and (name := folding.text(target.slice)):
        yield name, value, _OPTION


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_call(call: ast.Call) -> Iterator[tuple[str, ast.expr, str]]:
    function = _called(call)
    advice = _OPTION if function in _OPTIONS else _RUNTIME if function.startswith("set") else _HERE
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for keyword, value in named.items():
        yield keyword, value, advice
    key = call.args[0] if call.args else next((named[each] for each in _KEYS if each in named), None)
    values = [*call.args[1:2], *(named[each] for each in _VALUES if each in named)]
    name = folding.text(key) if key is not None else None
    # What begins with "-" is an option of a command line, and what follows its other name.
    if name and name.startswith("-"):
        values = values[len(call.args[1:2]) :]
    yield from ((name.lstrip("-"), value, advice) for value in values if name)

"""Python: each literal with the names that it goes by where it stands. It is reported, place by place."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.sources import folding, pairs
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
_WITH_TEXT = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
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
        "Field",
        "field",
        "decrypt",
        "join",
    }
)
_LOGIN = re.compile(r"(?:login|auth|credentials?)$", re.IGNORECASE)
_SIGNS = re.compile(r"[\W_]+")
_Said = Callable[[ast.expr], str | None]
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
            return [*_literals(tree, content), *_inside(content)]
    raise ConfigurationError("this file is not Python that can be read here")


def _parsed(content: str) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _inside(content: str) -> Iterator[Text]:
    """Comments, cells of other languages in Databricks' notebooks, and what texts say: SQL, command lines, files."""
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    # Lists such as ["curl", "-u", "user:password"] are command lines, too.
    yield from pairs.of_programs(content, kept=_HERE)
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type not in _WITH_TEXT:
            continue
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        code = not token.string.startswith("# MAGIC") and (token.type == tokenize.COMMENT)
        yield from pairs.texts_of(content, start, end, kept=_HERE, code=code)
        if token.type == tokenize.COMMENT:
            yield Text("", token.string, start, end, kept=pairs.COMMENTED, conf=False)


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
        self._constants = {
            node.targets[0].id: text
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            if (text := folding.text(node.value))
        }
        for node in ast.walk(tree):
            given += _given(node, self._constant)
            if isinstance(node, ast.expr) and folding.text(node) is not None:
                self.inner.update(id(part) for part in ast.walk(node) if part is not node)
        for key, value, _ in given:
            self._assigned[key].append(value)
        for key, value, kept in given:
            self._give(key, value, kept, depth=0)

    def _constant(self, node: ast.expr) -> str | None:
        """The text of a name, also where a variable holds it."""
        return self._constants.get(node.id) if isinstance(node, ast.Name) else folding.text(node)

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
        given = [*node.args, *(each.value for each in node.keywords if each.arg in _VALUES)]
        return [*own, *given] if _called(node) in _SAME else own
    return []


def _given(node: ast.AST, said: _Said) -> Iterator[tuple[str, ast.expr, str]]:
    """Names and values that a node brings together, and what to write instead."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _to_target(target, node.value, said)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield from _to_target(node.target, node.value, said)
    elif isinstance(node, ast.Compare):
        yield from _to_target(node.left, node.comparators[0], said)
    elif isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
        yield from _of_pairs(node, said)
    elif isinstance(node, ast.FunctionDef):
        returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return))
        yield from ((node.name, value, _HERE) for value in returned if value is not None)
    elif isinstance(node, ast.Call):
        yield from _of_call(node, said)
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


def _of_pairs(
    node: ast.Dict | ast.List | ast.Tuple | ast.Set, said: _Said
) -> Iterator[tuple[str, ast.expr, str]]:
    if isinstance(node, ast.Dict):
        pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        named = {folding.text(key): value for key, value in pairs}
        if "name" in named and "value" in named:
            pairs.append((named["name"], named["value"]))
    else:
        inner = [each.elts for each in node.elts if isinstance(each, ast.List | ast.Tuple)]
        pairs = [(each[0], each[1]) for each in inner if len(each) == 2]
    for key, value in pairs:
        if name := said(key):
            yield name, value, _OPTION


def _to_target(target: ast.expr, value: ast.expr, said: _Said) -> Iterator[tuple[str, ast.expr, str]]:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, each in zip(target.elts, value.elts, strict=False):
            yield from _to_target(one, each, said)
    elif isinstance(target, ast.Starred):
        yield from _to_target(target.value, value, said)
    elif isinstance(target, ast.Name):
        text = folding.text(value) or ""
        if _SIGNS.sub("", text).lower() != _SIGNS.sub("", target.id).lower():  # TOKEN = "Token"
            yield target.id, value, _HERE
    elif isinstance(target, ast.Attribute):
        yield target.attr, value, _HERE
    elif isinstance(target, ast.Subscript) and (name := said(target.slice)):
        yield name, value, _OPTION


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_call(call: ast.Call, said: _Said) -> Iterator[tuple[str, ast.expr, str]]:
    function = _called(call)
    advice = _OPTION if function in _OPTIONS else _RUNTIME if function.startswith("set") else _HERE
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for keyword, value in named.items():
        yield keyword, value, advice
    key = call.args[0] if call.args else next((named[each] for each in _KEYS if each in named), None)
    values = [*call.args[1:2], *(named[each] for each in _VALUES if each in named)]
    if advice is _HERE and not function.startswith(("get", "put")):
        said = folding.text
    name = said(key) if key is not None else None
    # What begins with "-" is an option of a command line, and what follows its other name.
    if name and name.startswith("-"):
        values = values[len(call.args[1:2]) :]
    # Param("password", "how one logs in to it")
    values = [each for each in values if advice is not _HERE or (folding.text(each) or "").count(" ") < 3]
    yield from ((name.lstrip("-"), value, advice) for value in values if name)
    if function.startswith("set"):  # setattr(x, "password", "..."), set_password("x", "...")
        yield from ((own, value, _HERE) for each, value in pairwise(call.args[1:]) if (own := said(each)))
        yield from ((function, value, _HERE) for value in call.args[-1:])
    elif len(call.args) > 1 and _LOGIN.search(function):
        yield "password", call.args[-1], _HERE
    elif len(call.args) > 2 and function == "connect":
        yield "password", call.args[1 if len(call.args) == 3 else 2], _HERE
    pair = named.get("auth")
    if isinstance(pair, ast.Tuple) and pair.elts:
        yield "password", pair.elts[-1], _HERE

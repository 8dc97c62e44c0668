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
from typing import Any

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.sources import folding, pairs
from sparkconfig.migrate.text import COMMENTED, Document, Text

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
_SAME = re.compile(
    r"\w*(?:de|en)(?:code|crypt)(?:string)?|un(?:hexlify|quote\w*)|quote\w*|str|bytes|bytearray|iter|next|list|tuple|sorted|set"
    r"|lit|Secret\w*|dedent|fromhex|Literal|Field|field|Final|join|cast|reversed",
    re.IGNORECASE,
)
# What they return if there is nothing else.
_OR_ELSE = frozenset({"get", "getenv", "getattr", "pop", "setdefault", "env", "next", "config"})
_STORE = re.compile(r"secret|vault|client|session|request|keyring|widgets", re.IGNORECASE)
_FILLED = frozenset({"set", "insert", "send_keys", "fill", "setText", "put"})
_ON_A_PAGE = re.compile(r"_?(?:entry|box|field|input|element|elem|edit)$", re.IGNORECASE)
_BY_NAME = re.compile(r"pass(?:word|wd|phrase)?s?(?:$|_)|(?:^|_)pws?$", re.IGNORECASE)
_COMPARED = re.compile(r"compare|equals?$|^eq$|verify|checkpw", re.IGNORECASE)
_NAMED_SO = re.compile(
    r"(?:with_?)?(?:password|passwd|pwd|token|secret|(?:api|secret|access)_?key)", re.IGNORECASE
)
_WITH_ONE = re.compile(r"(?:Key|Token|Secret|Password)Credentials?$")
_LOGIN = re.compile(r"(?:login|auth|credentials?)$", re.IGNORECASE)
_SIGNS = re.compile(r"[\W_]+")
_Said = Callable[[ast.expr], str | None]
_Given = tuple[str, ast.expr, str]
_KEYS = ("key", "name", "conf", "keyName")
_VALUES = ("value", "default", "defaultValue", "defaultvalue", "fallback", "default_factory", "object")


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
            yield Text("", token.string, start, end, kept=COMMENTED, conf=False)


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
        name = _last_name(node)
        inner = self._assigned[name] if name and name != key else _alternatives(node)
        if isinstance(node, ast.Dict) and _BY_NAME.search(key):  # passwords = {"dev": "...", "test": "..."}
            inner = node.values
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
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Starred | ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Lambda):
        return [node.body]
    return _of_result(node) if isinstance(node, ast.Call) else []


def _of_result(call: ast.Call) -> list[ast.expr]:
    """What a call returns: ``"...".encode()``, ``str("...")``, ``env.get("X", "...")``, ``(lambda: "...")()``."""
    own = [call.func.value] if isinstance(call.func, ast.Attribute) else [call.func]
    given = [each.value for each in call.keywords if each.arg in _VALUES]
    function = _called(call)
    if _SAME.fullmatch(function):
        given += call.args[:1]
    if function in _OR_ELSE and not _STORE.search(ast.unparse(call.func)):
        given += call.args[1:]
    return [*(each for each in own if not isinstance(each, ast.Name)), *given]


def _given(node: ast.AST, said: _Said) -> Iterator[_Given]:
    """Names and values that a node brings together, and what to write instead."""
    for kinds, find in _FINDERS:
        if isinstance(node, kinds):
            yield from find(node, said)


def _of_assignment(node: Any, said: _Said) -> Iterator[_Given]:  # noqa: ANN401 - nodes of several classes
    value = node.value if hasattr(node, "value") else node.iter
    for target in getattr(node, "targets", None) or [node.target]:
        if value is not None:
            yield from _to_target(target, value, said)


def _of_comparison(node: ast.Compare | ast.Match, said: _Said) -> Iterator[_Given]:
    if isinstance(node, ast.Match):
        patterns = (each for case in node.cases for each in ast.walk(case.pattern))
        pairs = [(node.subject, each.value) for each in patterns if isinstance(each, ast.MatchValue)]
    else:
        pairs = [(node.left, node.comparators[0])]
        if not isinstance(node.ops[0], ast.In | ast.NotIn):
            pairs.append((node.comparators[0], node.left))
    for target, value in pairs:
        yield from _to_target(target, value, said)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, _: _Said) -> Iterator[_Given]:
    returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return | ast.Yield))
    yield from ((node.name, value, _HERE) for value in returned if value is not None)


def _of_defaults(node: ast.arguments, _: _Said) -> Iterator[_Given]:
    positional = [*node.posonlyargs, *node.args]
    pairs = [*zip(positional[::-1], node.defaults[::-1], strict=False)]
    pairs += [(arg, each) for arg, each in zip(node.kwonlyargs, node.kw_defaults, strict=True) if each]
    yield from ((arg.arg, default, _HERE) for arg, default in pairs)


def _of_choice(node: ast.BoolOp, _: _Said) -> Iterator[_Given]:
    """``os.environ.get("DB_PASSWORD") or "..."``."""
    asked = [folding.text(each.args[0]) for each in node.values if isinstance(each, ast.Call) and each.args]
    yield from ((name, value, _HERE) for name in asked if name for value in node.values)


def _of_pairs(node: ast.Dict | ast.List | ast.Tuple | ast.Set, said: _Said) -> Iterator[_Given]:
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


def _to_target(target: ast.expr, value: ast.expr, said: _Said) -> Iterator[_Given]:
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
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    return _last_name(function)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of_call(call: ast.Call, said: _Said) -> Iterator[_Given]:
    function = _called(call)
    advice = _OPTION if function in _OPTIONS else _RUNTIME if function.startswith("set") else _HERE
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    for keyword, value in named.items():
        yield keyword, value, advice
    args = [one for each in call.args for one in _unpacked(each)]
    key = args[0] if args else next((named[each] for each in _KEYS if each in named), None)
    values = [*args[1:2], *(named[each] for each in _VALUES if each in named)]
    if advice is _HERE and not function.startswith(("get", "put")):
        said = folding.text
    name = said(key) if key is not None else None
    names = [name] if name else []
    # What begins with "-" is an option of a command line, and what follows its other names.
    if name and name.startswith("-"):
        values = values[len(args[1:2]) :]
        names = [text.lstrip("-") for each in args if (text := folding.text(each)) and text.startswith("-")]
    # Param("password", "how one logs in to it")
    values = [each for each in values if advice is not _HERE or (folding.text(each) or "").count(" ") < 3]
    yield from ((name, value, advice) for value in values for name in names)
    if function in _FILLED and isinstance(call.func, ast.Attribute):
        of = _ON_A_PAGE.sub("", _last_name(call.func.value))
        yield from ((of, value, _HERE) for value in args if of)
    yield from _of_login(function, args, named, said)


def _of_login(
    function: str, args: list[ast.expr], named: dict[str, ast.expr], said: _Said
) -> Iterator[_Given]:
    """What calls take a password by its place."""
    if function.startswith("set"):  # setattr(x, "password", "..."), set_password("x", "...")
        yield from ((own, value, _HERE) for each, value in pairwise(args[1:]) if (own := said(each)))
        yield from ((function, value, _HERE) for value in args[-1:])
    elif args and ((len(args) > 1 and _LOGIN.search(function)) or _WITH_ONE.search(function)):
        yield "password", args[-1], _HERE
    elif function == "connect":
        lists = [
            each.elts[1] for each in args if isinstance(each, ast.List | ast.Tuple) and len(each.elts) == 2
        ]
        third = args[1 if len(args) == 3 else 2 :][:1] if len(args) > 2 and not lists else []
        yield from (("password", each, _HERE) for each in [*lists, *third])
    elif len(args) == 1 and _NAMED_SO.fullmatch(function):
        yield "password", args[0], _HERE
    elif len(args) > 1 and _COMPARED.search(function):
        yield from _to_target(args[0], args[1], said)
        yield from _to_target(args[1], args[0], said)
    if function == "zip" and len(args) == 2:
        for one, value in zip(*map(_alternatives, args), strict=False):
            yield from ((text, value, _HERE) for text in [folding.text(one)] if text)
    pair = named.get("auth")
    if isinstance(pair, ast.Tuple) and pair.elts:
        yield "password", pair.elts[-1], _HERE


def _unpacked(arg: ast.expr) -> list[ast.expr]:
    """``f(*("password", "..."))``."""
    return _alternatives(arg.value) if isinstance(arg, ast.Starred) else [arg]


_FINDERS: tuple[tuple[Any, Callable[[Any, _Said], Iterator[_Given]]], ...] = (
    (
        (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension),
        _of_assignment,
    ),
    ((ast.Compare, ast.Match), _of_comparison),
    ((ast.Dict, ast.List, ast.Tuple, ast.Set), _of_pairs),
    ((ast.FunctionDef, ast.AsyncFunctionDef), _of_function),
    (ast.arguments, _of_defaults),
    (ast.BoolOp, _of_choice),
    (ast.Call, _of_call),
)

"""Python sources: options of readers and writers, confs of a session's builder, and SQL in ``spark.sql``."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.sources import sql
from sparkconfig.migrate.text import Document, Edit, Text

__all__ = ["read"]

_HERE = "Python's own text: read the value with sparkconfig.current('${...}').reveal() where it is used"
_RUNTIME = (
    "after spark.conf.set, most readers get the text of the reference: set the conf in spark-defaults.conf, with --conf"
    " or in the session's builder, and write the reference there"
)
_FORMATTED = "part of an f-string: write the text without one, or take it from sparkconfig.current(...)"
_LITERAL = re.compile(r"([rRuU]?)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:\n|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|N\{[^}]*\}|[0-7]{1,3}|.)|[^\\]", re.DOTALL
)
_SPARK = re.compile("spark", re.IGNORECASE)
_READERS = frozenset({"read", "write", "readStream", "writeStream", "format", "option", "options"})
_WITH_OPTIONS = frozenset({"load", "save", "saveAsTable", "start", "toTable"})


@dataclass
class _Use:
    """A place where a value is a conf or an option."""

    key: str
    node: ast.expr
    conf: bool = False
    kept: str | None = None


class _Source:
    """Places of a module's nodes in its text."""

    def __init__(self, content: str) -> None:
        self.content = content
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
        text = self._lines[line - 1]
        return self._starts[line - 1] + len(text.encode("utf-8")[:octets].decode("utf-8"))


def read(content: str) -> Document:
    """Read a module.

    Raises:
        ConfigurationError: it is not the Python of this interpreter.
    """
    if (
        "\f" in content
        or "\r" in content.replace("\r\n", "\n")
        or (not content.isprintable() and "\x0b" in content)
    ):
        raise ConfigurationError("this module has line ends that are not in common use")
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        tree = None
    if tree is None:
        raise ConfigurationError("this file is not Python that can be read here")
    source = _Source(content)
    texts: list[Text] = []
    uses = {id(use.node): use for use in _followed(tree)} if _SPARK.search(content) else {}
    formatted = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    keys = _keys(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            start, end = source.span(node)
            raw = content[start:end]
            texts.append(
                Text(keys.get(id(node), ""), raw, start, end, lambda *_: None, _FORMATTED, conf=False)
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in formatted:
            use = uses.get(id(node)) or _Use(keys.get(id(node), ""), node, kept=_HERE)
            texts += _texts(source, node, use)
    return Document(content, sorted(texts, key=lambda text: text.start), "python")


def _texts(source: _Source, node: ast.Constant, use: _Use) -> Iterator[Text]:
    start, end = source.span(node)
    places = _places(source.content[start:end], start, str(node.value))

    def put(first: int, last: int, reference: str) -> Edit | None:
        # Without a gap: a text may be made of several literals, one beside the other.
        if places is None or any(
            b - a > _LONGEST_ESCAPE for a, b in zip(places[first:last], places[first + 1 :], strict=False)
        ):
            return None
        return Edit(places[first], places[last - 1] + _width(source.content, places[last - 1]), reference)

    if use.key == _SQL:
        for inner in sql.texts_of(str(node.value)):
            yield _nested(inner, put, start, end)
        return
    yield Text(use.key, str(node.value), start, end, put, use.kept, conf=use.conf)


def _nested(inner: Text, put: object, start: int, end: int) -> Text:
    def through(first: int, last: int, reference: str) -> Edit | None:
        edit = inner.put(first, last, reference)
        return None if edit is None else put(edit.start, edit.end, edit.new)  # type: ignore[operator]

    return replace(inner, start=start, end=end, put=through)


_SQL = "\0sql"
_LONGEST_ESCAPE = 10


def _width(content: str, at: int) -> int:
    found = _ESCAPE.match(content, at)
    return len(found[0]) if found else 1


def _places(raw: str, start: int, value: str) -> list[int] | None:
    """Where each character of a literal stands; None: it is written in a way that this does not follow."""
    found = _LITERAL.fullmatch(raw)
    if found is None or re.search(r"(?<!\\)" + found[2], found[3]):
        return None  # several literals
    places: list[int] = []
    chars: list[str] = []
    at = start + found.start(3)
    if found[1] in ("r", "R"):
        return None if found[3] != value else [*range(at, at + len(value) + 1)]
    for piece in _ESCAPE.finditer(found[3]):
        char = piece[0]
        if char.startswith("\\"):
            try:
                char = ast.literal_eval(f"'{char}'") if char not in ("\\\n",) else ""
            except (SyntaxError, ValueError):
                return None
        chars.append(char)
        places += [at + piece.start()] * len(char)
    return [*places, at + len(found[3])] if "".join(chars) == value else None


def _followed(tree: ast.Module) -> Iterator[_Use]:
    """Uses, also those by a name that is assigned once and used for nothing else."""
    uses = list(_uses(tree))
    stored = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    stored.update(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))
    loaded = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    as_value = Counter(use.node.id for use in uses if isinstance(use.node, ast.Name) and use.kept is None)
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        for target in node.targets
        if isinstance(target, ast.Name) and stored[target.id] == 1
    }
    for use in uses:
        if not isinstance(use.node, ast.Name):
            yield use
            continue
        name = use.node.id
        value = assigned.get(name)
        if value is not None and loaded[name] == as_value[name]:
            yield from _in_dict(value, use) if use.key == _DICT else [replace(use, node=value)]


_DICT = "\0dict"


def _in_dict(node: ast.expr, use: _Use) -> Iterator[_Use]:
    if isinstance(node, ast.Name):
        yield replace(use, key=_DICT, node=node)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from _in_dict(value, use)
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield replace(use, key=key.value, node=value)


def _uses(tree: ast.Module) -> Iterator[_Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _of_call(node, node.func)


def _of_call(call: ast.Call, function: ast.Attribute) -> Iterator[_Use]:
    name = function.attr
    if name in ("config", "set", "setAll"):
        yield from _confs(call, function)
    elif name == "jdbc":
        yield from _jdbc(call)
    elif name == "sql" and call.args:
        yield _Use(_SQL, call.args[0])
    elif name == "option":
        yield from _pair(call, conf=False)
    elif name == "options" or (name in _WITH_OPTIONS and _receivers(function) & _READERS):
        yield from _keywords(call)


def _confs(call: ast.Call, function: ast.Attribute) -> Iterator[_Use]:
    """``config`` of a builder, ``set`` and ``setAll`` of a SparkConf, ``set`` of a running session."""
    first = call.args[0] if call.args else None
    runtime = (
        function.attr == "set" and isinstance(function.value, ast.Attribute) and function.value.attr == "conf"
    )
    for use in _pair(call, conf=True):
        if use.key.startswith("spark."):
            yield replace(use, kept=_RUNTIME) if runtime else use
    for keyword in call.keywords:
        if keyword.arg == "map":
            yield from _in_dict(keyword.value, _Use("", keyword.value, conf=True))
    if function.attr == "setAll" and isinstance(first, ast.List | ast.Tuple):
        for pair in first.elts:
            if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and isinstance(pair.elts[0], ast.Constant):
                yield _Use(str(pair.elts[0].value), pair.elts[1], conf=True)


def _pair(call: ast.Call, *, conf: bool) -> Iterator[_Use]:
    key = call.args[0] if call.args else None
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "value")]
    if isinstance(key, ast.Constant) and isinstance(key.value, str) and given:
        yield _Use(key.value, given[0], conf=conf)


def _jdbc(call: ast.Call) -> Iterator[_Use]:
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    url = call.args[0] if call.args else named.get("url")
    if url is not None:
        yield _Use("url", url)
    for value in [*call.args[1:], *([named["properties"]] if "properties" in named else [])]:
        yield from _in_dict(value, _Use("", value))


def _keywords(call: ast.Call) -> Iterator[_Use]:
    for keyword in call.keywords:
        if keyword.arg:
            yield _Use(keyword.arg, keyword.value)
        else:
            yield from _in_dict(keyword.value, _Use("", keyword.value))


def _receivers(function: ast.Attribute) -> set[str]:
    """The attributes that a call is reached by, as in ``spark.read.format(...).load``."""
    found: set[str] = set()
    node: ast.expr = function.value
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
            node = node.value
        else:
            node = node.func
    return found


def _keys(tree: ast.Module) -> dict[int, str]:
    """What each expression is called where it stands: the target of an assignment, a keyword, a key."""
    keys: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            keys[id(node.value)] = node.arg
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                name = (
                    target.id
                    if isinstance(target, ast.Name)
                    else target.attr
                    if isinstance(target, ast.Attribute)
                    else ""
                )
                keys[id(node.value)] = name
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    keys[id(node.value)] = str(target.slice.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant):
                    keys[id(value)] = str(key.value)
    return keys

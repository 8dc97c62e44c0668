"""The text of an expression in Python, as far as it is written there."""

from __future__ import annotations

import ast

from sparkconfig.settings.expressions import VARIABLE

__all__ = ["text"]


def text(node: ast.expr) -> str | None:
    """Return what a literal, an f-string or a concatenation says, with a sign for each part that is computed.

    None: nothing of it is written here.
    """
    parts = _parts(node)
    joined = "".join(VARIABLE if part is None else part for part in parts)
    return joined if any(part for part in parts) else None


def _parts(node: ast.expr) -> list[str | None]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        value = node.value
        return [value if isinstance(value, str) else value.decode("utf-8", "replace")]
    if isinstance(node, ast.JoinedStr):
        return [part for each in node.values for part in _parts(each)]
    if isinstance(node, ast.FormattedValue):
        return _parts(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _formatted(node.func.value, node.args)
    return _of_operator(node) if isinstance(node, ast.BinOp) else [None]


def _of_operator(node: ast.BinOp) -> list[str | None]:
    if isinstance(node.op, ast.Add):
        return [*_parts(node.left), *_parts(node.right)]
    given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    return _formatted(node.left, given) if isinstance(node.op, ast.Mod) else [None]


def _formatted(template: ast.expr, given: list[ast.expr]) -> list[str | None]:
    """``"..%s.." % (..)`` and ``"..{}..".format(..)``, where each part is put in once."""
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        return [None]
    parts: list[str | None] = [template.value]
    for each in given:
        head = parts.pop() or ""
        at, sign = min(((head.find(sign), sign) for sign in ("%s", "{}") if sign in head), default=(-1, ""))
        if at < 0:
            return [*parts, head]
        parts += [head[:at], *_parts(each), head[at + len(sign) :]]
    return parts

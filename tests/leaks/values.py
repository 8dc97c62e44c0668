"""Canary values, and the ways text gets escaped and encoded on its way to a page or a log."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from html.entities import codepoint2name
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

#: Values with every awkward character; each test run may show them, they protect nothing.
CANARIES = {
    "plain": "canaryPlain7Qz41",
    "awkward": "cA&n<a>r\"y'\\/%+= 9Zq",
    "regex": "ca.n*a[r]y(7)+?^$|{2}Zq",
    "unicode": "cänäry-ключ-鍵-\U0001d55cey-7",
    "newline": "canary line one 71\ncanary line two 72\ttab",
    "symbols": "!@#$%^&*()-=_+[]",
    "edges": "\\'canary-edge-81\"\\",
    "sql": "can''ary`sql`--91; x",
    "percent": "can%41ry%2Fpercent%25x",
    "entity": "can&amp;ary&#39;entity&lt;5",
    "long": "".join(f"cL{i:03d}/+=" for i in range(512)),
    "twelve": "zK3$mW8!pR5t",
}


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _json_utf8(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _entities(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else f"&#{ord(c)};" for c in text)


def _hex_entities(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else f"&#x{ord(c):x};" for c in text)


def _html_names(text: str) -> str:
    named = {ord("'"): "apos", **codepoint2name}
    return "".join(f"&{named[ord(c)]};" if ord(c) in named else c for c in text)


def _js_hex(text: str) -> str:
    return "".join(c if c.isalnum() or ord(c) > 255 else f"\\x{ord(c):02x}" for c in text)


def _properties(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("=", "\\=").replace(":", "\\:").replace(" ", "\\ ")
    escaped = escaped.replace("#", "\\#").replace("!", "\\!").replace("\n", "\\n").replace("\t", "\\t")
    units = escaped.encode("utf-16-be")
    return "".join(
        chr(u) if u < 128 else f"\\u{u:04X}"
        for u in (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    )


def _base64_at(offset: int, encode: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda text: encode(b"xy"[:offset] + text.encode() + b"tail").decode()


#: One layer of escaping each, by name.
LAYERS: dict[str, Callable[[str], str]] = {
    "json": _json,
    "json-utf8": _json_utf8,
    "html": html.escape,
    "xml": escape,
    "entities": _entities,
    "hex-entities": _hex_entities,
    "html-names": _html_names,
    "js-hex": _js_hex,
    "sql-doubled": lambda text: text.replace("'", "''"),
    "sql-backslash": lambda text: text.replace("\\", "\\\\").replace("'", "\\'"),
    "percent": lambda text: quote(text, safe=""),
    "percent-some": lambda text: quote(text, safe="/:@!$'()*,;"),
    "form": quote_plus,
    "properties": _properties,
}

#: Encodings that rewrite letters too.
ENCODINGS: dict[str, Callable[[str], str]] = {
    **{f"base64-{n}": _base64_at(n, base64.b64encode) for n in range(3)},
    **{f"base64url-{n}": _base64_at(n, base64.urlsafe_b64encode) for n in range(3)},
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
}

"""Kubernetes documents of the kind SparkApplication: ``sparkConf`` and ``hadoopConf``."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from typing import Any

from sparkconfig.errors import ConfigurationError
from sparkconfig.formats.spark_application import applications, conf_nodes, documents, named, pairs, specs
from sparkconfig.migrate.sources import pairs as inner
from sparkconfig.migrate.sources.words import GENERIC, NAMING
from sparkconfig.migrate.text import Document, Edit, Scope, Text, identity
from sparkconfig.settings.secret_names import names_secret

__all__ = ["read"]

_ELSEWHERE = (
    "nothing resolves references there: keep it in a Secret of Kubernetes and name that in secretKeyRef"
)
_ANCHOR = re.compile(r"(?:&\S+|!\S*)(?:\s+(?:&\S+|!\S*))*\s+")
_ALIAS = re.compile(r"\*[\w.-]+")


def read(content: str) -> Document:
    """Read documents.

    Raises:
        ConfigurationError: they are malformed, or PyYAML is not installed.
    """
    try:
        roots = documents(content)
    except ConfigurationError:
        if "{{" in content or "{%" in content:  # a template
            return inner.read("text", content)
        raise
    elsewhere = [root for root in roots if _names_others(root)]
    texts = [text for root in roots if root not in elsewhere for text in _texts(content, root)]
    # Command lines, files in blocks, comments.
    confs = sorted(
        [(text.start, text.end) for text in texts if text.conf]
        + [(root.start_mark.index, root.end_mark.index) for root in elsewhere]
    )
    texts += [
        each
        for each in inner.texts_of(content, kept=_ELSEWHERE)
        if not _inside(confs, each) and not _ALIAS.fullmatch(each.value)
    ]
    scopes = {
        name: _scope(content, confs, application)
        for (name, confs), application in zip(named(roots), applications(roots), strict=True)
    }
    return Document(content, sorted(texts, key=lambda text: text.start), "yaml", scopes)


def _names_others(root: Any) -> bool:  # noqa: ANN401
    """Whether a document only says where secrets are: ExternalSecret, SecretStore, SealedSecret, … of Kubernetes."""
    kind = getattr(pairs(root).get("kind"), "value", "") if root.id == "mapping" else ""
    return isinstance(kind, str) and re.fullmatch(r"\w+Secret|\w*Secret\w+", kind) is not None


def _inside(spans: list[tuple[int, int]], text: Text) -> bool:
    before = bisect.bisect(spans, (text.end, -1)) - 1
    return before >= 0 and spans[before][1] > text.start


def _scope(content: str, confs: dict[str, str], application: dict[str, Any]) -> Scope:
    nodes = [node for _, node in conf_nodes(application)]
    spans = [(node.start_mark.index, node.end_mark.index) for node in nodes]
    maps: Iterator[Any] = (spec.get("sparkConf") for spec in specs(application))
    own: Any = next((each for each in maps if getattr(each, "id", "") == "mapping" and each.value), None)
    return Scope(confs, spans, None if own is None else lambda added: _added(content, own, added))


def _texts(content: str, root: Any) -> Iterator[Text]:  # noqa: ANN401
    confs: dict[int, str] = {}
    for application in applications([root]):
        for key, node in conf_nodes(application):
            if not names_secret(confs.get(id(node), "")):
                confs[id(node)] = key
    seen: set[tuple[int, bool]] = set()
    stack = [("", root)]
    while stack:
        key, node = stack.pop()
        # An alias goes by the name of a secret, if it has one; as a conf by one alone.
        place = (id(node), id(node) not in confs and node.id == "scalar" and names_secret(key))
        if place in seen:
            continue
        seen.add(place)
        if node.id == "scalar":
            if node.tag == "tag:yaml.org,2002:null":
                continue  # no text: Kubernetes leaves it out
            known = id(node) in confs
            name = confs[id(node)] if known else key
            yield Text(
                name, node.value, node.start_mark.index, node.end_mark.index, _put(content, node),
                None if known else _ELSEWHERE, conf=known,
            )  # fmt: skip
        elif node.id == "mapping":
            entries = pairs(node)
            # {name: X, value: Y}, X: {type: string, default: Y}
            said = (getattr(value, "value", "") for each, value in entries.items() if NAMING.fullmatch(each))
            called = next((each for each in said if isinstance(each, str) and names_secret(each)), key)
            stack += [(called if GENERIC.fullmatch(each) else each, value) for each, value in entries.items()]
        else:
            # "secrets: [name]" names them
            stack += [("" if key.lower().endswith("secrets") else key, value) for value in node.value]


def _put(content: str, node: Any) -> Any:  # noqa: ANN401
    start, end = node.start_mark.index, node.end_mark.index
    anchor = _ANCHOR.match(content, start, end)
    start = anchor.end() if anchor else start
    quoted = 1 if node.style in ("'", '"') else 0
    if node.style in (None, "'", '"') and content[start + quoted : end - quoted] == node.value:
        if quoted:
            return identity(start + 1)
        if content[:start].count("{") == content[:start].count("}"):  # not inside {...}, where braces end it
            return identity(start)

    def whole(first: int, last: int, reference: str) -> Edit:
        stop = start + len(content[start:end].rstrip("\n")) if node.style in ("|", ">") else end
        text = node.value[:first] + reference + node.value[last:]
        return Edit(start, stop, json.dumps(text, ensure_ascii=False))

    return whole


def _added(content: str, node: Any, confs: dict[str, str]) -> Edit:  # noqa: ANN401
    """Lines before the first conf, with its indentation; inside {...} before it, on the same line."""
    at = node.value[0][0].start_mark.index
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in confs.items()]
    indent = content[content.rfind("\n", 0, at) + 1 : at]
    if node.flow_style or indent.strip():
        return Edit(at, at, "".join(f"{line}, " for line in lines))
    return Edit(at, at, "".join(f"{line}\n{indent}" for line in lines))

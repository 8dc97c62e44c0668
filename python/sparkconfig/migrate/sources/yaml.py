"""Kubernetes documents of the kind SparkApplication: ``sparkConf`` and ``hadoopConf``."""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator
from typing import Any

from sparkconfig.errors import ConfigurationError
from sparkconfig.formats.spark_application import applications, conf_nodes, documents, named, pairs, specs
from sparkconfig.migrate.sources import pairs as inner
from sparkconfig.migrate.text import Document, Edit, Scope, Text, identity

__all__ = ["read"]

_ELSEWHERE = (
    "nothing resolves references there: keep it in a Secret of Kubernetes and name that in secretKeyRef"
)


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
    texts = [text for root in roots for text in _texts(content, root)]
    # Command lines, files in blocks, comments.
    confs = sorted((text.start, text.end) for text in texts if text.conf)
    texts += [each for each in inner.texts_of(content, kept=_ELSEWHERE) if not _inside(confs, each)]
    scopes = {
        name: _scope(content, confs, application)
        for (name, confs), application in zip(named(roots), applications(roots), strict=True)
    }
    return Document(content, sorted(texts, key=lambda text: text.start), "yaml", scopes)


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
    confs: dict[int, tuple[str, Any]] = {}
    for application in applications([root]):
        confs |= {id(node): (key, node) for key, node in conf_nodes(application)}
    seen: set[int] = set()
    stack = [("", root)]
    while stack:
        key, node = stack.pop()
        if id(node) in seen:
            continue  # an alias
        seen.add(id(node))
        if node.id == "scalar":
            if node.tag == "tag:yaml.org,2002:null":
                continue  # no text: Kubernetes leaves it out
            known = id(node) in confs
            name = confs[id(node)][0] if known else key
            yield Text(
                name, node.value, node.start_mark.index, node.end_mark.index, _put(content, node),
                None if known else _ELSEWHERE, conf=known,
            )  # fmt: skip
        elif node.id == "mapping":
            entries = pairs(node)
            # Variables of an environment: {name: X, value: Y}
            called = getattr(entries.get("name"), "value", "")
            stack += [
                (called if each == "value" and called else each, value) for each, value in entries.items()
            ]
        else:
            # "secrets: [name]" names them
            stack += [("" if key.lower().endswith("secrets") else key, value) for value in node.value]


def _put(content: str, node: Any) -> Any:  # noqa: ANN401
    start, end = node.start_mark.index, node.end_mark.index
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

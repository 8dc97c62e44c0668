"""Minimally valid requests of Connect for each field that may hold a bait, from the descriptors of this Spark."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql.connect.proto import base_pb2

from surface import baits
from surface.baits import Attack
from surface.keys import known

_ANY = "google.protobuf.Any"
_LEFT_OUT = ("common", "operation_id", "user_context", "client_type", "request_options")
#: What a field of this name is usually given, so that the server comes to the field with the bait.
_USUAL: Mapping[str, str] = {
    "table_name": "kept", "unparsed_identifier": "id", "target_table_name": "kept", "schema": "id BIGINT",
    "sql": "SELECT 1", "query": "SELECT 1", "function_name": "upper", "expression": "id", "output_mode": "append",
    "path": "{lake}/rows", "paths": "{lake}/rows", "predicates": "1 = 1", "type_str": "string", "join_type": "inner",
    "data_type_string": "STRING", "ddl_string": "a INT", "type": "udt", "metadata": "{}", "col_name": "id",
    "using_columns": "id", "column_names": "id", "cols": "id", "col1": "id", "col2": "id", "schema_string": "id BIGINT",
}  # fmt: skip
_KINDS = ("format", "source", "provider")
_FORMATS = ("text", "csv", "json", "xml", "parquet", "jdbc")
_OPTIONS: Mapping[str, Mapping[str, str]] = {"jdbc": {"url": "jdbc:derby:memory:none", "dbtable": "a"}}


#: The fields from a request to the one that holds the bait.
Way = tuple[FieldDescriptor, ...]


def _entry(field: FieldDescriptor) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def ways() -> Iterator[Way]:
    """Each field with a text, bytes, anything or a map of texts, by its shortest way."""
    seen: set[str] = set()
    for method in base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"].methods:
        waiting: deque[tuple[Descriptor, Way]] = deque([(method.input_type, ())])
        while waiting:
            here, way = waiting.popleft()
            if here.full_name in seen:
                continue
            seen.add(here.full_name)
            for field in here.fields:
                kind, is_map = field.message_type, _entry(field)
                inner = kind.fields_by_name["value"].message_type if is_map else kind
                if inner and inner.full_name != _ANY:
                    waiting.append((inner, (*way, field)))
                elif is_map and kind.fields_by_name["key"].type != FieldDescriptor.TYPE_STRING:
                    continue
                elif kind or field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
                    yield (*way, field)


class Writer:
    """Fills requests; ``usual`` are the texts of fields that hold no bait."""

    def __init__(self, lake: Path, home: Path) -> None:
        self._usual = {name: text.replace("{lake}", str(lake)) for name, text in _USUAL.items()}
        self._keys = known(home)

    def attacks(self) -> Iterator[Attack]:
        for way in ways():
            yield from self._at(way)

    def _at(self, way: Way) -> Iterator[Attack]:
        leaf = way[-1]
        kind = f"Connect: {leaf.containing_type.name}.{leaf.name}"
        others = [each for each in leaf.containing_type.fields if each is not leaf]
        beside = [each for each in others if each.name not in _KINDS and self._free(each, leaf)]
        beside = beside if len(beside) < 13 else []
        for source in _FORMATS if any(each.name in _KINDS for each in others) else ("",):
            for more in ((), *((each,) for each in beside), beside):
                for bait, value in self._values(leaf, source, is_alone=not more):
                    yield Attack(kind, bait, partial(self._write, way, source, more, value))

    @staticmethod
    def _free(field: FieldDescriptor, leaf: FieldDescriptor) -> bool:
        """Whether a field may be set beside the leaf, and is not set anyhow."""
        one = field.containing_oneof
        if one is not None and leaf.containing_oneof is one:
            return False
        return field.name not in ("common", "session_id") and (one is not None or field.is_repeated)

    def _values(
        self, leaf: FieldDescriptor, source: str, *, is_alone: bool
    ) -> Iterator[tuple[str, Callable[[Any, int], object]]]:
        is_plain = is_alone and source in ("", "text")
        if _entry(leaf):
            own = (*(self._keys.get(source, ()) if is_alone else ()), "path", "url")
            found = [*itertools.product(baits.VALUES, own)]
            found += baits.few(self._keys[""], len(leaf.full_name)) if is_plain else []
            for name, key in found:
                yield name, partial(_option, _OPTIONS.get(source, {}), key, baits.ALL[name])
        elif leaf.message_type or leaf.type == FieldDescriptor.TYPE_BYTES:
            yield from baits.BYTES.items()
        else:
            for name in baits.ALL if is_plain else baits.CORE:
                yield name, baits.ALL[name]

    def _write(
        self, way: Way, source: str, more: Sequence[FieldDescriptor],
        value: Callable[[Any, int], object], canary: Any, number: int,
    ) -> Message:  # fmt: skip
        request = GetMessageClass(way[0].containing_type)()
        at: Any = request
        for field in way[:-1]:
            self._fill(at, "", field)
            at = getattr(at, field.name)["a"] if _entry(field) else getattr(at, field.name)
            at = at.add() if field.is_repeated and not _entry(field) else at
            at.SetInParent()
        for field in more:
            if not _entry(field):
                self._set(at, field, source, 0)
            elif not field.message_type.fields_by_name["value"].message_type:
                getattr(at, field.name).update(_OPTIONS.get(source, {"path": self._usual["path"]}))
        self._fill(at, source, way[-1])
        _put(at, way[-1], value(canary, number))
        return request

    def _fill(self, message: Message, source: str, chosen: FieldDescriptor | None, depth: int = 0) -> None:
        """Set what a message needs besides the chosen field: a choice of each ``oneof``, and what is inside."""
        for field in message.DESCRIPTOR.fields:
            one = field.containing_oneof
            if field is chosen or field.name in _LEFT_OUT:
                continue
            if one is not None:
                is_optional = len(one.fields) == 1 and field.name not in _KINDS
                is_set = message.WhichOneof(one.name) or chosen in one.fields or is_optional
            elif field.is_repeated:
                is_set = not field.message_type or _entry(field) or len(getattr(message, field.name))
            else:
                is_set = field.message_type and message.HasField(field.name)
            if not is_set:
                self._set(message, field, source, depth)

    def _set(self, message: Message, field: FieldDescriptor, source: str, depth: int) -> None:
        kind = field.message_type
        if kind and kind.full_name != _ANY and depth <= 3:
            inner = getattr(message, field.name)
            inner = inner.add() if field.is_repeated else inner
            inner.SetInParent()
            if kind.name == "Relation":
                inner.range.end, inner.range.step = 1, 1
            elif kind.name == "Expression":
                inner.expression_string.expression = "true" if "condition" in field.name else "id"
            elif kind.name == "DataType":
                inner.long.SetInParent()
            else:
                self._fill(inner, source, None, depth + 1)
        elif field.type == FieldDescriptor.TYPE_STRING:
            text = (source or "parquet") if field.name in _KINDS else self._usual.get(field.name, "a")
            _put(message, field, "kept" if message.DESCRIPTOR.name == "NamedTable" else text)
        elif field.type == FieldDescriptor.TYPE_BYTES:
            _put(message, field, b"")
        elif field.type == FieldDescriptor.TYPE_ENUM:
            _put(message, field, field.enum_type.values[min(1, len(field.enum_type.values) - 1)].number)
        elif not kind and (field.type != FieldDescriptor.TYPE_BOOL or field.containing_oneof is not None):
            _put(message, field, 1)


def _option(
    base: Mapping[str, str], key: str, make: baits.Make, canary: Any, number: int
) -> Mapping[str, str]:
    return {**base, key: make(canary, number)}


def _put(message: Any, field: FieldDescriptor, value: Any) -> None:
    """Set a field: a map gets these entries, a list this one, and what may hold any message these bytes."""
    at = getattr(message, field.name)
    if _entry(field):
        at.update(value)
    elif field.message_type:
        at = at.add() if field.is_repeated else at
        at.type_url, at.value = "type.googleapis.com/spark.connect.Relation", value
    elif field.is_repeated:
        at.append(value)
    else:
        setattr(message, field.name, value)

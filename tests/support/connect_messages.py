"""Messages that no client of Connect makes by itself, but everybody can make."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from typing import Any

__all__ = ["behind", "called", "many", "outside", "parse", "rows_ahead", "sent", "unknown_fields", "upload"]


def called(name: str, function: str = "transform") -> Any:
    """A column that calls a function with a lambda whose parameter has this name."""
    from pyspark.sql.connect import expressions as e
    from pyspark.sql.connect import functions as F  # noqa: N812 - as everybody calls it
    from pyspark.sql.connect.column import Column

    body = (F.col("id") > 1)._expr
    made = e.LambdaFunction(body, [e.UnresolvedNamedLambdaVariable([name])])
    return Column(e.UnresolvedFunction(function, [F.array("id")._expr, made]))


def rows_ahead(session: Any, schema: str, *, alone: bool = False) -> object:
    """The schema of rows that were sent ahead, as a large createDataFrame sends them; ``alone``: as 4.1 does."""
    from pyspark.sql.connect.proto import LocalRelation, Plan, Relation

    relation = Relation()
    if alone and hasattr(relation, "chunked_cached_local_relation"):
        relation.chunked_cached_local_relation.schemaHash = session.client.cache_artifact(schema.encode())
    else:
        sent = LocalRelation(schema=schema).SerializeToString()
        relation.cached_local_relation.hash = session.client.cache_artifact(sent)
    return session.client.schema(Plan(root=relation))


def outside(session: Any, kind: str, first: int, last: int, way: str = "") -> object:
    """Rows of one value, whose offsets lead elsewhere; ``way``: they are sent ahead in a relation, or as a chunk."""
    import pyarrow as pa
    from pyspark.sql.connect.proto import LocalRelation, Plan, Relation

    length, text = 77, "A" * 77
    plain = {"struct": [{"a": text}], "list": [[7] * length], "map": [[(7, 7)] * length]}
    types = {"struct": None, "list": None, "map": pa.map_(pa.int64(), pa.int64())}
    values = pa.array(plain.get(kind, [text]), types[kind] if kind in types else getattr(pa, kind)())
    batch, sink = pa.record_batch([values], ["a"]), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    form = "<qq" if kind.startswith("large") else "<ii"
    before, _, after = sink.getvalue().to_pybytes().rpartition(struct.pack(form, 0, length))
    rows, relation = before + struct.pack(form, first, last) + after, Relation()
    if not way:
        relation.local_relation.data = rows
    elif way == "chunk" and hasattr(relation, "chunked_cached_local_relation"):
        relation.chunked_cached_local_relation.dataHashes.append(session.client.cache_artifact(rows))
    else:
        sent = LocalRelation(data=rows).SerializeToString()
        relation.cached_local_relation.hash = session.client.cache_artifact(sent)
    return session.client.schema(Plan(root=relation))


def behind(session: Any, power: int, compression: str = "", buffers: int = 0) -> object:
    """Rows that reach behind what was sent, to the end of what Arrow allocates for it; or compressed ones.

    Args:
        buffers: how many buffers a batch says that it has, instead of three.
    """
    import pyarrow as pa
    from pyspark.sql.connect.proto import Plan, Relation

    length = 2**power + 100
    batch, sink = pa.record_batch([pa.array(["z" * length])], ["a"]), pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression or None)
    ) as stream:
        stream.write_batch(batch)
    rows, relation = bytearray(sink.getvalue().to_pybytes()), Relation()
    if buffers:
        said = rows.index(struct.pack("<iqq", 3, 0, 0))
        rows[said : said + 4] = struct.pack("<i", buffers)
    elif not compression:
        offsets = rows.rindex(struct.pack("<ii", 0, length))
        said = rows.rindex(struct.pack("<q", length), 0, offsets)
        more = 2 ** (power + 1) - struct.unpack("<q", rows[said - 8 : said])[0]
        rows[said : said + 8], rows[offsets : offsets + 8] = (
            struct.pack("<q", more),
            struct.pack("<ii", 0, more),
        )
    relation.local_relation.data = bytes(rows)
    return session.client.schema(Plan(root=relation))


def many(session: Any, kind: str, rows: int, way: str = "", times: int = 1) -> object:
    """Rows without end in few bytes: ``rows`` of a type that takes none, ``times`` in one message or by one name."""
    import pyarrow as pa
    from pyspark.sql.connect.proto import LocalRelation, Plan, Relation

    nulls = pa.nulls(rows)
    columns = {
        "null": lambda: [nulls],
        "wide": lambda: [nulls] * 500,
        "struct": lambda: [pa.StructArray.from_arrays([nulls], ["b"])],
        "list": lambda: [pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), nulls)],
        "fixed": lambda: [pa.FixedSizeListArray.from_arrays(nulls, rows)],
        "bool": lambda: [pa.array([True], pa.bool_()).take(pa.array([0] * rows, pa.int32()))],
        "none": list,
    }[kind]()
    batch = pa.record_batch(columns, [f"a{each}" for each in range(len(columns))])
    if kind == "none":
        batch = pa.record_batch([nulls], ["a"]).select([])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        for _ in range(times if not way else 1):
            stream.write_batch(batch)
    data, relation = sink.getvalue().to_pybytes(), Relation()
    if way == "chunk" and hasattr(relation, "chunked_cached_local_relation"):
        name = session.client.cache_artifact(data)
        relation.chunked_cached_local_relation.dataHashes.extend([name] * times)
    elif way:
        sent = LocalRelation(data=data).SerializeToString()
        relation.cached_local_relation.hash = session.client.cache_artifact(sent)
    else:
        relation.local_relation.data = data
    return session.client.schema(Plan(root=relation))


def sent(session: Any, call: str, *, is_compressed: bool = False, **fields: Any) -> object:
    """A call with these fields; gRPC compresses its message, which no client of Spark's lets it do."""
    import grpc
    from pyspark.sql.connect import proto

    request = getattr(proto, f"{call}Request")(session_id=session.session_id, **fields)
    request.user_context.user_id = session.client._user_id or ""
    stub, metadata = session.client._stub, session.client._builder.metadata()
    way = grpc.Compression.Gzip if is_compressed else grpc.Compression.NoCompression
    answer = getattr(stub, call)(request, metadata=metadata, compression=way)
    return list(answer) if call == "ExecutePlan" else answer


def upload(session: Any, name: str, *parts: bytes, between: Sequence[str] = (), digested: int = 99) -> object:
    """Send an artifact of this name, in several parts if there are some. ``{digest}`` is that of its content.

    Args:
        between: names of other artifacts, which are sent before its last part.
        digested: how many parts the digest is made of.
    """
    from pyspark.sql.connect.proto import AddArtifactsRequest

    name = name.format(digest=hashlib.sha256(b"".join(parts[:digested])).hexdigest())

    def request() -> Any:
        made = AddArtifactsRequest(session_id=session.session_id)
        made.user_context.user_id = session.client._user_id
        return made

    def chunk(part: bytes) -> Any:
        return AddArtifactsRequest.ArtifactChunk(data=part, crc=zlib.crc32(part))

    first = request()
    if len(parts) == 1:
        first.batch.artifacts.add(name=name, data=chunk(parts[0]))
    else:
        begin = first.begin_chunk
        begin.name, begin.total_bytes, begin.num_chunks = name, sum(map(len, parts)), len(parts)
        begin.initial_chunk.CopyFrom(chunk(parts[0]))
    requests = [first]
    for part in parts[1:]:
        requests.append(request())
        requests[-1].chunk.CopyFrom(chunk(part))
    for other in between:
        own = hashlib.sha256(b"rows").hexdigest()
        requests.insert(-1, request())
        if other:
            requests[-2].batch.artifacts.add(name=other.format(digest=own), data=chunk(b"rows"))
    return session.client._artifact_manager._request_add_artifacts(iter(requests))


def unknown_fields(session: Any, kind: str) -> object:
    """Ask about a plan in which a message of this kind has a field that no Spark knows."""
    from pyspark.sql.connect.proto import Plan

    plan = Plan()
    plan.root.filter.input.range.end = 1
    plan.root.filter.condition.literal.boolean = True
    place = {"Plan": plan, "Relation": plan.root, "Range": plan.root.filter.input.range}
    message = place.get(kind, plan.root.filter.condition)
    message.MergeFromString(b"\xc0\xbb\x04\x01")  # number 9,144: a varint
    return session.client.schema(plan)


def parse(session: Any, options: dict[str, str], schema: str = "") -> object:
    """Parse a text of XML with options, as read.xml does with a Dataset of texts since 4.2."""
    from pyspark.sql.connect.proto import Plan, Relation

    relation = Relation()
    relation.parse.input.sql.query = "SELECT '<a><b>1</b></a>' AS value"
    relation.parse.format = 3
    relation.parse.options.update({"rowTag": "a", **options})
    if schema:
        relation.parse.schema.struct.fields.add(name=schema).data_type.string.SetInParent()
    return session.client.schema(Plan(root=relation))

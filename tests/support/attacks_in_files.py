"""Files of the lake that lead elsewhere when they are read."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any


def footer(folder: Path) -> None:
    """A file in the lake whose schema has SQL as the default of a column that it lacks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # What CREATE TABLE would refuse: it names a file for Spark to read.
    reads = f"from_xml('<a/>', 'a STRING', map('rowValidationXSDPath', '{folder.parent.parent}/bait.txt')).a"
    metadata = {"EXISTS_DEFAULT": "upper(current_database())", "CURRENT_DEFAULT": reads}
    fields = [
        {"name": "id", "type": "long", "nullable": True, "metadata": {}},
        {"name": "a", "type": "string", "nullable": True, "metadata": metadata},
    ]
    rows = json.dumps({"type": "struct", "fields": fields})
    schema = pa.schema([("id", pa.int64())], metadata={"org.apache.spark.sql.parquet.row.metadata": rows})
    folder.mkdir()
    pq.write_table(pa.table({"id": [1]}, schema=schema), folder / "a.parquet")


_VIEW = "CREATE TEMPORARY VIEW peek USING"

#: Names below a folder of the lake that are patterns: of another folder's file, or of others beside it.
_PATTERNS = {
    "brace": "{q,../other/keys.txt}",
    "back": r"\.\./other/keys.txt",
    "any": "*/keys.txt",
    "one": "key?.txt",
    "set": "key[s].txt",
}

PATTERNS = [
    f"{_VIEW} json OPTIONS (path '{{lake}}/brace/*/other', multiLine 'true')",
    f"{_VIEW} json OPTIONS (path '{{lake}}/brace/\\\\{{{{q,../other/*', multiLine 'true')",
    f"{_VIEW} json OPTIONS (path '{{lake}}/brace/*/other')",
    "CREATE TABLE peek USING csv OPTIONS (path '{lake}/brace/*/other', header 'true', multiLine 'true')",
    *(
        f"{_VIEW} csv OPTIONS (path '{{lake}}/{name}', recursiveFileLookup 'true', header 'true')"
        for name in _PATTERNS
    ),
]
"""Statements that have Spark infer a schema from such files, for which it takes their names as patterns."""


def patterns(lake: Path) -> None:
    for name in ("other/keys.txt", *(f"{folder}/{name}" for folder, name in _PATTERNS.items())):
        (lake / name).parent.mkdir(parents=True)
        (lake / name).write_text('{"key-of-another": 1}\n')


def log_of_a_sink(folder: Path, name: str) -> None:
    """What a stream into files leaves beside them in a folder of the lake, here with another file's name."""
    file, log = folder / "bait.txt", folder / "lake" / name / "_spark_metadata"
    entry = {
        "path": f"file://{file}", "size": file.stat().st_size, "isDir": False, "modificationTime": 1,
        "blockReplication": 1, "blockSize": 1, "action": "add",
    }  # fmt: skip
    log.mkdir(parents=True)
    (log / "0").write_text(f"v1\n{json.dumps(entry)}")


def resumed(session: Any, lake: Path, key: str, text: str) -> None:
    """Go on with a stream from a checkpoint that a user wrote, with a conf that this one brings."""
    place = lake / f"resumed_{uuid.uuid4().hex}"
    (place / "offsets").mkdir(parents=True)
    (place / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}))
    conf = {"spark.sql.shuffle.partitions": "1", key: text}
    offsets = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf})
    (place / "offsets" / "0").write_text(f"v1\n{offsets}\n0")
    stream = session.readStream.format("rate").load().writeStream.format("noop").trigger(once=True)
    stream.option("checkpointLocation", str(place)).start().awaitTermination()

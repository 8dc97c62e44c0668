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

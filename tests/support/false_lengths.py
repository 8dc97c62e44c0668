"""Files whose lengths are not true: native code, and Spark's readers of columns, would leave their memory by them."""

from __future__ import annotations

import io
import struct
from pathlib import Path


def write_all(folder: Path) -> dict[str, str]:
    """Write such files, and give a query that reads each. Its error must be the reader's."""
    folder.mkdir()
    (folder / "a.orc").write_bytes(_orc(lengths=(65_536, 2**32 - 65_520), text=b"m" * 16))
    (folder / "negative.orc").write_bytes(_orc(lengths=(2**32 - 4_096, 4_112), text=b"m" * 16))
    (folder / "a.snappy").write_bytes(_block_of_snappy(300_000))
    (folder / "whole.snappy").write_bytes(_block_of_snappy(1_000))
    (folder / "a.parquet").write_bytes(_parquet(b"\xff\xff\xff\xff\x0f"))
    (folder / "long.parquet").write_bytes(_parquet(struct.pack("<BBB", 0xFF, 0xFF, 0x7F)))
    forms = {"orc": "base64(cast(s AS BINARY))", "snappy": "length(value)", "parquet": "length(s)"}
    return {
        name: f"SELECT {forms[kind]} FROM {'text' if kind == 'snappy' else kind}.`{folder}/{name}`"
        for name in ("a.orc", "negative.orc", "a.snappy", "a.parquet", "long.parquet", "whole.snappy")
        for kind in (name.rpartition(".")[2],)
    }


def _number(value: int) -> bytes:
    """As protocol buffers write one."""
    made = b""
    while value > 0x7F:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _orc(lengths: tuple[int, ...], text: bytes) -> bytes:
    """One column of texts, ``s``, whose lengths are these, as 32 bits each."""
    count = len(lengths) - 1
    said = bytes([0x40 | (27 << 1) | (count >> 8), count & 255]) + struct.pack(f">{len(lengths)}I", *lengths)
    body = said + text
    streams = [
        _field(1, _field(1, kind) + _field(2, 1) + _field(3, size))
        for kind, size in ((2, len(said)), (1, len(text)))
    ]
    stripe = b"".join(streams) + _field(2, _field(1, 0)) + _field(2, _field(1, 2))
    parts = (
        _field(1, 3) + _field(2, 0) + _field(3, len(body)) + _field(4, len(stripe)) + _field(5, len(lengths))
    )
    types = _field(4, _field(1, 12) + _field(2, _number(1)) + _field(3, b"s")) + _field(4, _field(1, 7))
    footer = _field(1, 3) + _field(2, len(body) + len(stripe)) + _field(3, parts) + types
    footer += _field(6, len(lengths)) + _field(8, 0)
    end = _field(1, len(footer)) + _field(2, 0) + _field(3, 262_144) + _field(4, _number(0) + _number(12))
    end += _field(5, 0) + _field(6, 6) + _field(8000, b"ORC")
    return b"ORC" + body + stripe + footer + end + bytes([len(end)])


def _snappy(length: bytes, repeated: int) -> bytes:
    """A text that says a length, and is one letter and copies of it."""
    made = length + b"\x00A"
    while repeated > 0:
        made += bytes([(min(64, repeated) - 1) << 2 | 2]) + struct.pack("<H", 1)
        repeated -= 64
    return made


def _block_of_snappy(length: int) -> bytes:
    """As Hadoop's codec writes it."""
    text = _snappy(_number(length), length - 1)
    return struct.pack(">II", length, len(text)) + text


def _parquet(length: bytes) -> bytes:
    """One column of texts, ``s``, in a page of Snappy that says this length and has 6,000 bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    written = io.BytesIO()
    rows = pa.table({"s": [bytes(range(33, 123)).decode() * 5 + chr(code) * 3 for code in range(33, 123)]})
    pq.write_table(rows, written, compression="snappy", use_dictionary=False, write_statistics=False)
    whole = bytearray(written.getvalue())
    column = pq.ParquetFile(written).metadata.row_group(0).column(0)
    end = column.data_page_offset + column.total_compressed_size
    begin = next(
        each for each in range(column.data_page_offset + 5, end) if _is_snappy(bytes(whole[each:end]))
    )
    page = _snappy(length, 6_000)[: end - begin]
    whole[begin:end] = page.ljust(end - begin, b"\x00")
    return bytes(whole)


def _is_snappy(text: bytes) -> bool:
    import pyarrow as pa

    try:
        return len(pa.decompress(text, decompressed_size=100_000, codec="snappy")) > 1_000
    except (OSError, ValueError):
        return False

"""Spark's published tests name libraries as its sources do; its published jars carry some of them under other names.

Its build moves these packages ("shading") only after its tests ran. So that the published tests find them, the names
in their classes are moved in the same way.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

from support.class_files import SIZES

_TEXT, _TWO_PLACES = 1, (5, 6)


def relocated(jar: Path, into: Path, packages: Mapping[str, str]) -> Path:
    """Copy a jar with packages renamed in its classes.

    Args:
        into: the folder of the copy, which keeps the jar's name.
        packages: the new name of each, with slashes, such as ``{"io/grpc": "org/sparkproject/connect/grpc"}``.
    """
    into.mkdir(parents=True, exist_ok=True)
    names = {f"{old}/".encode(): f"{new}/".encode() for old, new in packages.items()}
    copy = into / jar.name
    with zipfile.ZipFile(jar) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".class") and any(old in content for old in names):
                content = _renamed(content, names)
            target.writestr(name, content)
    return copy


def _renamed(content: bytes, names: Mapping[bytes, bytes]) -> bytes:
    """A class file whose constants have other names in them; everything else refers to constants by number."""
    (count,) = struct.unpack_from(">H", content, 8)
    parts, at, index = [content[:10]], 10, 1
    while index < count:
        tag = content[at]
        if tag == _TEXT:
            (length,) = struct.unpack_from(">H", content, at + 1)
            text = content[at + 3 : at + 3 + length]
            for old, new in names.items():
                text = text.replace(old, new)
            parts.append(struct.pack(">BH", _TEXT, len(text)) + text)
            at += 3 + length
        else:
            end = at + 1 + SIZES[tag]
            parts.append(content[at:end])
            at = end
        index += 2 if tag in _TWO_PLACES else 1
    return b"".join([*parts, content[at:]])

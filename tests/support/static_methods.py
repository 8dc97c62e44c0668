"""The static methods of a jar that SQL's ``reflect`` can call: read from the class files, so no JDK is needed.

Spark's ``CallMethodViaReflection`` finds public static methods by name whose parameters are primitives, their boxes
or strings. A Scala object gets one such method ("forwarder") for each of its public methods.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.class_files import constants

_PUBLIC, _STATIC = 0x0001, 0x0008
# Primitives, their boxes, and String: what SQL can make. Spark has no char today; that costs nothing to forbid.
_MADE_BY_SQL = re.compile(
    r"\((?:[ZBCSIJFD]|Ljava/lang/(?:Boolean|Byte|Character|Short|Integer|Long|Float|Double|String);)*\)"
)


class StaticMethod(NamedTuple):
    """A public static method: the class with dots, the method's name, and its descriptor (JVMS 4.3.3)."""

    owner: str
    name: str
    descriptor: str

    @property
    def label(self) -> str:
        """The class and the method, as the allowlist names them."""
        return f"{self.owner}.{self.name}"

    @property
    def parameters(self) -> list[str]:
        """The descriptors of the parameters."""
        return re.findall(r"\[*(?:[ZBSIJFDC]|L[^;]+;)", self.descriptor[1 : self.descriptor.index(")")])


def callable_from_sql(jar: Path) -> Iterator[StaticMethod]:
    """Every method of ``jar`` that ``reflect`` could call."""
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.endswith(".class"):
                yield from _methods(archive.read(name))


def _methods(content: bytes) -> Iterator[StaticMethod]:
    texts, classes, _, _, at = constants(content)
    _, this_class, _, interfaces = struct.unpack_from(">HHHH", content, at)
    owner = texts[classes[this_class]].replace("/", ".")
    fields = at + 8 + 2 * interfaces
    # Methods begin where the last field ends; a table without entries has its count alone.
    methods = max((end for *_, end in _members(content, fields)), default=fields + 2)
    wanted = _PUBLIC | _STATIC
    for flags, name, descriptor, _ in _members(content, methods):
        if flags & wanted == wanted and texts[name] != "<clinit>" and _MADE_BY_SQL.match(texts[descriptor]):
            yield StaticMethod(owner, texts[name], texts[descriptor])


def _members(content: bytes, at: int) -> Iterator[tuple[int, int, int, int]]:
    """Access flags, name, descriptor and end of each field or method of the table that begins at ``at``."""
    (count,) = struct.unpack_from(">H", content, at)
    at += 2
    for _ in range(count):
        flags, name, descriptor, attributes = struct.unpack_from(">HHHH", content, at)
        at += 8
        for _ in range(attributes):
            (length,) = struct.unpack_from(">I", content, at + 2)
            at += 6 + length
        yield flags, name, descriptor, at

"""The classes of jars: what each extends, and what a case class takes. Read from class files, so nothing is loaded."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from build import _CONSTANTS as SIZES
from build import constants

_DEFAULT = re.compile(r"copy\$default\$(\d+)")
_STRING = 8
_STATIC, _INTERFACE, _ABSTRACT = 0x0008, 0x0200, 0x0400


class Kind(NamedTuple):
    """One class: its name with dots, what it extends, and its arguments with their types as the JVM writes them."""

    name: str
    parents: tuple[str, ...]
    concrete: bool
    arguments: tuple[tuple[str, str], ...]

    @property
    def simple(self) -> str:
        """The name without its package, as Scala code writes that of an object."""
        return self.name.rpartition(".")[2].removesuffix("$")


def read(jars: Iterable[Path]) -> dict[str, Kind]:
    """Return every class of these jars by its name."""
    found: dict[str, Kind] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if entry.endswith(".class") and not entry.startswith("META-INF/"):
                    kind = _kind(archive.read(entry))
                    found[kind.name] = kind
    return found


def strings(jar: Path, name: str) -> set[str]:
    """Return the texts that a class's code names."""
    with zipfile.ZipFile(jar) as archive:
        content = archive.read(f"{name.replace('.', '/')}.class")
    texts, _, _ = constants(content)
    (count,) = struct.unpack_from(">H", content, 8)
    found = set()
    at, index = 10, 1
    while index < count:
        tag = content[at]
        if tag == _STRING:
            found.add(texts[struct.unpack_from(">H", content, at + 1)[0]].decode())
        at += 1 + SIZES[tag] + (struct.unpack_from(">H", content, at + 1)[0] if tag == 1 else 0)
        index += 2 if tag in (5, 6) else 1
    return found


def below(root: str, kinds: Mapping[str, Kind]) -> list[Kind]:
    """Return the classes of which there are objects, and which extend ``root``."""
    known: dict[str, bool] = {root: True}

    def extends(name: str) -> bool:
        if name not in known:
            known[name] = False
            known[name] = name in kinds and any(extends(each) for each in kinds[name].parents)
        return known[name]

    return sorted(kind for kind in kinds.values() if kind.concrete and extends(kind.name))


def _kind(content: bytes) -> Kind:
    texts, numbers, at = constants(content)

    def text(index: int) -> str:
        return texts[index].decode("utf-8", "replace")

    flags, this, parent, count = struct.unpack_from(">HHHH", content, at)
    above = struct.unpack_from(f">{count}H", content, at + 8)
    name, *parents = (text(numbers[each]).replace("/", ".") for each in (this, parent, *above) if each)
    at += 8 + 2 * count
    fields, at = _members(content, at, text)
    methods, at = _members(content, at, text)
    # A copy of a case class has a default for each argument: these methods return what the arguments are.
    defaults = {int(found[1]): plain for each, plain, *_ in methods if (found := _DEFAULT.fullmatch(each))}
    own = iter([each for each in fields if not each[3] & _STATIC])
    arguments = []
    for _, plain in sorted(defaults.items()):
        wanted = plain.rpartition(")")[2]
        field = next((each for each in own if each[1] == wanted), None)
        if field is not None:
            arguments.append((field[0].rpartition("$")[2], field[2]))
    return Kind(name, tuple(parents), not flags & (_INTERFACE | _ABSTRACT), tuple(arguments))


def _members(
    content: bytes, at: int, text: Callable[[int], str]
) -> tuple[list[tuple[str, str, str, int]], int]:
    """Names, plain types, generic types with their arguments, and flags; and the offset after them."""
    (count,) = struct.unpack_from(">H", content, at)
    found = []
    at += 2
    for _ in range(count):
        access, name, descriptor, attributes = struct.unpack_from(">HHHH", content, at)
        plain = typed = text(descriptor)
        at += 8
        for _ in range(attributes):
            index, size = struct.unpack_from(">HI", content, at)
            if text(index) == "Signature":
                typed = text(struct.unpack_from(">H", content, at + 6)[0])
            at += 6 + size
        found.append((text(name), plain, typed, access))
    return found, at

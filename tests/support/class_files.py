"""Which classes the classes of a jar name: read from their constant pools, so that a Java runtime is enough."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

# Bytes of a constant behind its tag (JVMS 4.4). Long and double take two places of the pool.
SIZES = {
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    **dict.fromkeys((5, 6), 8),
    15: 3,
}
_UTF8, _CLASS, _STRING, _NAME_AND_TYPE, _METHOD_TYPE = 1, 7, 8, 12, 16
_NAME = re.compile(r"L([^;<>]+);")


class Constants(NamedTuple):
    """What one class file's constant pool holds, by index, and where the file goes on behind it."""

    texts: dict[int, str]
    classes: dict[int, int]
    types: list[int]
    literals: list[int]
    end: int


def constants(content: bytes) -> Constants:
    """The texts, the classes (index to the index of their name), the types that calls name, and the strings."""
    (count,) = struct.unpack_from(">H", content, 8)
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    types: list[int] = []
    literals: list[int] = []
    at, index = 10, 1
    while index < count:
        tag = content[at]
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", content, at + 1)
            texts[index] = content[at + 3 : at + 3 + length].decode("utf-8", "replace")
            at += 3 + length
        else:
            if tag == _CLASS:
                classes[index] = struct.unpack_from(">H", content, at + 1)[0]
            elif tag == _STRING:
                literals.append(struct.unpack_from(">H", content, at + 1)[0])
            elif tag == _NAME_AND_TYPE:
                types.append(struct.unpack_from(">H", content, at + 3)[0])
            elif tag == _METHOD_TYPE:
                types.append(struct.unpack_from(">H", content, at + 1)[0])
            at += 1 + SIZES[tag]
        index += 2 if tag in (5, 6) else 1
    return Constants(texts, classes, types, literals, at)


def named_classes(content: bytes) -> set[str]:
    """The classes that one class file names, with dots: by constants, and in the types of what it calls and has."""
    texts, classes, types, _, _ = constants(content)
    found = {texts[each].strip("[") for each in classes.values()}
    # Descriptors of fields and methods stand as plain text: whatever looks like one counts.
    described = [text for text in texts.values() if re.fullmatch(r"\(.*\)[\[\w/$;.]+|\[*L[\w/$.]+;", text)]
    found = {name[1:-1] if name.startswith("L") and name.endswith(";") else name for name in found}
    for text in [*described, *(texts[each] for each in types)]:
        found.update(_NAME.findall(text))
    return {name.replace("/", ".") for name in found}


def package_arrows(jars: Iterable[Path], ours: tuple[str, ...]) -> dict[str, dict[str, set[tuple[str, str]]]]:
    """Package to the packages of ``ours`` that it uses, each with the pairs of classes that make it so."""
    arrows: dict[str, dict[str, set[tuple[str, str]]]] = {}
    known: dict[str, bytes] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            known |= {
                name.removesuffix(".class").replace("/", "."): archive.read(name)
                for name in archive.namelist()
                if name.endswith(".class")
            }
    for name, content in known.items():
        here = name.rpartition(".")[0]
        arrows.setdefault(here, {})
        for other in named_classes(content):
            there = other.rpartition(".")[0]
            if there != here and other in known and there.startswith(ours):
                arrows[here].setdefault(there, set()).add((name, other))
    return arrows


def circle(arrows: Mapping[str, Iterable[str]]) -> list[str]:
    """Packages that reach each other; empty if none do."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []

r"""The KIP-297 reference scanner: ``${provider:[path:]key}``.

The language has one level and no escapes. Kafka finds references with
``\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}``, which takes cubic time on hostile text; this scanner finds the
same answers with a few ``str.find`` calls, in time linear in the text:

* a reference runs from ``${`` to the next ``}``, with any text between (another ``${``, line ends);
* the text up to the first colon is the provider; the text up to the second colon, if there is one, is
  the path; the rest is the key, colons included. ``${p:k}`` and ``${p::k}`` both have the empty path;
* without a colon (``${name}``) it is not a reference; without ``}`` the rest of the text holds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Reference", "replace", "scan"]


class Reference(NamedTuple):
    """One reference in a text.

    Attributes:
        provider: the provider's name, as written (no trimming).
        path: the path, ``""`` when none is written.
        key: the key, may hold colons and may be empty.
        start: index of the ``$``.
        end: index after the ``}``.
    """

    provider: str
    path: str
    key: str
    start: int
    end: int


# What the class's own constructor does, without a call of Python: confs may hold thousands of references.
_new = tuple.__new__


def scan(text: str) -> list[Reference]:
    """Return all references of ``text``, left to right, in linear time."""
    found: list[Reference] = []
    start = text.find("${")
    while start >= 0:
        end = text.find("}", start + 2)
        if end < 0:
            break
        first = text.find(":", start + 2, end)
        if first >= 0:
            second = text.find(":", first + 1, end)
            path, key = ("", first) if second < 0 else (text[first + 1 : second], second)
            parts = (text[start + 2 : first], path, text[key + 1 : end], start, end + 1)
            found.append(_new(Reference, parts))
        # Without a colon no opening further in can have one before this same brace: go on behind it.
        start = text.find("${", end + 1)
    return found


def replace(text: str, references: Sequence[Reference], values: Sequence[str | None]) -> str:
    """Replace ``references`` by ``values`` (same order); None leaves one as it is written."""
    parts: list[str] = []
    position = 0
    for reference, value in zip(references, values, strict=True):
        if value is not None:
            parts.append(text[position : reference.start])
            parts.append(value)
            position = reference.end
    parts.append(text[position:])
    return "".join(parts)

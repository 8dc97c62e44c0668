"""What a source file is to a migration: texts at places, each of which can be rewritten where it stands."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["COMMENTED", "Document", "Edit", "Scope", "Text", "identity", "rewritten"]

COMMENTED = "it is commented out and still in clear: remove the line"


@dataclass(frozen=True, repr=False)
class Edit:
    """Characters of a file that give way to others.

    Attributes:
        start: index of the first one.
        end: index after the last one.
        new: what takes their place.
    """

    start: int
    end: int
    new: str


@dataclass(frozen=True, repr=False)
class Text:
    """A text that a file holds, as the program that reads the file sees it.

    Attributes:
        key: the conf or option whose value it is; empty if it has none.
        value: the text, without the quotes and escapes of the file.
        start: where it is in the file, for line numbers and for what is looked at already.
        end: index after it.
        put: given a part of ``value`` (start, end) and a reference, says how the file is changed; None: this file's
            syntax cannot say it there.
        kept: why migrate does not rewrite this text, and what to do, with ``{reference}`` and ``{key}``; None: it does.
        conf: whether ``key`` is a conf of the application, else an option of a data source or the like.
    """

    key: str
    value: str
    start: int
    end: int
    put: Callable[[int, int, str], Edit | None] = lambda *_: None
    kept: str | None = None
    conf: bool = True


@dataclass(frozen=True, repr=False)
class Scope:
    """One application of a file.

    Attributes:
        confs: what it sets.
        spans: where its texts are.
        add: given confs, says how the file comes to set them; None: it cannot.
    """

    confs: dict[str, str]
    spans: list[tuple[int, int]]
    add: Callable[[dict[str, str]], Edit] | None = None

    def holds(self, edit: Edit) -> bool:
        """Whether a change is one of its texts."""
        return any(start <= edit.start < end for start, end in self.spans)


@dataclass(repr=False)
class Document:
    """One file.

    Attributes:
        content: all of it.
        texts: in the order of the file.
        kind: what it is, in a word or two.
        scopes: its applications, by name.
    """

    content: str
    texts: list[Text]
    kind: str
    scopes: dict[str, Scope] = field(default_factory=dict)

    def line(self, index: int) -> int:
        """Return the number of the line that holds a character, from 1."""
        return bisect.bisect_left(self._line_ends, index) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [index for index, char in enumerate(self.content) if char == "\n"]


def identity(start: int) -> Callable[[int, int, str], Edit]:
    """Return a ``put`` for a text that is in the file at ``start`` as it is."""
    return lambda first, last, reference: Edit(start + first, start + last, reference)


def rewritten(content: str, edits: Sequence[Edit]) -> str:
    """Return ``content`` with all edits made; they do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [content[at : edit.start], edit.new]
        at = edit.end
    return "".join([*parts, content[at:]])

"""The search itself: blocks of text in, counts and masked text out."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sparkconfig.detection.shapes import Span, shapes
from sparkconfig.redaction import MASK, Registry, worth_registering

__all__ = ["Counts", "Engine", "Place"]

_MOST_PLACES = 1000
# The name nearest before a place, in JSON or in a log. Letters and digits in long runs may be a secret themselves.
_JSON_NAME = re.compile(r"\"([A-Za-z][\w .:/-]{0,150})\"\s{0,2}:")
_NAME = re.compile(r"([A-Za-z][\w.-]{0,100})[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?$")
_RANDOM = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")
_BEFORE = 4000


class Place(NamedTuple):
    """Where something was found.

    Attributes:
        line: from 1.
        column: from 1, in characters.
        key: the name nearest before it, or empty.
        what: the value's name, or the shape.
    """

    line: int
    column: int
    key: str
    what: str


@dataclass
class Counts:
    """What was found.

    Attributes:
        values: how often each value occurs, by its name.
        shapes: how often something looks like a secret, by shape.
        withheld: lines that could not be masked and stay readable, and were left out.
        places: the first thousand.
    """

    values: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    withheld: int = 0
    places: list[Place] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Add what was found elsewhere."""
        self.values.update(other.values)
        self.shapes.update(other.shapes)
        self.withheld += other.withheld
        self.places += other.places[: _MOST_PLACES - len(self.places)]

    def __bool__(self) -> bool:
        return bool(self.values or self.shapes)


class Engine:
    """Searches for values and, if asked to, for shapes.

    Args:
        values: by name; names are shown, values never.
        by_shape: whether to count what looks like a secret.
        mask_shapes: whether to mask that too.

    Attributes:
        unfit: names of values that are too short or too common to be searched for.
    """

    def __init__(
        self, values: Mapping[str, str], *, by_shape: bool = True, mask_shapes: bool = False
    ) -> None:
        self._by_shape = by_shape or mask_shapes
        self._mask_shapes = mask_shapes
        self._all = Registry()
        self._named: dict[str, Registry] = {}
        self.unfit = sorted(name for name, value in values.items() if not worth_registering(value))
        for name, value in values.items():
            if name not in self.unfit:
                self._all.register([value])
                self._named[name] = Registry()
                self._named[name].register([value])

    def find(self, block: str, line: int = 1) -> Counts:
        """Count what is in a block of whole lines, the first of which is number ``line``."""
        counts = Counts()
        at = 0
        for start, end in self._regions(block):
            line += block.count("\n", at, start)
            at = start
            counts.add(self._count(block[start:end], line))
        return counts

    def clean(self, block: str) -> tuple[str, Counts]:
        """Mask what is in a block of whole lines."""
        counts = Counts()
        parts: list[str] = []
        at = 0
        for start, end in self._regions(block):
            found = self._count(block[start:end])
            parts.append(block[at:start])
            at = end
            cleaned = self._cleaned(block[start:end])
            if cleaned is None:
                found.withheld += 1
            else:
                parts.append(cleaned)
            counts.add(found)
        return ("".join([*parts, block[at:]]) if at else block), counts

    def masks(self, counts: Counts) -> bool:
        """Whether cleaning would change a text in which this was found."""
        return bool(counts.values or (self._mask_shapes and counts.shapes))

    def _regions(self, block: str) -> list[tuple[int, int]]:
        """The lines in which something stands, those that belong together as one."""
        found = [*self._all.spans(block), *((span.start, span.end) for span in self._shapes(block))]
        regions: list[tuple[int, int]] = []
        for first, last in sorted(found):
            start = block.rfind("\n", 0, first) + 1
            end = block.find("\n", max(last - 1, first)) + 1 or len(block)
            if regions and start < regions[-1][1]:
                regions[-1] = (regions[-1][0], max(end, regions[-1][1]))
            else:
                regions.append((start, end))
        return regions

    def _shapes(self, text: str) -> list[Span]:
        if not self._by_shape:
            return []
        return [span for span in shapes(text) if MASK[:5] not in text[span.start : span.end]]

    def _count(self, region: str, line: int = 1) -> Counts:
        counts = Counts()
        hits: list[tuple[int, str]] = []
        for name, registry in self._named.items():
            if found := registry.spans(region):
                counts.values[name] += len(found)
                hits += [(start, name) for start, _ in found]
        known = self._all.spans(region)
        for span in self._shapes(region):
            if not any(start < span.end and span.start < end for start, end in known):
                counts.shapes[span.shape] += 1
                hits.append((span.start, span.shape))
        counts.places = [self._place(region, line, at, what) for at, what in sorted(hits)[:_MOST_PLACES]]
        return counts

    def _place(self, region: str, line: int, at: int, what: str) -> Place:
        begin = region.rfind("\n", 0, at) + 1
        before = region[max(begin, at - _BEFORE) : at]
        names = _JSON_NAME.findall(before) if region.startswith("{", begin) else _NAME.findall(before)
        key = names[-1] if names else ""
        if _RANDOM.search(key) or self._all.spans(key) or shapes(key):
            key = ""
        return Place(line + region.count("\n", 0, at), at - begin + 1, key, what)

    def _masked(self, text: str) -> str:
        masked = self._all.redact(text)
        if self._mask_shapes:
            parts: list[str] = []
            at = 0
            for span in self._shapes(masked):
                parts += [masked[at : span.start], MASK]
                at = span.end
            masked = "".join([*parts, masked[at:]])
        return masked

    def _cleaned(self, region: str) -> str | None:
        """The region with masks; an event stays one that can be read. None: that is not possible."""
        line = region.rstrip("\n")
        masked = self._masked(region)
        if not (line.startswith("{") and line.endswith("}")) or "\n" in line:
            return masked
        before = _parsed(line)
        if before is None:
            return masked
        try:
            return masked if _is_like(before, _parsed(masked)) else self._rebuilt(before, region[len(line) :])
        except RecursionError:  # nested as deeply as the parser allows, and too deeply for this: not Spark's
            return masked

    def _rebuilt(self, event: Any, end: str) -> str | None:  # noqa: ANN401 - JSON
        # A value that is also a word of the format, or a number: only texts are masked, one by one.
        # In ASCII: half a surrogate pair, which JSON may hold as an escape, is not a character of UTF-8.
        rebuilt = json.dumps(self._leaves(event), separators=(",", ":"))
        return None if self._all.spans(rebuilt) else rebuilt + end

    def _leaves(self, node: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(node, str):
            return self._masked(node)
        if isinstance(node, list):
            return [self._leaves(each) for each in node]
        return {key: self._leaves(each) for key, each in node.items()} if isinstance(node, dict) else node


def _parsed(line: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_like(before: Any, after: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether nothing but texts differs, and not which event it is."""
    if isinstance(before, dict):
        return (
            isinstance(after, dict)
            and list(before) == list(after)
            and before.get("Event") == after.get("Event")
            and all(_is_like(before[key], after[key]) for key in before)
        )
    if isinstance(before, list):
        return (
            isinstance(after, list)
            and len(before) == len(after)
            and all(_is_like(a, b) for a, b in zip(before, after, strict=True))
        )
    return isinstance(after, str) if isinstance(before, str) else bool(before == after)

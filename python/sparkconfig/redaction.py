"""The values that nothing may show, and the masking of texts by them.

One :class:`Registry` holds the value of every reference that was resolved, with its generation; values of old
generations stay masked. Texts that a job composes around references are not registered: their secret parts are.
A value is found raw, each of its lines, under stacks of escapes (JSON, JavaScript, SQL, XML, HTML, Java properties,
URL), in base64 at every offset, base64url and hex. The JVM's mirror is
``io.sparkconfig.redaction.Redactor``; the same rules, the same mask.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from sparkconfig._readings import Budget, Readings, is_plain

__all__ = [
    "COMMON_WORDS",
    "FLOOR",
    "MASK",
    "REGISTRY",
    "WITHHELD",
    "Registry",
    "install",
    "redact",
    "register",
    "worth_registering",
]

#: What stands in place of a value; Spark's own.
MASK = "*********(redacted)"
#: What stands in place of a text that could not be searched.
WITHHELD = "*********(redacted: this text could not be searched for secrets and is withheld)"
#: Values, and lines of values, with fewer characters are not registered unless declared.
FLOOR = 8
#: Texts that stand in logs and pages for other reasons than being a secret. The same list is in CommonWords.scala.
COMMON_WORDS = frozenset([
    "password", "passw0rd", "password1", "changeit", "changeme", "username", "postgres", "postgresql",
    "database", "localhost", "redacted", "administrator", "default_value", "undefined", "disabled",
    "required", "optional", "blockquote", "colgroup", "fieldset", "figcaption", "noscript", "optgroup",
    "progress", "template", "textarea", "javascript", "stylesheet", "content-type", "text/html",
    "application", "completed", "succeeded", "running", "executor", "executors", "submitted", "timestamp",
    "properties", "jdbc:postgresql", "127.0.0.1", "0.0.0.0", "12345678", "00000000", "11111111",  # noqa: S104
    "sparkcontext", "sparksession", "anonymous", "workspace",
])  # fmt: skip

_WINDOW = 4
# Encodings are cut after this many characters; a match then runs on to the end of the encoded text.
_ENCODED_LIMIT = 192
# Errors cut long texts: of a value that is twice as long, each part of this length counts too, unless it has so few
# different characters that it could be a rule or an indentation.
_PART = 64
_PARTS_LIMIT = 8192
_PART_VARIETY = 12
# With more anchors than this, looking up each window of the text beats searching for each anchor.
_MANY = 500
_CHUNK = 1 << 20
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")
_HEX = frozenset("0123456789abcdefABCDEF")


def worth_registering(value: str) -> bool:
    """Whether masking ``value`` wherever it occurs would not destroy pages and logs.

    The caller warns, naming the reference, when it is not; :meth:`Registry.declare` registers it all the same.
    """
    bare = value.strip()
    return len(bare) >= FLOOR and bare.lower() not in COMMON_WORDS and not value.startswith("spark.")


@dataclass(frozen=True, repr=False)
class _Pattern:
    """One text to look for.

    Attributes:
        alphabet: of an encoding; characters of it beside a match hold some bits of the value too.
        open: the text was cut, so all that follows in the alphabet belongs to the match.
    """

    text: str
    alphabet: frozenset[str] = frozenset()
    open: bool = False


class Registry:
    """A set of values; thread-safe; values are added, never removed.

    Attributes:
        faults: how many texts were withheld because the search itself failed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generations: dict[str, int] = {}
        self._index = _Index({}, [])
        self._pending: list[str] = []
        self.faults = 0

    def register(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add the values that are worth registering; a known one keeps its first generation."""
        self.declare([value for value in values if worth_registering(value)], generation=generation)

    def register_new(self, values: Iterable[str]) -> None:
        """:meth:`register`, cheap for values that are known."""
        fresh = [value for value in values if value not in self._generations]
        if fresh:
            self.register(fresh)

    def declare(self, values: Iterable[str], *, generation: int = 0) -> None:
        """Add values whatever they look like, as the operator asked; an empty one cannot be masked."""
        with self._lock:
            fresh = [value for value in dict.fromkeys(values) if value and value not in self._generations]
            if fresh:
                self._generations.update(dict.fromkeys(fresh, generation))
                self._pending += fresh

    def __len__(self) -> int:
        return len(self._generations)

    def __repr__(self) -> str:
        return f"Registry({len(self)} values)"

    def generation(self, value: str) -> int | None:
        """The generation in which ``value`` was first registered, or None."""
        return self._generations.get(value)

    def contains(self, text: str) -> bool:
        """Whether a value occurs; a text that cannot be searched counts as one that holds a value."""
        return self.redact(text) is not text

    def redact(self, text: str) -> str:
        """Mask every occurrence of every value.

        Returns:
            The same object if none occurs; WITHHELD if the search failed, never the unsearched text.
        """
        if not self._generations or not text:
            return text
        try:
            found = self._current().find(text)
            return _replace(text, found) if found else text
        except Exception:  # noqa: BLE001 - whatever went wrong, the original must not pass
            self.faults += 1
            return WITHHELD

    def _current(self) -> _Index:
        if self._pending:
            with self._lock:
                if self._pending:
                    fresh = (pattern for value in self._pending for pattern in _patterns(value))
                    self._index = self._index.extended(fresh)
                    self._pending = []
        return self._index


class _Index:
    """Immutable: patterns by the window of letters and digits that anchors each."""

    def __init__(self, anchors: dict[str, list[tuple[_Pattern, int]]], bare: list[_Pattern]) -> None:
        self._anchors = anchors
        self._bare = bare  # without such a window

    def extended(self, patterns: Iterable[_Pattern]) -> _Index:
        anchors = dict(self._anchors)
        own: set[str] = set()
        bare = list(self._bare)
        for pattern in patterns:
            windows = _windows(pattern.text)
            if not windows:
                bare.append(pattern)
                continue
            offset, window = min(windows, key=lambda found: len(anchors.get(found[1], ())))
            if window not in own:
                own.add(window)
                anchors[window] = list(anchors.get(window, ()))
            anchors[window].append((pattern, offset))
        return _Index(anchors, bare)

    def find(self, text: str) -> list[tuple[int, int]]:
        readings = Readings(text, Budget(64 * len(text) + 2_000_000))
        found: list[tuple[int, int]] = []
        done: dict[int, int] = {}
        for window, at in self._hits(text):
            for pattern, offset in self._anchors[window]:
                if at < done.get(id(pattern), 0):
                    continue  # inside a match of the same pattern
                if span := _verify(readings, text, pattern, offset, at):
                    found.append(span)
                    done[id(pattern)] = span[1]
        for pattern in self._bare:
            found.extend(_search_bare(readings, text, pattern.text))
        return [span for span in _joined(found) if not _in_mask(text, *span)]

    def _hits(self, text: str) -> Iterable[tuple[str, int]]:
        if len(self._anchors) <= _MANY:
            present = [window for window in self._anchors if window in text]
        else:
            grams: set[str] = set()
            for start in range(0, len(text), _CHUNK):
                chunk = text[start : start + _CHUNK + _WINDOW]
                grams.update(map("".join, zip(chunk, chunk[1:], chunk[2:], chunk[3:], strict=False)))
                grams &= self._anchors.keys()
            present = list(grams)
        for window in present:
            at = text.find(window)
            while at >= 0:
                yield window, at
                at = text.find(window, at + 1)


def _windows(text: str) -> list[tuple[int, str]]:
    windows = []
    run = 0
    for index, char in enumerate(text[:512]):
        run = run + 1 if is_plain(char) else 0
        if run >= _WINDOW:
            at = index - _WINDOW + 1
            windows.append((at, text[at : index + 1]))
    return windows


def _verify(readings: Readings, text: str, pattern: _Pattern, offset: int, at: int) -> tuple[int, int] | None:
    end = readings.match_right(pattern.text, offset + _WINDOW, at + _WINDOW)
    start = readings.match_left(pattern.text, offset, at) if end >= 0 else -1
    if start < 0:
        return None
    if pattern.alphabet:
        start -= start > 0 and text[start - 1] in pattern.alphabet
        end += end < len(text) and text[end] in pattern.alphabet
        while pattern.open and end < len(text) and text[end] in pattern.alphabet:
            end += 1
    return start, end


def _search_bare(readings: Readings, text: str, value: str) -> Iterable[tuple[int, int]]:
    starts = {value[0]} if is_plain(value[0]) else {value[0], "\\", "&", "%", "+"}
    for at, char in enumerate(text):
        if char in starts:
            end = readings.match_right(value, 0, at)
            if end >= 0:
                yield at, end


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _in_mask(text: str, start: int, end: int) -> bool:
    """Whether a match is a part of the mask itself: a value such as "redacted" must not mask masks."""
    at = text.find(MASK, max(0, end - len(MASK)), start + len(MASK))
    return at >= 0 and at <= start


def _replace(text: str, found: list[tuple[int, int]]) -> str:
    out = []
    at = 0
    for start, end in found:
        # A match that begins behind an escaping backslash takes it along, so that JSON stays JSON.
        first = start - _backslashes_before(text, start) % 2
        out += [text[at:first], MASK]
        at = end
        if text[end - 1] == "\\":
            # One that ends among backslashes takes whole escapes: the last may belong to a closing quote.
            while text.startswith("\\", at):
                at += 1
            run = _backslashes_before(text, at)
            at -= run > 1 and run % 2
    return "".join([*out, text[at:]])


def _backslashes_before(text: str, end: int) -> int:
    start = end
    while start and text[start - 1] == "\\":
        start -= 1
    return end - start


def _patterns(value: str) -> Iterable[_Pattern]:
    yield _Pattern(value)
    yield from _parts(value)
    for line in value.splitlines():
        bare = line.strip()
        # "-----BEGIN PRIVATE KEY-----" is no secret.
        if len(bare) >= FLOOR and bare != value and not bare.startswith("-----"):
            yield _Pattern(bare)
            yield from _parts(bare)
    if len(value) < FLOOR:
        return  # an encoding of a few characters looks like any other text
    raw = value.encode("utf-8", "surrogatepass")
    digits = raw[: _ENCODED_LIMIT // 2].hex()
    for text in {digits, digits.upper()}:
        yield _Pattern(text, _HEX, open=len(raw) > _ENCODED_LIMIT // 2)
    octets = raw[: _ENCODED_LIMIT * 3 // 4]
    for offset in range(3):
        # What stays the same whatever stands before and after the value.
        core = base64.b64encode(bytes(offset) + octets).decode("ascii")
        core = core[(offset * 8 + 5) // 6 : (offset + len(octets)) * 8 // 6]
        for text in {core, core.replace("+", "-").replace("/", "_")}:
            yield _Pattern(text, _BASE64, open=len(octets) < len(raw))


def _parts(text: str) -> Iterable[_Pattern]:
    if len(text) >= 2 * _PART:
        for at in range(0, min(len(text), _PARTS_LIMIT) - _PART + 1, _PART):
            part = text[at : at + _PART]
            if len(set(part)) >= _PART_VARIETY:
                yield _Pattern(part)


#: The registry of this process.
REGISTRY = Registry()


def register(values: Iterable[str], *, generation: int = 0) -> None:
    """:meth:`Registry.register` on this process's registry."""
    REGISTRY.register(values, generation=generation)


def redact(text: str) -> str:
    """:meth:`Registry.redact` on this process's registry."""
    return REGISTRY.redact(text)


def install() -> None:
    """Redact what this process shows: its output, log records, tracebacks, and the errors that come from Spark.

    ``sparkconfig.session.configure()`` and ``sparkconfig.current()`` call it. From then on every value that
    ``Secret.reveal()`` gives out is registered, and in a Spark driver all that its JVM masks. A call again covers
    what was not there yet: pyspark, a notebook's kernel, streams that were replaced.
    """
    from sparkconfig import (
        _redaction_hooks,
        _redaction_kernel,
        _redaction_output,
        _redaction_spark,
        secret,
    )

    _redaction_hooks.install()
    _redaction_kernel.install()
    _redaction_output.install()
    _redaction_spark.install()
    secret.on_reveal = REGISTRY.register_new

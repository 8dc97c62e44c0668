"""SubstitutableValues (KIP-269): the results of a map whose values hold ``$[...]``."""

# ruff: noqa: FBT001 - the KIP says which arguments, in which order

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Set
from types import MappingProxyType
from typing import cast

from sparkconfig._base.text import shorten
from sparkconfig.errors import SparkConfigError, SubstitutionError
from sparkconfig.secret import Secret
from sparkconfig.substitution.allowlists import Allowlists
from sparkconfig.substitution.builtin import KEY_VALUE, ReadFile, make_sources
from sparkconfig.substitution.command import Modifiers, java_trim
from sparkconfig.substitution.definitions import FromValues, LoadType, TypeTable, load_type
from sparkconfig.substitution.evaluate import Need, Retrieve, Steps, evaluate
from sparkconfig.substitution.redactable import REDACTED, RedactableObject, Results, located, raw_result
from sparkconfig.substitution.running import Running
from sparkconfig.substitution.scanner import (
    LONG_TEXT,
    OPENING,
    Command,
    Malformed,
    Segment,
    iter_segments,
    segments_of,
)
from sparkconfig.substitution.types import (
    SubstituterType,
    SubstituterTypeHelper,
    UnderlyingValues,
    checked,
    guard,
)

__all__ = ["Literal", "SubstitutableValues"]

_log = logging.getLogger(__name__)
_MAX_NESTED = 50
_TOO_LARGE = "its substitutions produce too much text; look for keys that name each other"

MAX_CHARS = 1 << 26
"""Default for ``max_chars``: 64 Mi characters."""

Literal = Callable[[str], str | tuple[str, bool]]
"""Transforms the text outside of ``$[...]``; may say beside it whether it is to be redacted."""


class SubstitutableValues:
    """Calculates values of one generation: each key is read once, and its result kept. Thread-safe.

    Args:
        values: what is read. Text, and the text in a :class:`Secret`, is substituted; anything else stays the
            object that it is. To see changes make a new instance.
        prefix: before ``<type>SubstituterType``; trimmed.
        environ: for ``envVar``; None: the environment of this process.
        sysprops: for ``sysProp``: in Spark the system properties of the driver's JVM.
        read_file: for ``file`` instead of reading the disk; then ``allow.file_paths`` is not looked at.
        literal: transforms the text outside of ``$[...]``; nothing that was inserted is given to it.
        allow: what the built-in types may read.
        definitions: key ``<prefix><type>SubstituterType`` to a SubstituterType class or its name. None: no
            custom types. FROM_VALUES: ``values`` defines them, as in the KIP; that lets whoever writes the
            values load classes.
        load: class name to class, for definitions that are text.
        max_chars: how many characters all results that are put together may have: a few keys that name each
            other twice would otherwise grow without end.
        keep_failures: do not try again what failed (the KIP does): for a map of which every key is asked once,
            where a long chain with a broken end would be walked from every key.
        plan: text that is not a secret to its segments, for a caller that has parsed it already.
    """

    def __init__(
        self,
        values: UnderlyingValues,
        *,
        prefix: str = "",
        environ: Mapping[str, str] | None = None,
        sysprops: Mapping[str, str] | None = None,
        read_file: ReadFile | None = None,
        literal: Literal | None = None,
        allow: Allowlists | None = None,
        definitions: Mapping[str, object] | FromValues | None = None,
        load: LoadType = load_type,
        max_chars: int = MAX_CHARS,
        keep_failures: bool = False,
        plan: Callable[[str], Iterable[Segment]] | None = None,
    ) -> None:
        self._values = values
        self._prefix = java_trim(prefix)
        self._literal = literal
        self._sources = make_sources(
            allow or Allowlists(), os.environ if environ is None else environ, sysprops or {}, read_file
        )
        self._results: dict[str, RedactableObject | str] = {}  # a plain text is kept as it is: see Results
        self._missing: set[str] = set()
        read = self._definition_in_values if isinstance(definitions, FromValues) else (definitions or {}).get
        self._types = TypeTable(self._prefix, read, load)
        self._asked: dict[str, set[str]] = {}
        self._failed: dict[str, SparkConfigError] = {}
        self._keep_failures = keep_failures
        self._secret_texts: dict[str, None] = {}
        self._plan = plan or _segments
        self._chars_left = max_chars
        self._here = Running()

    @property
    def type_definition_key_prefix(self) -> str:
        """The prefix of type definitions, trimmed."""
        return self._prefix

    @property
    def substitution_results(self) -> Mapping[str, RedactableObject]:
        """The keys that were calculated so far, with their results."""
        return Results(self._results, self._results)

    @property
    def dependencies(self) -> Mapping[str, Set[str]]:
        """Key to the keys that its evaluation asked for directly; plain keys, which ask for none, are not in."""
        return MappingProxyType(self._asked)

    @property
    def secret_texts(self) -> tuple[str, ...]:
        """The texts that ``redact`` and custom types have hidden so far, each by itself.

        What ``literal`` says is to be redacted is not among them: the caller knows it better.
        """
        return tuple(self._secret_texts)

    def get_substitution_result(self, key: str, required: bool = False) -> RedactableObject | None:
        """Return the result of ``key``; None: the key does not exist (or has the value None).

        A failed calculation is not kept: asked again, the key is read again.

        Raises:
            SubstitutionError: a substitution cannot be made, keys refer to each other in a circle, an
                allowlist forbids something, or a required key does not exist.
            ConfigurationError: a type is defined wrongly.
        """
        self._note(self._here.current, key)
        begun = self._begin(key)
        found = begun if begun is None or isinstance(begun, RedactableObject) else self._solve(key, begun)
        if found is None and required:
            raise SubstitutionError(f"Mandatory key does not exist: {shorten(key)}")
        return found

    def substitute(self, keys: Iterable[str]) -> Mapping[str, RedactableObject]:
        """Return the results of ``keys``, without those that do not exist; raises like one request."""
        wanted = dict.fromkeys(keys)
        absent: list[str] = []
        results, missing, failed = self._results, self._missing, self._failed
        read, literal = self._values.get, self._literal
        for key in wanted:
            if key in results or key in missing or key in failed:
                begun = self._begin(key)
            else:
                raw = read(key)
                if type(raw) is str and OPENING not in raw and literal is None:
                    # Most entries of a map: nothing is made for them, which is what keeps large maps fast.
                    results[key] = raw
                    continue
                begun = self._begin_with(key, raw)
            if begun is None:
                absent.append(key)
            elif not isinstance(begun, RedactableObject):
                self._solve(key, begun)
        for key in absent:
            del wanted[key]
        return Results(results, wanted)

    def is_substitution(self, segment: Command | Malformed) -> bool:
        """Return whether what is in delimiters is replaced; else it stays as it is, and has a warning."""
        if not isinstance(segment, Command):
            return False
        kind = segment.type
        return kind == KEY_VALUE or kind in self._sources or self._types.get(kind) is not None

    def drive(self, steps: Steps) -> RedactableObject:
        """Run an evaluation that belongs to no key: for types that delegate to the helper."""
        return self._solve(None, steps)

    def _begin(self, key: str, *, hidden: bool = False) -> RedactableObject | Steps | None:
        """Return what is known or plain, None if the key does not exist, else the evaluation to run."""
        found = self._results.get(key)
        if found is not None:
            return found if isinstance(found, RedactableObject) else self._wrapped(key, found)
        if key in self._missing:
            return None
        if key in self._failed:
            raise self._failed[key]
        return self._begin_with(key, self._values.get(key), hidden=hidden)

    def _wrapped(self, key: str, plain: str) -> RedactableObject:
        """Return the result of a plain text, from now on always the same object."""
        found = self._results[key] = RedactableObject(plain)
        return found

    def _begin_with(self, key: str, raw: object, *, hidden: bool = False) -> RedactableObject | Steps | None:
        """Return what a value that was just read is, or the evaluation to run; None: there is none."""
        if type(raw) is str:
            if OPENING in raw:
                return self._start(key, raw, secret=False, hidden=hidden)
            found = RedactableObject(*self._transform(raw)) if self._literal else RedactableObject(raw)
        elif raw is None:
            self._missing.add(key)
            return None
        elif isinstance(raw, str | Secret):
            secret = isinstance(raw, Secret)
            text = raw.reveal() if isinstance(raw, Secret) else str(raw)
            if OPENING in text:
                return self._start(key, text, secret=secret, hidden=hidden)
            text, redact = self._transform(text)
            found = RedactableObject(text, secret or redact)
        else:
            found = raw if isinstance(raw, RedactableObject) else RedactableObject(raw)
        return self._keep(key, found)

    def _keep(self, key: str, found: RedactableObject) -> RedactableObject:
        """Keep a result; if another thread was faster, its result counts."""
        kept = self._results.setdefault(key, found)
        return kept if isinstance(kept, RedactableObject) else self._wrapped(key, kept)

    def _start(self, key: str, text: str, *, secret: bool, hidden: bool) -> Steps:
        """Return the evaluation of a key, unless it is running already."""
        if key in self._here.active:
            name = REDACTED if hidden else shorten(key)
            raise SubstitutionError(f"Circular reference trying to evaluate key: {name}")
        return self._evaluate(key, text, secret)

    def _solve(self, key: str | None, steps: Steps) -> RedactableObject:
        """Run an evaluation and all that it needs, on a stack of our own: no chain is too long."""
        here = self._here
        if here.nested >= _MAX_NESTED:
            raise SubstitutionError(f"custom types ask for each other's keys more than {_MAX_NESTED} deep")
        here.nested += 1
        stack: list[tuple[str | None, Steps]] = [(key, steps)]
        if key is not None:
            here.active.add(key)
        answer: RedactableObject | None = None
        try:
            while True:
                try:
                    need = stack[-1][1].send(answer)
                except StopIteration as end:
                    answer = cast("RedactableObject", end.value)
                else:
                    answer = self._answer(need, stack)
                    continue
                key = stack.pop()[0]
                if key is not None:
                    here.active.discard(key)
                    answer = self._keep(key, answer)
                if not stack:
                    return answer
        except SparkConfigError as error:
            failure = located(error, stack[-1][0] if stack else None)
        finally:
            here.nested -= 1
            here.active.difference_update([key for key, _ in stack if key is not None])
        if self._keep_failures:
            self._failed.update((key, failure) for key, _ in stack if key is not None)
        raise failure  # outside of the handler: nothing is chained

    def _answer(self, need: Need, stack: list[tuple[str | None, Steps]]) -> RedactableObject | None:
        """Answer a need, or put its evaluation on the stack (then the answer is None, its start signal)."""
        asker = stack[-1][0]
        self._note(self._here.current if asker is None else asker, need.key)
        begun = self._begin(need.key, hidden=need.hidden)
        if begun is None:
            if need.required:
                name = REDACTED if need.hidden else shorten(need.key)
                raise SubstitutionError(f"Mandatory key does not exist: {name}")
            return None
        if isinstance(begun, RedactableObject):
            return begun
        self._here.active.add(need.key)
        stack.append((need.key, begun))
        return None

    def _note(self, asker: str | None, key: str) -> None:
        """Keep which key asked for which."""
        if asker is not None:
            asked = self._asked.get(asker)
            if asked is None:
                asked = self._asked.setdefault(asker, set())
            asked.add(key)

    def _evaluate(self, key: str, text: str, secret: bool) -> Steps:
        """Evaluate the text of one key."""
        segments = iter_segments(text) if secret else self._plan(text)  # a secret's text is kept in no cache
        parts: list[str] = []
        redacted = secret
        odd = chars = 0
        only: RedactableObject | None = None
        literal = self._literal
        for segment in segments:
            if isinstance(segment, str):
                if literal is None or not segment:
                    parts.append(segment)
                else:
                    plain, redact = self._transform(segment)
                    redacted = redacted or redact
                    parts.append(plain)
                continue
            found: RedactableObject | None = None
            if isinstance(segment, Command):
                begun = self._command(key, segment, secret)
                found = begun if begun is None or isinstance(begun, RedactableObject) else (yield from begun)
            if found is None:
                odd += 1
                parts.append(segment.raw)
                continue
            only = found
            redacted = redacted or found.redacted
            inserted = found.value
            chars += len(inserted)
            if chars > self._chars_left:
                raise SubstitutionError(_TOO_LARGE)
            parts.append(inserted)
        if odd:
            _log.warning(
                "key %s: %d text(s) in $[...] are not substitutions (malformed, or an unknown type) and stay",
                key,
                odd,
            )
        if only is not None and len(parts) == 1:
            return only.redacted_version() if redacted else only  # no new text: nothing is counted
        self._chars_left -= chars
        return RedactableObject("".join(parts), redacted)

    def _command(self, key: str, command: Command, secret: bool) -> RedactableObject | Steps | None:
        """Return the result of one command, or the evaluation to run; None: its type is unknown."""
        kind = command.type
        custom = self._types.get(kind)
        retrieve: Retrieve | None = None
        if custom is None:
            source = self._sources.get(kind)
            if source is not None:
                retrieve = source.retrieve
            elif kind != KEY_VALUE:
                return None
        elif type(custom).do_substitution is SubstituterTypeHelper.do_substitution:
            inner = cast("SubstituterTypeHelper", custom).retriever(kind, self)

            def retrieve(identifier: str, modifiers: Modifiers, redact: bool) -> RedactableObject | None:
                with self._here.evaluating(key):
                    return inner(identifier, modifiers, redact)
        else:
            with self._here.evaluating(key):
                made = self._ask_custom(custom, command, secret)
                if made.redacted:
                    self._hide(made.value)
                return made
        return evaluate(retrieve, kind, command.read(), command.identifier, secret=secret, hide=self._hide)

    def _hide(self, text: str) -> None:
        self._secret_texts[text] = None

    def _ask_custom(self, custom: SubstituterType, command: Command, secret: bool) -> RedactableObject:
        """Let a type of its own making answer; it gets the modifiers raw."""
        modifiers = command.modifiers
        if secret and not any(java_trim(modifier) == "redact" for modifier in modifiers):
            modifiers = (*modifiers, "redact")
        found = guard(
            custom, lambda: custom.do_substitution(command.type, modifiers, command.identifier, self)
        )
        return checked(custom, found)

    def _definition_in_values(self, key: str) -> object:
        """Read a definition like any key, but raw; a result that is already there is used."""
        kept = self._results.get(key)
        known = self._wrapped(key, kept) if isinstance(kept, str) else kept
        if known is None and key not in self._missing:
            raw = self._values.get(key)
            if raw is None:
                self._missing.add(key)
            else:
                known = self._keep(key, raw_result(raw))
        # A class that is named in a secret is refused: its name would be in messages.
        return known if known is None or known.redacted else known.object

    def _transform(self, text: str) -> tuple[str, bool]:
        """Apply the literal hook."""
        if self._literal is None:
            return text, False
        changed = self._literal(text)
        return changed if isinstance(changed, tuple) else (changed, False)


def _segments(text: str) -> Iterable[Segment]:
    """The segments of a text; a huge one's are kept in no list."""
    return iter_segments(text) if len(text) > LONG_TEXT else segments_of(text)

"""References in Python code that Spark runs on executors: UDFs, pandas UDFs, mapPartitions, data sources.

    from sparkconfig.worker import current

    def enrich(rows):
        for row in rows:
            yield call_api(row, token=current("${vault:shop/api:token}").reveal())

Ask at each use: it costs less than a microsecond while nothing has changed, and a task that runs for hours sees a
rotation within the poll interval (``spark.config.poll.interval``). The same calls work in the driver's Python.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Mapping
from typing import TypeVar

from sparkconfig._spark.wanted import NO_VALUE, check_reference, check_texts
from sparkconfig._spark.worker_link import Link, connect
from sparkconfig.errors import AgentError, UnresolvedReferenceError
from sparkconfig.secret import Secret

__all__ = ["configs", "current", "generation"]

_Value = Secret | str
_T = TypeVar("_T")


class _Text(str):
    """A text that no provider answers any part of: in a map it is its own value."""

    __slots__ = ()


_generation_at = struct.Struct(">q").unpack_from


class _Held:
    """What this process knows: one generation, immutable but for values that were looked up in it."""

    __slots__ = ("generation", "map", "values")

    def __init__(self, link: Link, generation: int, values: dict[str, _Value]) -> None:
        self.map = link.version
        self.generation = generation
        self.values = values


_held: _Held | None = None
_idle: list[Link] = []
"""Connections that no thread asks on: no thread waits for another's answer, nor for the store behind it."""


def current(text: str) -> Secret:
    """Return the newest value of a text with references, such as ``"${vault:db/prod:password}"``.

    A reference that the application has not used before is asked of the driver, under its policy.

    Raises:
        UnresolvedReferenceError: a reference has no value, or the text has none; the message says which and why.
        ConfigurationError: it is no text.
        PolicyViolation: the operator's policy does not let this job use it.
        AgentError: this is not a Python worker of an application with the plugin, nor its driver.
    """
    held = _held
    if held is not None and isinstance(text, str):
        value = held.values.get(text)
        if value.__class__ is Secret and _generation_at(held.map, 0)[0] == held.generation:
            return value
    check_reference(text)
    if _in_driver():
        from sparkconfig._spark import driver

        return driver.current(text)
    value = _values({"": text}, {"": text})[""]
    if isinstance(value, _Text):
        raise UnresolvedReferenceError([NO_VALUE])
    return value if isinstance(value, Secret) else Secret(value)


def configs(given: Mapping[str, str]) -> dict[str, _Value]:
    """Resolve a whole map in one generation (KIP-297: a task's ``configs()``).

    Returns:
        Every key; a value in which something was resolved and is secret is a :class:`Secret`, any other is text.

    Raises:
        UnresolvedReferenceError: as :func:`current`; a text without a reference stays what it is.
        ConfigurationError: it is no map of texts.
        PolicyViolation: as :func:`current`.
        AgentError: as :func:`current`.
    """
    if _in_driver():
        from sparkconfig._spark import driver

        return driver.configs(given)
    check_texts(given)
    wanted = {key: text for key, text in given.items() if "${" in text or "$[" in text}
    found = _values(wanted, given)
    return {
        key: text if isinstance(value := found.get(key, text), _Text) else value
        for key, text in given.items()
    }


def generation() -> int:
    """Return the generation of the values that this process would use now.

    Raises:
        AgentError: as :func:`current`.
    """
    if _in_driver():
        from sparkconfig._spark import driver

        return driver.generation()
    return _newest().generation


def _values(wanted: Mapping[str, str], siblings: Mapping[str, str]) -> dict[str, _Value]:
    """The values of texts that may hold references, in one generation."""
    held = _newest()
    simple = all("$[" not in text and text in held.values for text in wanted.values())
    ids = dict(wanted)
    if wanted and not simple:
        held, ids = _asked(lambda link: _ask_for(link, wanted, siblings))
    return {key: held.values[ids[key]] for key in wanted}


def _ask_for(
    link: Link, wanted: Mapping[str, str], siblings: Mapping[str, str]
) -> tuple[_Held, dict[str, str]]:
    """Take texts into use; return a generation that has them all, and where each is in it."""
    generation, values, ids, plain = link.resolve(list(wanted.values()), siblings)
    fresh = _Held(link, generation, values)
    for text, id_ in zip(wanted.values(), ids, strict=True):
        if id_ in plain:
            fresh.values[id_] = _Text(text)
        elif id_ not in fresh.values:
            raise UnresolvedReferenceError([f"{text} has no value now; the driver's log says why"])
    _keep(fresh)
    return fresh, dict(zip(wanted, ids, strict=True))


def _newest() -> _Held:
    """What is held if that is the newest, else what the executor has now."""
    held = _held
    if held is None or _generation_at(held.map, 0)[0] != held.generation:
        held = _asked(lambda link: _Held(link, *link.snapshot()))
        _keep(held)
    return held


def _keep(fresh: _Held) -> None:
    """Of two threads that come at once either may be the last: what is not the newest is asked for again."""
    global _held  # noqa: PLW0603 - one per process
    _held = fresh


def _asked(question: Callable[[Link], _T]) -> _T:
    """Ask on a connection of this thread's own."""
    try:
        link, known = _idle.pop(), True
    except IndexError:
        link, known = connect(), False
    try:
        return question(link)
    except AgentError:
        if not known or link.is_open:
            raise
    finally:
        if link.is_open:
            _idle.append(link)
    # The executor's service has gone: another application in the same process tree.
    while _idle:
        _idle.pop().close()
    return _asked(question)


def _in_driver() -> bool:
    """Whether a Spark application was started by this very process; pyspark is not imported to find out."""
    if _held is not None:
        return False
    pyspark = sys.modules.get("pyspark")
    context = getattr(pyspark, "SparkContext", None)
    return getattr(context, "_active_spark_context", None) is not None


def _forget() -> None:
    """A forked process must not share its parent's connections."""
    global _held  # noqa: PLW0603 - one per process
    _held = None
    while _idle:
        _idle.pop().abandon()


os.register_at_fork(after_in_child=_forget)

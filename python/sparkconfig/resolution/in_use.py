"""Which expressions an application uses, and which of them need a place."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from sparkconfig.language.expression import Expression
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.snapshot import Entry

__all__ = ["MOST_IN_USE", "InUse", "Use"]

MOST_IN_USE = 10_000
"""How many expressions of option maps are kept new: an application that makes a new text for each query would otherwise
make every round, and every snapshot, longer."""


class Use(NamedTuple):
    """What is known of one expression in use, without its value and without the text around references.

    Attributes:
        key: the conf key in which it stands, or None.
        references: its references as they are written.
        places: (provider, path) of each.
        changed_at: seconds since the epoch of its last change, or None while it has no value.
        problem: why it has no value, or None.
    """

    key: str | None
    references: tuple[str, ...]
    places: frozenset[Place]
    changed_at: float | None
    problem: str | None


class InUse:
    """The expressions in use. Not thread-safe.

    Attributes:
        by_id: id to expression.
        uses: what is known of each, by id; a new mapping after each change.
        open: ids of what may get another value although all its places answer as before.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Expression] = {}
        self.uses: Mapping[str, Use] = {}
        self.open: set[str] = set()
        # Those of option maps among them, the one that was used last at the end.
        self._passing: dict[str, None] = {}
        self._users: dict[Place, set[str]] = {}

    def known_as(self, id_: str, expression: Expression) -> Expression:
        """An option's text may stand in a conf, too, and is then known by the conf's key."""
        before = self.by_id.get(id_)
        return expression if before is None or before.key is None else before

    def touch(self, ids: Iterable[str]) -> None:
        """Note that these were used again, as far as they are known."""
        self.take({id_: self.by_id[id_] for id_ in ids if id_ in self._passing})

    def take(self, wanted: Mapping[str, Expression]) -> set[str]:
        """Take into use, and forget those of option maps that were used before ten thousand others.

        What is asked for now is never forgotten, however much it is.

        Returns:
            The ids that were forgotten: many at a time, since each time is a generation.
        """
        for id_, expression in wanted.items():
            self.by_id[id_] = kept = self.known_as(id_, expression)
            self._passing.pop(id_, None)
            if kept.key is None:
                self._passing[id_] = None
        forgotten: set[str] = set()
        if len(self._passing) > MOST_IN_USE + MOST_IN_USE // 10:
            oldest = itertools.islice(self._passing, len(self._passing) - MOST_IN_USE)
            forgotten = set(oldest) - wanted.keys()
        for id_ in forgotten:
            del self._passing[id_], self.by_id[id_]
        return forgotten

    def places(self) -> list[Place]:
        """The places in use."""
        return list(self._users)

    def users(self, place: Place) -> Iterable[str]:
        """The ids of the expressions that need a place."""
        return self._users.get(place, set()) & self.by_id.keys()

    def note(
        self,
        group: Mapping[str, Expression],
        resolution: Resolution,
        fresh: Mapping[str, Entry | None],
        differing: Set[str],
        kept: Set[str],
    ) -> list[Place]:
        """Note what came of a round; returns the places that are not needed any more.

        Args:
            group: what was evaluated.
            resolution: what came of it.
            fresh: the entries; None: it has none.
            differing: ids of those that are another than before.
            kept: ids of those that keep an entry for which there is no answer now.
        """
        now = time.time()
        idle: list[Place] = []
        uses: dict[str, Use] = {}
        present = [id_ for id_ in group if id_ in self.by_id]
        self.open -= fresh.keys()
        self.open |= {id_ for id_ in present if id_ in kept or resolution.is_open(group[id_])}
        for id_ in present:
            expression = group[id_]
            old = self.uses.get(id_)
            changed_at = None if fresh.get(id_) is None else now
            if old is not None and old.changed_at is not None and id_ not in differing:
                changed_at = old.changed_at
            problem = "; ".join(resolution.problems_of(expression)) or None
            if old is not None and "$[" not in expression.text:  # its references are those of its text
                use = Use(expression.key, old.references, old.places, changed_at, problem)
            else:
                sources = resolution.provenance.get(expression, [])
                names = tuple(f"${{{s.provider}:{s.path + ':' if s.path else ''}{s.key}}}" for s in sources)
                places = frozenset((s.provider, s.path) for s in sources)
                use = Use(expression.key, names, places, changed_at, problem)
            if use != old:
                uses[id_] = use
                idle += self._moved(id_, frozenset() if old is None else old.places, use.places)
        gone = [id_ for id_ in fresh if id_ not in self.by_id and id_ in self.uses]
        for id_ in gone:
            idle += self._moved(id_, self.uses[id_].places, frozenset())
        if uses or gone:
            # A new one: others read the old one meanwhile. In the order in which they were asked for.
            self.uses = {id_: use for id_, use in {**self.uses, **uses}.items() if id_ in self.by_id}
        return idle

    def _moved(self, id_: str, before: frozenset[Place], after: frozenset[Place]) -> list[Place]:
        """Note which places an expression needs now; returns those that are not needed any more."""
        idle = []
        for place in before - after:
            users = self._users.get(place, set())
            users.discard(id_)
            if not users:
                self._users.pop(place, None)
                idle.append(place)
        for place in after - before:
            self._users.setdefault(place, set()).add(id_)
        return idle

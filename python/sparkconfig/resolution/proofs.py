"""Why an expression need not be asked for again, and what differs between two generations."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from sparkconfig.language.expression import Expression
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.freshness import FileState
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.snapshot import Snapshot

__all__ = ["Answer", "Generations", "Proof", "proof_of"]

_MOST_GENERATIONS = 256


@dataclass(frozen=True)
class Proof:
    """What shows that an expression's value is still the newest; all of it must hold.

    Attributes:
        files: these files are in these states.
        good_ms: no more than so many milliseconds have passed since; None: any time.
    """

    files: tuple[FileState, ...] = ()
    good_ms: float | None = None

    def to_json(self) -> dict[str, object]:
        """Return the wire form."""
        node: dict[str, object] = {"files": self.files} if self.files else {}
        return node if self.good_ms is None else {**node, "good_ms": self.good_ms}


def proof_of(
    expression: Expression,
    resolution: Resolution,
    providers: Mapping[str, ConfigProvider],
    *,
    frozen: bool = False,
) -> Proof | None:
    """Return what shows that an answer still holds; None: ask again at each use.

    Args:
        expression: what was resolved.
        resolution: the round that did so.
        providers: by name, with their caches.
        frozen: whether values change only when their owner says so.
    """
    if expression in resolution.failed or expression not in resolution.values:
        return None
    if frozen:
        return Proof()
    # Substitutions read files and run types of third parties, of which nobody knows what they depend on.
    if "$[" in expression.text:
        return None
    files: dict[FileState, None] = {}
    good_ms: float | None = None
    for name, path in _places(expression, resolution):
        provider = providers.get(name)
        if provider is None:
            continue  # somebody else's: text for ever
        if not isinstance(provider, CachingProvider):
            return None
        found = provider.freshness(path)
        if found is None:
            return None
        files.update(dict.fromkeys(found.files))
        if found.good_ms is not None:
            good_ms = found.good_ms if good_ms is None else min(good_ms, found.good_ms)
    return Proof(tuple(files), good_ms)


def _places(expression: Expression, resolution: Resolution) -> set[Place]:
    return {(source.provider, source.path) for source in resolution.provenance.get(expression, [])}


@dataclass(frozen=True)
class Answer:
    """What one use learns.

    Attributes:
        snapshot: the newest generation.
        proofs: by id, for those of the wanted expressions that need not be asked for again as long as these hold.
        count: of the :class:`.ChangeCounter` while they do.
    """

    snapshot: Snapshot
    proofs: Mapping[str, Proof]
    count: int


class Generations:
    """Which entries the last generations changed, so that only these travel."""

    def __init__(self) -> None:
        self._last: deque[tuple[int, frozenset[str] | None]] = deque(maxlen=_MOST_GENERATIONS)

    def add(self, generation: int, differing: frozenset[str] | None) -> None:
        """Remember a generation; None: it can only travel as a whole."""
        self._last.append((generation, differing))

    def between(self, known: int, newest: int) -> set[str] | None:
        """Return the ids whose entries may differ between two generations; None: that is not known."""
        found: set[str] = set()
        count = 0
        for generation, differing in list(self._last):
            if known < generation <= newest:
                if differing is None:
                    return None
                found |= differing
                count += 1
        return found if count == newest - known else None

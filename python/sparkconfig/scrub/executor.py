"""The engine in a Python worker: frames of logs in, results or new content out. Values come through the plugin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from sparkconfig import worker
from sparkconfig.errors import SparkConfigError
from sparkconfig.scrub import logs
from sparkconfig.scrub.engine import Counts, Engine
from sparkconfig.scrub.objects import ObjectFile
from sparkconfig.secret import Secret

__all__ = ["Searched", "named", "path_of"]

_FILE, _DATA, _FAILED, _END = b"F", b"D", b"E", b"Z"
Action = Callable[["_Content", Engine, logs.Result], Iterator[bytes]]


def path_of(address: str) -> Path | ObjectFile:
    """Return the file that an address of Hadoop's names."""
    scheme, found, rest = address.partition(":")
    if found and scheme == "file":
        return Path("/" + rest.lstrip("/"))
    return ObjectFile(address) if "://" in address else Path(unquote(address))


def named(resolved: Mapping[str, Secret | str]) -> dict[str, str]:
    """Return the secrets among what was resolved: what is plain is not one."""
    return {name: value.reveal() for name, value in resolved.items() if isinstance(value, Secret)}


class Searched:
    """What one task does with its logs; travels in the job's plan, so that it holds references and no value.

    Args:
        wanted: references by the names that results show.
        by_shape: as for the engine.
        mask_shapes: as for the engine.
        action: ``find`` counts all, ``look`` ends a log at the first thing to mask, ``clean`` makes new content.
    """

    def __init__(self, wanted: Mapping[str, str], *, by_shape: bool, mask_shapes: bool, action: str) -> None:
        self._wanted = dict(wanted)
        self._by_shape = by_shape
        self._mask_shapes = mask_shapes
        self._action = action

    def __call__(self, _: int, frames: Iterator[bytes]) -> Iterator[bytes]:
        """Yield results as JSON; with ``clean`` frames for the JVM."""
        engine = Engine(
            named(worker.configs(self._wanted)) if self._wanted else {},
            by_shape=self._by_shape,
            mask_shapes=self._mask_shapes,
        )
        for frame in frames:
            address = frame[1:].partition(b"\t")[2].decode()
            result = logs.Result(path_of(address), 0)
            content = _Content(frames)
            if self._action == "clean":
                yield frame
                with logs.reported(result):
                    yield from _cleaned(content, engine, result)
                    if isinstance(result.path, Path) and logs.is_written(result.path):
                        result.skip = logs.OPEN
            else:
                with logs.reported(result):
                    _searched(content, engine, result, whole=self._action == "find")
            content.drain()
            keep = result.skip is None and engine.masks(result.counts)
            yield _said(address, result.counts, result.skip, keep=keep, framed=self._action == "clean")


class _Content:
    """One log, decompressed, as far as its frames go."""

    def __init__(self, frames: Iterator[bytes]) -> None:
        self._frames = frames
        self._ended = False

    def read(self, _: int, /) -> bytes:
        if self._ended:
            return b""
        frame = next(self._frames)
        if frame[:1] == _DATA:
            return frame[1:]
        if frame[:1] == _FAILED:
            raise SparkConfigError(frame[1:].decode())
        self._ended = True
        return b""

    def drain(self) -> None:
        while not self._ended:
            self._ended = next(self._frames)[:1] == _END


def _searched(content: _Content, engine: Engine, result: logs.Result, *, whole: bool) -> None:
    for block in logs.blocks(content, lambda _: None):
        result.counts.add(engine.find(block))
        if not whole and engine.masks(result.counts):
            return


def _cleaned(content: _Content, engine: Engine, result: logs.Result) -> Iterator[bytes]:
    for block in logs.blocks(content, lambda _: None):
        text, counts = engine.clean(block)
        result.counts.add(counts)
        yield _DATA + text.encode("utf-8", "surrogateescape")


def _said(address: str, counts: Counts, skip: str | None, *, keep: bool, framed: bool) -> bytes:
    said = {
        "address": address,
        "values": counts.values,
        "shapes": counts.shapes,
        "withheld": counts.withheld,
        "skip": skip,
        "keep": keep,
    }
    return (_END if framed else b"") + json.dumps(said).encode()

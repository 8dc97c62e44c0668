"""Every place where somebody who may not know a secret could read it, and how often it stands there."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from support.crawl import crawl, fetch
from support.leaks import LeakFinder


@dataclass
class Surface:
    """What was found on one surface.

    Attributes:
        parts: how many pages, files or processes were read: a surface of nothing proves nothing.
        size: bytes that were read.
        occurrences: of all values in all forms.
        where: the parts that hold at least one, by address, path or process id.
    """

    name: str
    parts: int
    size: int
    occurrences: int
    where: list[str]


def search(name: str, parts: Iterable[tuple[str, bytes]], finder: LeakFinder) -> Surface:
    """Search the named parts of one surface."""
    surface = Surface(name, 0, 0, 0, [])
    for part, text in parts:
        surface.parts += 1
        surface.size += len(text)
        if count := finder.count(text):
            surface.occurrences += count
            surface.where.append(part)
    return surface


def places(finder: LeakFinder, surfaces: Mapping[str, Iterable[tuple[str, bytes]]]) -> list[str]:
    """Which parts of some surfaces hold a value.

    Raises:
        AssertionError: there is nothing to search on one of them.
    """
    found = [search(name, parts, finder) for name, parts in surfaces.items()]
    assert all(surface.parts for surface in found), [each.name for each in found if not each.parts]
    return [place for surface in found for place in surface.where]


def files(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """The contents of files, and of all files below folders; zstd is decompressed."""
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            # Spark removes temporary files under our feet; sockets and pipes cannot be read.
            with contextlib.suppress(FileNotFoundError):
                if file.is_file():
                    yield str(file), _decompressed(file)


def _decompressed(file: Path) -> bytes:
    if file.suffix in (".zstd", ".zst"):
        # Only where a test asks for compressed event logs.
        import zstandard  # type: ignore[import-not-found, unused-ignore]

        with file.open("rb") as raw:
            return bytes(zstandard.ZstdDecompressor().stream_reader(raw).read())
    if file.suffix in (".lz4", ".lzf", ".snappy"):
        raise ValueError(f"cannot decompress {file.name}: use zstd, or no compression")
    return file.read_bytes()


def application_pages(
    ui: str, *, read: Callable[[str], bytes] = fetch, limit: int = 1000, seconds: float = 120.0,
    within: Callable[[str], bool] = lambda _: True,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """All pages of a running application's UI: jobs, stages, SQL, executors, thread dumps, metrics.

    It takes the arguments of `crawl`.
    """
    executors = json.loads(fetch(f"{api(ui)}/executors"))
    dumps = [
        f"{ui}/executors/{page}/?executorId={executor['id']}"
        for executor in executors
        for page in ("threadDump", "heapHistogram")
    ]
    start = [
        f"{ui}/",
        f"{ui}/environment/",
        f"{ui}/metrics/json/",
        f"{ui}/metrics/executors/prometheus/",
        *dumps,
    ]
    yield from crawl(
        start, within=lambda address: "/api/v1/" not in address and within(address), limit=limit, seconds=seconds,
        read=read,
    )  # fmt: skip


def environment_rest(ui: str) -> Iterator[tuple[str, bytes]]:
    """What ``/api/v1/applications/ID/environment`` answers."""
    address = f"{api(ui)}/environment"
    yield address, fetch(address)


def application_rest(ui: str) -> Iterator[tuple[str, bytes]]:
    """The other answers of the application's REST interface."""
    base = api(ui)
    addresses = ["jobs", "stages?details=true&withSummaries=true", "executors", "allexecutors", "storage/rdd"]
    addresses += ["allmiscellaneousprocess", "sql?details=true&planDescription=true&length=100000"]
    stages = json.loads(fetch(f"{base}/stages"))
    addresses += [f"stages/{stage['stageId']}/{stage['attemptId']}" for stage in stages]
    addresses += [f"stages/{stage['stageId']}/{stage['attemptId']}/taskList?length=1000" for stage in stages]
    addresses += [f"storage/rdd/{rdd['id']}" for rdd in json.loads(fetch(f"{base}/storage/rdd"))]
    for address in addresses:
        yield f"{base}/{address}", fetch(f"{base}/{address}")


def api(ui: str) -> str:
    """The address of the application in its own REST interface."""
    applications = json.loads(fetch(f"{ui}/api/v1/applications"))
    return f"{ui}/api/v1/applications/{applications[0]['id']}"


def daemon_pages(
    addresses: Iterable[str], *, read: Callable[[str], bytes] = fetch, seconds: float = 120.0,
    within: Callable[[str], bool] = lambda _: True,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """All pages of a master's or worker's UI; the other arguments are those of `crawl`.

    JSON, which has no scripts, is for `fetch` alone.
    """
    plain = ["json/", *(f"metrics/{name}json/" for name in ("", "master/", "applications/"))]
    for address in addresses:
        start = [f"{address}/{page}" for page in ("", *(plain if read is fetch else ()))]
        yield from crawl(start, read=read, within=within, seconds=seconds)


class ProcessWatch:
    """Collects what ``/proc`` shows of all processes while the context is open, the short-lived ones too.

    Attributes:
        command_lines: by process id, start time and text.
        environments: likewise; readable for the same user only, unlike the command lines.
    """

    def __init__(self, *, interval: float = 0.1) -> None:
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="process-watch", daemon=True)
        self.command_lines: dict[str, bytes] = {}
        self.environments: dict[str, bytes] = {}
        self._known: set[tuple[str, bytes, bytes]] = set()

    def _watch(self) -> None:
        while not self._stop.wait(self._interval):
            self.look()

    def look(self) -> None:
        """Read ``/proc`` once."""
        # Ten times a second, a path object for each file took a seventh of a core.
        with os.scandir("/proc") as found:
            processes = [entry.name for entry in found if entry.name.isdigit()]
        for process in processes:
            # Processes end while they are read, and some belong to others.
            with contextlib.suppress(OSError):
                self._read(process)

    def _read(self, process: str) -> None:
        command = _proc(process, "cmdline")
        # A process changes its command line when it executes another program, and its name then or by itself.
        key = (process, _proc(process, "comm"), command)
        if key not in self._known:
            name = f"{process} {key[1].decode(errors='replace').strip()} {hash(command):x}"
            self._known.add(key)
            self.command_lines[name] = command
            self.environments[name] = _proc(process, "environ")

    def __enter__(self) -> ProcessWatch:
        self.look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()


def _proc(process: str, name: str) -> bytes:
    file = os.open(f"/proc/{process}/{name}", os.O_RDONLY)
    try:
        parts = []
        while part := os.read(file, 1 << 14):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)

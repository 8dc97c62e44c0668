"""The engine of the jar, and Java's own Properties, in one JVM that stays open: `tests/jvm/FuzzServer.scala`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from leaks.support import PYSPARK, compile_scala
from support.shim import shim_jar
from support.spark_home import java

_SOURCE = Path(__file__).resolve().parents[2] / "jvm" / "FuzzServer.scala"


class Jvm:
    """One process; it ends when this one does, since its standard input ends then."""

    def __init__(self) -> None:
        self._classes = tempfile.TemporaryDirectory(prefix="sparkconfig-fuzz-")
        compile_scala(_SOURCE, Path(self._classes.name))
        jars = f"{self._classes.name}:{shim_jar()}:{PYSPARK / 'jars'}/*"
        self._process = subprocess.Popen(
            [java(), "-Xmx512m", "-XX:+UseSerialGC", "-cp", jars, "io.sparkconfig.redaction.probe.FuzzServer"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def register(self, values: Iterable[str]) -> None:
        """Register these values, and forget all others."""
        self._ask("R", list(values))

    def redact(self, texts: Sequence[str]) -> list[str]:
        return self._ask("M", texts) or []

    def redact_json(self, texts: Sequence[str]) -> list[str]:
        return self._ask("J", texts) or []

    def beginnings(self, texts: Sequence[str]) -> list[int]:
        return [int(answer) for answer in self._ask("B", texts) or []]

    def properties(self, text: str) -> dict[str, str] | None:
        """What ``java.util.Properties`` reads; None: it refuses."""
        found = self._ask("P", [text])
        return None if found is None else dict(zip(found[::2], found[1::2], strict=True))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._classes.cleanup()

    def _ask(self, command: str, texts: Sequence[str]) -> list[str] | None:
        request = [command.encode(), len(texts).to_bytes(4, "big")]
        for text in texts:
            units = text.encode("utf-16-be", "surrogatepass")
            request += [(len(units) // 2).to_bytes(4, "big"), units]
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(request))
        self._process.stdin.flush()
        count = int.from_bytes(self._read(4), "big", signed=True)
        return None if count < 0 else [self._text() for _ in range(count)]

    def _text(self) -> str:
        return self._read(2 * int.from_bytes(self._read(4), "big")).decode("utf-16-be", "surrogatepass")

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        found = self._process.stdout.read(size)
        if len(found) < size:
            raise EOFError("the JVM ended")
        return found

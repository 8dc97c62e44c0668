"""What a source has to say: how its server starts, and what writes, reads and rotates there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import pyspark

from support.processes import Run

CACHE = Path(__file__).resolve().parents[4] / ".cache"
#: The first two numbers of this environment's Spark.
SPARK = ".".join(pyspark.__version__.split(".")[:2])


class Unavailable(Exception):  # noqa: N818 - the field's word
    """The server or its connector cannot be had here; the text says why."""


class Store:
    """The file that holds all credentials, as ``SOURCE.KEY=value``; every one that there ever was is remembered."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._values: dict[str, str] = {}
        self.ever: list[str] = []

    def reference(self, key: str) -> str:
        return f"${{real:{self._file}:{key}}}"

    def publish(self, values: dict[str, str]) -> None:
        """Replace these values; what reads the file gets all of them at once."""
        self._values |= values
        self.ever += values.values()
        part = self._file.with_suffix(".part")
        part.write_text("".join(f"{key}={text}\n" for key, text in self._values.items()))
        part.replace(self._file)


class Source(ABC):
    """A server that is private to a run, and Spark's connector for it.

    Attributes:
        name: short, for the names of tests.
        title: for the docs: the server with its version, the connector with its own.
        sparks: the first two numbers of the Sparks that the connector has a release for; empty: all.
        extension: the connector's own session extension.
        listener: the connector's own listener of Spark's.
        within: it has `append` and `count`, for a rotation in the middle of one task.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    sparks: ClassVar[tuple[str, ...]] = ()
    extension: ClassVar[str] = ""
    listener: ClassVar[str] = ""
    within: ClassVar[bool] = False

    def __init__(self, run: Run, store: Store) -> None:
        """Start the server, make an account and publish its first credential.

        Raises:
            Unavailable: what it needs is not here.
        """
        self.run = run
        self.store = store

    @abstractmethod
    def jars(self) -> list[Path]:
        """What the connector needs on the class path."""

    def confs(self) -> dict[str, str]:
        """Confs of the application."""
        return {}

    @abstractmethod
    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        """Append rows with a column ``id``."""

    @abstractmethod
    def frame(self, spark: Any) -> Any:
        """A frame of all rows."""

    @abstractmethod
    def rotate(self) -> None:
        """Make a new credential, publish it and end the old one, with the connections that it opened.

        Raises:
            AssertionError: the server takes the old one all the same: then a rotation would prove nothing.
        """

    def append(self, frame: Any) -> None:
        """Write a frame with a column ``id`` into another table, ``more``."""
        raise NotImplementedError

    def begun(self) -> bool:
        """Whether the server has seen the writing task of `append`."""
        return True

    def count(self, spark: Any) -> int:
        """How many rows of ``more`` are there."""
        raise NotImplementedError

    def texts(self) -> Iterable[bytes]:
        """What else must show no credential, such as the bodies of requests that a server got."""
        return ()

    def stop(self) -> None:  # noqa: B027 - the run ends every child
        """End what is not a child of the run."""

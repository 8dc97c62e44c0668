"""The connection of a Python worker to its executor: how it is found, and what is said on it."""

from __future__ import annotations

import json
import mmap
import os
import socket
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparkconfig.errors import AgentError, SparkConfigError, UnresolvedReferenceError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.secret import Secret

__all__ = ["Link", "connect"]

_VARIABLE = "SPARKCONFIG_WORKER"
_ANSWER_SECONDS = 90  # the executor asks the driver for up to a minute
_LENGTH = struct.Struct(">i")
_ADVICE = (
    "sparkconfig.worker works in Python code that Spark runs (UDFs, mapPartitions, data sources) of an application"
    " with spark.plugins=io.sparkconfig.ConfigPlugin whose job type is among spark.config.worker.job.types, and in"
    " the driver's Python"
)


class Link:
    """An open connection.

    Attributes:
        version: eight bytes that the executor changes with each generation.
    """

    def __init__(self, folder: Path, token: str) -> None:
        with (folder / "version").open("rb") as file:
            self.version = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_ANSWER_SECONDS)
        self._socket.connect(str(folder / "s"))
        self._call({"token": token})

    def snapshot(self) -> tuple[int, dict[str, Secret | str]]:
        """Return the executor's generation and its values by id.

        Raises:
            AgentError: the executor does not answer.
        """
        return _news(self._call({"op": "snapshot"}))

    def resolve(
        self, texts: Sequence[str], siblings: Mapping[str, str]
    ) -> tuple[int, dict[str, Secret | str], list[str], frozenset[str]]:
        """Take texts into use; return generation and values as :meth:`snapshot`, each text's id, and which are text.

        Args:
            texts: with references.
            siblings: the raw map in which they stand; it is sent where KIP-269's commands may name other keys, and
                ``kafka.config.providers`` always: its references are Kafka's.

        Raises:
            UnresolvedReferenceError: one of them has no value.
            PolicyViolation: the operator's policy refused one of them.
            AgentError: the executor does not answer.
        """
        kafka = kafka_options.of_map(siblings)
        items = [{"text": t, "siblings": dict(siblings) if "$[" in t else kafka} for t in texts]
        answer = self._call({"op": "resolve", "expressions": items})
        return *_news(answer), [str(id_) for id_ in answer["ids"]], frozenset(map(str, answer["texts"]))

    @property
    def is_open(self) -> bool:
        """Whether it can be asked on."""
        return self._socket.fileno() >= 0

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def abandon(self) -> None:
        """Let go of a parent process's connection without ending it for the parent."""
        os.close(self._socket.detach())

    def _call(self, request: Mapping[str, object]) -> dict[str, Any]:
        try:
            body = json.dumps(request).encode()
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
            (length,) = _LENGTH.unpack(self._receive(_LENGTH.size))
            answer = json.loads(self._receive(length))
        except (OSError, ValueError) as error:
            failure = AgentError(f"the executor does not answer: {type(error).__name__}")
        else:
            if answer.get("ok"):
                return dict(answer)
            raise _refused(str(answer.get("message", "")))
        self.close()
        raise failure

    def _receive(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise ConnectionResetError
            parts += part
        return bytes(parts)


def connect() -> Link:
    """Connect to this process's executor, which has told its workers by their environment where it is.

    Raises:
        AgentError: there is none.
    """
    try:
        told = json.loads(os.environ.get(_VARIABLE, "{}"))
        folder = Path(told["folder"])
        if _private(folder):
            return Link(folder, str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError, AgentError):
        pass  # left behind by a process that was killed
    raise AgentError(f"no executor with sparkconfig was found. {_ADVICE}")


def _private(path: Path) -> bool:
    """Whether only this user can read it: in a shared temporary directory anybody can make a file of this name."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return (
        not stat.S_ISLNK(status.st_mode)
        and status.st_uid == os.geteuid()
        and stat.S_IMODE(status.st_mode) & 0o077 == 0
    )


def _news(answer: Mapping[str, Any]) -> tuple[int, dict[str, Secret | str]]:
    values = {
        id_: Secret(entry["value"]) if entry.get("secret", True) else str(entry["value"])
        for id_, entry in answer["values"].items()
    }
    return int(answer["generation"]), values


def _refused(message: str) -> SparkConfigError:
    """The brain's error came as text: its problems again, without the headline."""
    if message.startswith("the operator's policy "):
        # Imported here: only refusals need it.
        from sparkconfig.policy import PolicyViolation

        return PolicyViolation.of_text(message)
    if "cannot be resolved" not in message:
        return AgentError(message or "the executor refused, without saying why; its log may")
    _, *problems = message.split("\n  - ")
    return UnresolvedReferenceError(problems or [message])

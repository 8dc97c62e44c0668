"""The control socket of a running application: ``sparkconfig refresh APP`` speaks to its side process.

It is a Unix socket named by the application's id, mode 0600, in a directory of mode 0700 that belongs to the user
who runs the driver; besides, the kernel says who connects, and only that user and root are answered. One line of
JSON each way.

Such directories lie in the temporary directory, where anybody can make others. So nothing is done by a path: a
directory is opened without following a link, its owner is checked, and everything else is relative to it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sparkconfig._base.threads import daemon
from sparkconfig.errors import AgentError, ConfigurationError, SparkConfigError, UnresolvedReferenceError

__all__ = ["ControlServer", "GoneError", "ask", "remove", "sockets"]

_log = logging.getLogger(__name__)
_SUFFIX = ".sock"
_LONGEST_REQUEST = 4096
_PEER = struct.Struct("3i")
_ANSWER_SECONDS = 120


class GoneError(AgentError):
    """A socket is there, and the application that listened at it has ended."""


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """Open a directory that only this user can use.

    Raises:
        OSError: it is missing, a link, another user's, or open to others.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise PermissionError(
                errno.EPERM, "it must be a directory of this user with permissions 0700", str(folder)
            )
        yield descriptor
    finally:
        os.close(descriptor)


def _own() -> str:
    """How the names of this user's directories begin."""
    return f"sparkconfig-{os.geteuid()}-"


def _within(descriptor: int, name: str) -> str:
    """The address of a socket in an open directory: sockets know no relative names."""
    return f"/proc/self/fd/{descriptor}/{name}"


def _roots() -> Iterator[Path]:
    """Where this user's sockets may lie: in the session's runtime directory, or in the temporary one."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        yield Path(runtime)
    import tempfile  # slow to import, and a start with a runtime directory needs none

    yield Path(tempfile.gettempdir())


def sockets() -> dict[str, Path]:
    """Return the sockets of this user's applications: application id to path. Some may be dead.

    Where two have one id, in two directories, the second goes by its path.
    """
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(each for root in _roots() for each in sorted(root.glob(f"{_own()}*"))):
        with contextlib.suppress(OSError), _opened(folder) as descriptor:
            for name in sorted(os.listdir(descriptor)):  # noqa: PTH208 - a path would be another look
                if name.endswith(_SUFFIX) and _is_socket(descriptor, name):
                    path = folder / name
                    found[path.stem if path.stem not in found else str(path)] = path
    return found


def _is_socket(descriptor: int, name: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except FileNotFoundError:  # its application has just ended
        return False


def remove(path: Path) -> None:
    """Remove a socket without a listener, and its directory, if that is this user's."""
    with contextlib.suppress(OSError), _opened(path.parent) as descriptor:
        if _is_socket(descriptor, path.name):
            os.unlink(path.name, dir_fd=descriptor)
            path.parent.rmdir()


def ask(path: Path, call: str) -> dict[str, Any]:
    """Send one call to a socket and return its answer.

    Raises:
        GoneError: there is no listener any more.
        AgentError: no answer in time, or a refusal.
        UnresolvedReferenceError: references have no value, all of them in one error.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(_ANSWER_SECONDS)
            with _opened(path.parent) as descriptor:
                client.connect(_within(descriptor, path.name))
            client.sendall(json.dumps({"call": call}).encode() + b"\n")
            received = b"".join(iter(lambda: client.recv(65536), b""))
        answer = json.loads(received)
    except ConnectionRefusedError:
        raise GoneError(f"no application listens at {path} any more") from None
    except (OSError, ValueError) as error:
        raise AgentError(f"no application answers at {path}: {type(error).__name__}") from None
    if answer.get("problems"):
        raise UnresolvedReferenceError([str(problem) for problem in answer["problems"]])
    if not answer.get("ok"):
        raise AgentError(
            str(answer.get("message", "the application refused, without saying why; its driver's log may"))
        )
    return dict(answer)


class ControlServer:
    """Answers calls on the socket of one application until it is closed.

    Args:
        application_id: names the socket.
        calls: what may be asked, each giving what goes into the answer.
    """

    def __init__(self, application_id: str, calls: dict[str, Callable[[], dict[str, Any]]]) -> None:
        self._calls = calls
        if not application_id or "/" in application_id or application_id.startswith("."):
            raise ConfigurationError("the application's id cannot name a socket")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # A directory of its own: two standalone masters give one id to applications that start in one second.
        self.path = next(_roots()) / f"{_own()}{os.urandom(8).hex()}" / (application_id + _SUFFIX)
        try:
            self.path.parent.mkdir(mode=0o700)
            with _opened(self.path.parent) as descriptor:
                self._listener.bind(_within(descriptor, self.path.name))
                os.chmod(self.path.name, 0o600, dir_fd=descriptor)
                self._listener.listen(8)
        except OSError as error:
            self.close()
            raise ConfigurationError(f"cannot listen on {self.path}: {error.strerror or error}") from None
        daemon("control", self._serve).start()

    def close(self) -> None:
        """Stop listening, and remove the socket with its directory."""
        remove(self.path)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            _log.debug("the control socket was closed already")
        self._listener.close()

    def _serve(self) -> None:
        for client in self._clients():
            # A thread of its own: a slow client, or one that waits for stores, holds up no other.
            daemon("control-answer", partial(self._answer_to, client)).start()

    def _answer_to(self, client: socket.socket) -> None:
        try:
            with client:
                client.settimeout(10)
                self._answer(client)
        except Exception as error:  # noqa: BLE001 - one bad client costs one log line
            _log.warning("a request on the control socket failed: %s", type(error).__name__)

    def _clients(self) -> Iterator[socket.socket]:
        while True:
            try:
                yield self._listener.accept()[0]
            except OSError:
                return

    def _answer(self, client: socket.socket) -> None:
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        _, user, _ = _PEER.unpack(credentials)
        if user not in (0, os.geteuid()):
            _log.warning("user %d may not control this application", user)
            return
        line = client.makefile("rb").readline(_LONGEST_REQUEST)
        if not line:  # a caller only checked whether this application lives
            return
        request = json.loads(line)
        name = str(request.get("call"))
        try:
            call = self._calls.get(name)
            answer: dict[str, Any] = {"ok": False, "message": f"the application knows no call named '{name}'"}
            if call is not None:
                answer = {"ok": True, **call()}
        except UnresolvedReferenceError as error:
            answer = {"ok": False, "problems": error.problems}
        except SparkConfigError as error:
            answer = {"ok": False, "type": type(error).__name__, "message": str(error)}
        except Exception as error:  # noqa: BLE001 - only its type may leave the process
            answer = {"ok": False, "message": f"the application failed with {type(error).__name__}"}
        client.sendall(json.dumps(answer).encode())

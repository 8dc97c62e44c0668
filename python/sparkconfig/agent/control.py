"""The control socket of a running application: ``sparkconfig refresh APP`` speaks to its side process.

It is a Unix socket named by the application's id, mode 0600, in a directory of mode 0700 that belongs to the user
who runs the driver; besides, the kernel says who connects, and only that user and root are answered. One line of
JSON each way.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import stat
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sparkconfig.errors import AgentError, ConfigurationError, SparkConfigError, UnresolvedReferenceError

__all__ = ["ControlServer", "ask", "sockets"]

_log = logging.getLogger(__name__)
_SUFFIX = ".sock"
_LONGEST_REQUEST = 4096
_PEER = struct.Struct("3i")
_ANSWER_SECONDS = 120
_BIND_ATTEMPTS = 20


def _own_folder() -> Path:
    """Where this user's sockets lie: below the session's runtime directory, or the temporary one."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "sparkconfig"
    return Path(tempfile.gettempdir()) / f"sparkconfig-{os.getuid()}"


def _checked(folder: Path) -> bool:
    """Whether a folder is a real directory that only its owner, who may be asked for, can use."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and stat.S_IMODE(status.st_mode) & 0o077 == 0
        and (status.st_uid == os.getuid() or os.geteuid() == 0)
    )


def sockets() -> dict[str, Path]:
    """Return the sockets of applications that may be asked: application id to path. Some may be dead."""
    temporary = Path(tempfile.gettempdir())
    folders = {_own_folder(), temporary / f"sparkconfig-{os.getuid()}"}
    if os.geteuid() == 0:
        folders |= set(temporary.glob("sparkconfig-[0-9]*")) | set(Path("/run/user").glob("*/sparkconfig"))
    return {
        path.name.removesuffix(_SUFFIX): path
        for folder in sorted(folders)
        if _checked(folder)
        for path in sorted(folder.glob("*" + _SUFFIX))
    }


def ask(path: Path, call: str) -> dict[str, Any]:
    """Send one call to a socket and return its answer.

    Raises:
        AgentError: nobody listens there any more.
        UnresolvedReferenceError: references have no value, all of them in one error.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(_ANSWER_SECONDS)
            client.connect(str(path))
            client.sendall(json.dumps({"call": call}).encode() + b"\n")
            received = b"".join(iter(lambda: client.recv(65536), b""))
        answer = json.loads(received)
    except (OSError, ValueError) as error:
        raise AgentError(f"no application answers at {path}: {type(error).__name__}") from None
    if answer.get("problems"):
        raise UnresolvedReferenceError([str(problem) for problem in answer["problems"]])
    if not answer.get("ok"):
        raise AgentError(str(answer.get("message", "the application gave no reason")))
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
        self.path = _own_folder() / (application_id + _SUFFIX)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._bind()
            self.path.chmod(0o600)
            self._listener.listen(8)
        except OSError as error:
            self.close()
            raise ConfigurationError(f"cannot listen on {self.path}: {error.strerror or error}") from None
        except ConfigurationError:
            self._listener.close()
            raise
        threading.Thread(target=self._serve, name="sparkconfig-control", daemon=True).start()

    def _bind(self) -> None:
        folder = self.path.parent
        for attempt in range(_BIND_ATTEMPTS):
            folder.mkdir(mode=0o700, exist_ok=True)
            if not _checked(folder) and folder.exists():
                raise ConfigurationError(f"{folder} must be a directory of this user with permissions 0700")
            self.path.unlink(missing_ok=True)
            try:
                self._listener.bind(str(self.path))
            except FileNotFoundError:  # another application has just ended, and removed the empty folder
                if attempt == _BIND_ATTEMPTS - 1:
                    raise
            else:
                return

    def close(self) -> None:
        """Stop listening and remove the socket, and the folder with the last one."""
        self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            _log.debug("the control socket was closed already")
        self._listener.close()

    def _serve(self) -> None:
        for client in self._clients():
            try:
                with client:
                    client.settimeout(10)
                    self._answer(client)
            except Exception as error:  # noqa: BLE001 - one bad client must not end the service
                _log.warning("a control call failed: %s", type(error).__name__)

    def _clients(self) -> Iterator[socket.socket]:
        while True:
            try:
                yield self._listener.accept()[0]
            except OSError:
                return

    def _answer(self, client: socket.socket) -> None:
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        _, user, _ = _PEER.unpack(credentials)
        if user not in (0, os.getuid()):
            _log.warning("user %d may not control this application", user)
            return
        request = json.loads(client.makefile("rb").readline(_LONGEST_REQUEST))
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

"""Values that a command prints: for stores that have a client of their own."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Set
from pathlib import Path
from typing import IO

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.selection import SELECTION, Selection
from sparkconfig.providers._kit.store import NETWORK, TTL, StoreProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["ExecConfigProvider"]

_PIECE = 64 * 1024
_ALWAYS = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE")
_HOLES = re.compile(r"\{(path|key)\}")
_OF_JSON = tuple(param.name for param in SELECTION)


class ExecConfigProvider(StoreProvider):
    """Runs a program, never a shell, and takes what it prints."""

    alias = "exec"
    store = "what a command prints"
    table = (
        Param(
            "command",
            "program and arguments; quote those with blanks. `{path}` and `{key}` come from the reference. With"
            " `{key}` the program runs once for each key",
            required=True,
        ),
        Param(
            "format", "`text`: the output, without its last line end, is the value; `json`: an object of fields",
            default="text", choices=("text", "json"),
        ),
        *SELECTION,
        Param("allowed", "regular expression that each path and key must match as a whole", default=r"[\w][\w.@/+-]*"),
        Param("environment", "variables that the program gets besides " + ", ".join(f"`{name}`" for name in _ALWAYS)),
        Param("directory", "the program's working directory", default="/"),
        Param("output.limit", "how much it may print, in bytes", default="262144"),
        Param("denied.statuses", "exit statuses that mean \"not allowed\", separated by commas"),
        Param("missing.statuses", "exit statuses that mean \"not there\", separated by commas"),
        TTL,
        *NETWORK,
    )  # fmt: skip
    paths = "`${pass:shop/db:password}`: what the command makes of path and key; with `json`, keys are fields"
    auth = (
        "the program's own login, as the driver's user: its configuration, or the variables in `environment`"
    )

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each run has what is left
        try:
            self._argv = shlex.split(values.text("command"))
        except ValueError:
            self._argv = []
        if not self._argv:
            raise values.wrong("command", "is empty or has an unclosed quote")
        program = shutil.which(self._argv[0])
        if program is None or _HOLES.search(self._argv[0]):
            raise values.wrong("command", "does not name a program that can run here", self._argv[0])
        self._argv[0] = str(Path(program).absolute())
        self._json = values.text("format") == "json"
        self._each = any("{key}" in argument for argument in self._argv)
        self._selection = Selection(values)
        if not self._json and (given := [name for name in _OF_JSON if values.optional(name)]):
            raise values.wrong(given[0], "selects from JSON; set format=json")
        if not self._json and not self._each:
            raise values.wrong("command", "has no {key}; set format=json, or add {key}")
        self._allowed = values.text("allowed")
        self._pattern = values.expression("allowed")
        self._names = {*_ALWAYS, *values.patterns("environment")}
        self._directory = values.text("directory")
        if not Path(self._directory).is_dir():
            raise values.wrong("directory", "is not a directory", self._directory)
        self._limit = values.number("output.limit", 1)
        self._statuses = {name: self._numbers(values, f"{name}.statuses") for name in ("denied", "missing")}

    @staticmethod
    def _numbers(values: ParamValues, name: str) -> frozenset[int]:
        parts = values.patterns(name)
        if not all(part.isascii() and part.isdigit() and 0 < int(part) < 256 for part in parts):
            raise values.wrong(name, "must be numbers from 1 to 255, separated by commas")
        return frozenset(map(int, parts))

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        where = self._where(path)
        deadline = time.monotonic() + left
        if not self._each:
            found = self._fields(where, self._run(where, path, "", deadline), keys)
            return ConfigData(found, ttl=self._ttl)
        if keys is None:
            raise ConfigurationError(f"{where}: the command wants a {{key}} and cannot list; name the keys")
        values: dict[str, str] = {}
        for key in sorted(keys):
            text = self._run(where, path, key, deadline)
            if text is None:
                continue
            if self._json:
                values.update(self._fields(where, text, {key}))
            else:
                values[key] = text.removesuffix("\n").removesuffix("\r")
        return ConfigData(values, ttl=self._ttl)

    def _fields(self, where: str, text: str | None, keys: Set[str] | None) -> dict[str, str]:
        if text is None:
            raise SecretNotFoundError(f"{where}: the command says that it is not there")
        return self._selection.fields_of_text(text, keys, f"{where}: what the command prints")

    def _run(self, where: str, path: str, key: str, deadline: float) -> str | None:
        """Return what the command prints, or None if it says that there is no such thing."""
        for name, text in (("path", path), ("key", key)):
            if text and self._pattern.fullmatch(text) is None:
                raise AccessDeniedError(
                    f"{where}: the {name} does not match the param allowed: {self._allowed}"
                )
            if ".." in text.split("/"):
                raise AccessDeniedError(f"{where}: the {name} leads out of its folder")
        given = {"path": path, "key": key}
        argv = [_HOLES.sub(lambda hole: given[hole[1]], argument) for argument in self._argv]
        environment = {name: os.environ[name] for name in self._names if name in os.environ}
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=self._directory, env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            failure = ProviderUnavailableError(
                f"{where}: the command cannot be started ({type(error).__name__})"
            )
        else:
            try:
                return self._answer(where, process, deadline)
            finally:
                self._end(process)
        raise failure

    def _printed(self, where: str, pipe: IO[bytes], deadline: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        with selectors.DefaultSelector() as ready:
            ready.register(pipe, selectors.EVENT_READ)
            while True:
                if not ready.select(max(0.0, deadline - time.monotonic())):
                    raise ProviderTimeoutError(f"{where}: the command did not end in time, and was killed")
                piece = os.read(pipe.fileno(), _PIECE)
                if not piece:
                    return b"".join(pieces)
                size += len(piece)
                if size > self._limit:
                    raise ProviderError(
                        f"{where}: the command printed more than output.limit ({self._limit} bytes), and was killed"
                    )
                pieces.append(piece)

    def _answer(self, where: str, process: subprocess.Popen[bytes], deadline: float) -> str | None:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        printed = self._printed(where, process.stdout, deadline)
        try:
            status = process.wait(max(0.01, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            status = None
        if status is None:
            raise ProviderTimeoutError(f"{where}: the command did not end in time, and was killed")
        if status in self._statuses["missing"]:
            return None
        if status in self._statuses["denied"]:
            raise AccessDeniedError(f"{where}: the command says that it is not allowed (status {status})")
        if status:
            raise ProviderUnavailableError(
                f"{where}: the command ended with status {status}; run it by hand to see why, since what it says may"
                " hold secrets and is not shown"
            )
        try:
            return printed.decode("utf-8")
        except UnicodeDecodeError:
            pass
        raise ProviderError(f"{where}: the command printed something that is not UTF-8 text")

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        """Leave nothing behind: the program may have started others."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()

"""Which paths a provider may read, and reading a file in one consistent piece (Kafka: ``AllowedPaths``)."""

from __future__ import annotations

import errno
import os
import stat

from sparkconfig._text import shorten
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)

__all__ = ["ALLOWED_PATHS_DOC", "MAX_BYTES", "AllowedPaths", "failure", "read_file"]

ALLOWED_PATHS_DOC = (
    "absolute paths of files, or of directories with all below them, separated by commas (not trimmed), that may"
    " be read; symbolic links do not lead out; unset: everything that the process may read"
)
MAX_BYTES = 32 << 20
_ATTEMPTS = 10
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EISDIR, errno.ENXIO, errno.EINVAL}
_DENIED = {errno.EACCES, errno.EPERM, errno.ELOOP}


class AllowedPaths:
    """The paths of ``allowed.paths``.

    The check has two parts: the normalised path, as it is written, lies below an allowed one (Kafka's rule),
    and so does the real path, below the real path of an allowed one: a link does not lead out.

    Args:
        config: the param's text; None or empty allows everything.

    Raises:
        ConfigurationError: an entry is not absolute, or does not exist.
    """

    def __init__(self, config: str | None) -> None:
        self._roots: list[str] | None = None
        if not config:
            return
        entries = config.split(",")
        while entries and not entries[-1]:  # as Java splits
            entries.pop()
        self._roots = [_normalise(entry) for entry in entries]
        for root in self._roots:
            if not root.startswith("/"):
                raise ConfigurationError(f"Path {root} is not absolute")
            if not os.path.exists(root):  # noqa: PTH110 - texts throughout, as Path changes them
                raise ConfigurationError(f"Path {root} does not exist")

    @property
    def limited(self) -> bool:
        """Whether there is a list at all."""
        return self._roots is not None

    def usable(self, path: str) -> str | None:
        """Return the path to open, or None if it is not allowed. Without a list it is the path as given.

        Raises:
            SecretNotFoundError: no file can have such a name.
        """
        if "\0" in path:
            raise SecretNotFoundError(f"'{shorten(path)}' cannot be the path of a file")
        if self._roots is None:
            return _collapse(path)
        normal = _normalise(path)
        if not any(_below(normal, root) for root in self._roots):
            return None
        return normal if self.allows_real(os.path.realpath(normal)) else None

    def allows_real(self, real: str) -> bool:
        """Whether a path without symbolic links lies below the real path of an allowed one."""
        return self._roots is None or any(_below(real, os.path.realpath(root)) for root in self._roots)

    def open(self, path: str) -> int:
        """Open the file at a usable path and return its descriptor, checked once more after the opening.

        Raises:
            OSError: as ``os.open``.
            AccessDeniedError: the path changed to one that is not allowed.
        """
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
        if self._roots is None:
            return os.open(path, flags)
        real = os.path.realpath(path)
        if not self.allows_real(real):
            raise AccessDeniedError(f"'{shorten(path)}' leads out of allowed.paths")
        # The real path has no link in it; one that appears now was put there after the check.
        return os.open(real, flags | os.O_NOFOLLOW)


def read_file(path: str, allowed: AllowedPaths) -> bytes:
    """Read a regular file of at most 32 MiB as it was at one moment.

    Raises:
        ProviderError: see :func:`failure`; ProviderUnavailableError: it kept changing, or is too large.
    """
    try:
        for _ in range(_ATTEMPTS):
            descriptor = allowed.open(path)
            try:
                before = os.fstat(descriptor)
                if not stat.S_ISREG(before.st_mode):
                    raise SecretNotFoundError(f"'{shorten(path)}' is not a regular file")
                if before.st_size > MAX_BYTES:
                    break
                content = _read(descriptor, before.st_size)
                after = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            if len(content) == before.st_size and _version(before) == _version(after):
                return content
            if len(content) > MAX_BYTES:
                break
    except (OSError, ValueError) as error:
        problem = failure(error, path)
    else:
        large = f"has more than {MAX_BYTES >> 20} MiB"
        reason = (
            large if before.st_size > MAX_BYTES or len(content) > MAX_BYTES else "changes while it is read"
        )
        problem = ProviderUnavailableError(f"'{shorten(path)}' {reason}")
    raise problem


def _read(descriptor: int, size: int) -> bytes:
    content = os.read(descriptor, size + 1)
    if len(content) == size:
        return content
    parts = [content]
    while parts[-1] and sum(map(len, parts)) <= MAX_BYTES:
        parts.append(os.read(descriptor, 1 << 20))
    return b"".join(parts)


def _version(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def failure(error: OSError | ValueError, path: str) -> ProviderError:
    """Say what a failed file operation means: "not found", "not allowed", or "not reachable"."""
    if not isinstance(error, OSError):  # a name that the system cannot have: NUL, lone surrogates
        return SecretNotFoundError(f"'{shorten(path)}' cannot be the path of a file")
    reason = f"'{shorten(path)}': {error.strerror}"
    if error.errno in _DENIED:
        return AccessDeniedError(reason)
    if error.errno in _GONE:
        return SecretNotFoundError(reason)
    return ProviderUnavailableError(reason)


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def _collapse(path: str) -> str:
    """As ``Paths.get``: one slash between names, none at the end; ``.`` and ``..`` stay."""
    names = [name for name in path.split("/") if name]
    return ("/" if path.startswith("/") else "") + "/".join(names)


def _normalise(path: str) -> str:
    """As ``Paths.get(path).normalize()``: ``.`` and, where a name precedes, ``..`` vanish; may become empty."""
    names: list[str] = []
    absolute = path.startswith("/")
    for name in path.split("/"):
        if name in ("", "."):
            continue
        if name == "..":
            if names and names[-1] != "..":
                names.pop()
                continue
            if absolute:
                continue
        names.append(name)
    return ("/" if absolute else "") + "/".join(names)

"""Which paths a provider may read, and reading a file in one consistent piece (Kafka: ``AllowedPaths``)."""

from __future__ import annotations

import errno
import os
import stat

from sparkconfig._base.real_paths import is_below, open_below, real_path
from sparkconfig._base.text import shorten
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

    def usable(self, path: str) -> str | None:
        """Return the path to open, or None if it is not allowed. Without a list it is the path as given.

        Raises:
            SecretNotFoundError: no file can have such a name.
            ProviderError: a link on the way cannot be followed, or keeps changing.
        """
        if "\0" in path:
            raise SecretNotFoundError(f"'{shorten(path)}' cannot be the path of a file")
        if self._roots is None:
            return _collapse(path)
        normal = _normalise(path)
        if not any(is_below(normal, root) for root in self._roots):
            return None
        return normal if self.leads_inside(normal) else None

    def leads_inside(self, path: str) -> bool:
        """Whether the real path of a file lies below the real path of an allowed one.

        Raises:
            ProviderError: a link on the way cannot be followed, or keeps changing.
        """
        return self._roots is None or self._root_above(_real(path)) is not None

    def open(self, path: str, *, directory: bool = False) -> int:
        """Open the file or the directory at a usable path and return its descriptor.

        With a list, no link is followed that came after the check: a directory on the way that is swapped for a link
        does not lead out. What changes honestly is looked up again.

        Raises:
            OSError: as ``os.open``.
            AccessDeniedError: the path leads to one that is not allowed.
            ProviderError: a link on the way cannot be followed, or the path keeps changing.
        """
        flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECTORY if directory else os.O_NONBLOCK)
        if self._roots is None:
            return os.open(path, flags)
        failed = None
        for _ in range(_ATTEMPTS):
            real = _real(path)
            root = self._root_above(real)
            if root is None:
                raise AccessDeniedError(f"'{shorten(path)}' leads out of allowed.paths")
            try:
                return open_below(root, real, flags)
            except OSError:
                if real == failed:
                    raise
                failed = real
        raise ProviderUnavailableError(f"'{shorten(path)}' changes while it is opened")

    def _root_above(self, real: str) -> str | None:
        """The real path of the allowed path above a real path."""
        roots = (_real(root) for root in self._roots or ())
        return next((root for root in roots if is_below(real, root)), None)


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


def _real(path: str) -> str:
    try:
        return real_path(path)
    except (OSError, ValueError) as error:
        problem = failure(error, path)
    raise problem


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

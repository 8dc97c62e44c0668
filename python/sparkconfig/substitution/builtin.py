"""The built-in types that read from outside: ``envVar``, ``sysProp`` and ``file`` (KIP-269).

``keyValue`` reads from the map itself and is part of the evaluator.
"""

# ruff: noqa: FBT001 - the KIP says which arguments, in which order

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping

from sparkconfig._base.real_paths import open_below, real_path
from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution.allowlists import Allowlists
from sparkconfig.substitution.command import Modifiers
from sparkconfig.substitution.redactable import RedactableObject

__all__ = ["BUILTIN_TYPES", "KEY_VALUE", "MAX_FILE_BYTES", "ReadFile", "Source", "make_sources"]

KEY_VALUE = "keyValue"
BUILTIN_TYPES = frozenset({"envVar", "sysProp", "file", KEY_VALUE})
MAX_FILE_BYTES = 1 << 20

ReadFile = Callable[[str], str | None]
"""Path to content; None: no regular file there. Raises SubstitutionError: it must not or cannot be read."""


class Source:
    """A built-in type: an identifier to a text, each read once, so that one generation sees one answer."""

    __slots__ = ("_read", "_seen")

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._seen: dict[str, RedactableObject | None] = {}

    def retrieve(self, identifier: str, _modifiers: Modifiers, _redact: bool) -> RedactableObject | None:
        """Return the text of ``identifier``, None if it does not exist."""
        seen = self._seen
        if identifier in seen:
            return seen[identifier]
        text = self._read(identifier)
        found = None if text is None else RedactableObject(text)
        seen[identifier] = found
        return found


def make_sources(
    allow: Allowlists, environ: Mapping[str, str], sysprops: Mapping[str, str], read_file: ReadFile | None
) -> dict[str, Source]:
    """Return type name to source, for one generation."""

    def env(name: str) -> str | None:
        if not allow.env(name):
            raise SubstitutionError(_forbidden("envVar", "environment variable"))
        try:
            return environ.get(name)
        except ValueError:  # a name that the system cannot have: a lone surrogate, a NUL
            return None

    def sysprop(name: str) -> str | None:
        if not allow.sysprop(name):
            raise SubstitutionError(_forbidden("sysProp", "system property"))
        return sysprops.get(name) if name else None

    def file(path: str) -> str | None:
        return _read_allowed(path, allow)

    return {"envVar": Source(env), "sysProp": Source(sysprop), "file": Source(read_file or file)}


def _forbidden(kind: str, what: str) -> str:
    return f"Type={kind}: this {what} is not on the allowlist; the operator can add it"


def _unreadable(error: OSError) -> SubstitutionError:
    return SubstitutionError(f"Type=file: the file cannot be read ({error.strerror})")


def _read_allowed(path: str, allow: Allowlists) -> str | None:
    """Read a regular file of at most 1 MiB; malformed UTF-8 becomes U+FFFD."""
    try:
        real = real_path(path) if path else ""
        root = allow.root_above(real)
        if root is None:
            raise SubstitutionError(_forbidden("file", "file"))
        # Look before opening: opening a device or a pipe may already do something.
        if not real or not stat.S_ISREG(os.stat(real).st_mode):  # noqa: PTH116 - no Path needed in between
            return None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise _unreadable(error) from None
    try:
        # The real path has no link in it: one that appears now was put there after the check, and is an error.
        descriptor = open_below(root, real, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(error) from None
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            content = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise _unreadable(error) from None
    if len(content) > MAX_FILE_BYTES:
        raise SubstitutionError(f"Type=file: the file has more than {MAX_FILE_BYTES} bytes")
    return content.decode("utf-8", "replace")

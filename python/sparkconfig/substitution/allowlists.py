"""What the built-in types may read: the same kind of allowlists as the providers'."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig._base.real_paths import is_below
from sparkconfig.errors import ConfigurationError

__all__ = ["Allowlists"]

_MAX_NAME = 1024


@dataclass(frozen=True)
class Allowlists:
    """Limits for ``file``, ``envVar`` and ``sysProp``: None allows everything, empty allows nothing.

    Attributes:
        file_paths: absolute paths of files, or of directories with all that is below them. Compared after
            following symbolic links, so that no link leads out.
        env_pattern: regular expression that the whole name of a variable must match.
        sysprop_pattern: the same for system properties.

    Raises:
        ConfigurationError: a path is not absolute, or a pattern is not a regular expression.
    """

    file_paths: Sequence[str] | None = None
    env_pattern: str | None = None
    sysprop_pattern: str | None = None
    _roots: tuple[str, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _env: re.Pattern[str] | None = field(default=None, init=False, repr=False, compare=False)
    _sysprop: re.Pattern[str] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.file_paths, str):
            raise ConfigurationError("the allowed paths of $[file=...] must be a list of paths, not one text")
        if self.file_paths is not None:
            for path in self.file_paths:
                if not Path(path).is_absolute():
                    raise ConfigurationError(f"allowed path of $[file=...] must be absolute: {path!r}")
            object.__setattr__(self, "_roots", tuple(os.path.realpath(path) for path in self.file_paths))
        object.__setattr__(self, "_env", _compile("envVar", self.env_pattern))
        object.__setattr__(self, "_sysprop", _compile("sysProp", self.sysprop_pattern))

    def root_above(self, real_path: str) -> str | None:
        """Return the allowed path above the file whose path without symbolic links is ``real_path``.

        None: it may not be read. Where everything is allowed, ``/`` is above all.
        """
        if self._roots is None:
            return "/"
        return next((root for root in self._roots if is_below(real_path, root)), None)

    def env(self, name: str) -> bool:
        """Return whether the environment variable ``name`` may be read."""
        return _matches(self._env, name)

    def sysprop(self, name: str) -> bool:
        """Return whether the system property ``name`` may be read."""
        return _matches(self._sysprop, name)


def _compile(kind: str, pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(f"the allowlist pattern of $[{kind}=...] is wrong: {error}") from None


def _matches(pattern: re.Pattern[str] | None, name: str) -> bool:
    if pattern is None:
        return True
    # The pattern is the operator's, the name is not: an overlong one is not a name and never reaches the engine.
    return bool(pattern.pattern) and len(name) <= _MAX_NAME and pattern.fullmatch(name) is not None

"""What the exit code of ``sparkconfig`` says; docs/cli.md has the same table and a test compares them."""

from __future__ import annotations

import errno
import os
from enum import IntEnum
from pathlib import Path

from sparkconfig.errors import (
    AccessDeniedError,
    AgentError,
    ConfigurationError,
    PolicyViolationError,
    ProviderError,
    ProviderUnavailableError,
    SealedFileError,
    SecretNotFoundError,
    SparkConfigError,
    SubstitutionError,
    UnresolvedReferenceError,
)

__all__ = ["ExitCode", "FileError", "check_exists", "code_for"]

_TRY_ANOTHER = frozenset(
    {errno.EFBIG, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO}
)
"""Trying the same path again cannot help."""


class ExitCode(IntEnum):
    """One code for each way to go on: scripts tell "try again" from "repair something"."""

    OK = 0
    UNRESOLVED = 1
    """The check was made and found references without a value, or secrets that stay in clear."""
    USAGE = 2
    """The command line is wrong."""
    CONFIGURATION = 3
    """A setting, a provider's params, a name or the installation is wrong."""
    NOT_FOUND = 4
    """A file, section or key does not exist."""
    DENIED = 5
    """No permission, a wrong key, or a key file that others can read."""
    UNAVAILABLE = 6
    """A store or file cannot be reached now; trying again may help."""
    DAMAGED = 7
    """A sealed file was changed behind its owner's back, or is not a sealed file."""
    REFUSED = 8
    """The check was made, and a policy refuses something."""
    INTERNAL = 70
    """A mistake in sparkconfig itself."""
    INTERRUPTED = 130
    """Ctrl-C."""


class FileError(ConfigurationError):
    """A file that the command line names cannot be read or changed.

    Attributes:
        code: the exit code.
    """

    def __init__(self, path: Path, error: OSError, *, verb: str = "read") -> None:
        reason = error.strerror or type(error).__name__
        shown = str(path)
        self.code = ExitCode.UNAVAILABLE
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            self.code = ExitCode.NOT_FOUND
        elif isinstance(error, PermissionError):
            self.code = ExitCode.DENIED
            reason += f" for user {os.geteuid()}; give this user access, or run the command as one who has it"
        elif error.errno in _TRY_ANOTHER:
            self.code = ExitCode.CONFIGURATION
        if error.errno == errno.ENAMETOOLONG:
            # Hardly a name that anybody chose: it may be a secret in the wrong place.
            shown = f"a path of {len(shown)} characters"
            reason += "; name a shorter one"
        super().__init__(f"{shown} cannot be {verb}: {reason}")

    @classmethod
    def about(cls, error: OSError) -> FileError | None:
        """Return what to say about an unexpected error; None: it is about no file."""
        name = error.filename
        return cls(Path(os.fsdecode(name)), error) if isinstance(name, str | bytes) and name else None


def check_exists(path: Path | None) -> None:
    """Do nothing if the command line names no such file, or one that is there.

    Raises:
        FileError: it is not there, or its folder may not be entered.
    """
    if path is None:
        return
    try:
        path.stat()
    except OSError as error:
        raise FileError(path, error) from None


def code_for(error: SparkConfigError) -> ExitCode:
    """Return the code of an error."""
    if isinstance(error, FileError):
        return error.code
    if isinstance(error, SealedFileError):
        return _code_for_sealed(error)
    codes = {
        UnresolvedReferenceError: ExitCode.UNRESOLVED,
        PolicyViolationError: ExitCode.REFUSED,
        ConfigurationError: ExitCode.CONFIGURATION,
        SecretNotFoundError: ExitCode.NOT_FOUND,
        AccessDeniedError: ExitCode.DENIED,
        ProviderUnavailableError: ExitCode.UNAVAILABLE,
        AgentError: ExitCode.UNAVAILABLE,  # an application that has ended, or has no answer
        SubstitutionError: ExitCode.UNRESOLVED,
        ProviderError: ExitCode.CONFIGURATION,  # the provider's own code breaks its contract
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), ExitCode.INTERNAL)


def _code_for_sealed(error: SealedFileError) -> ExitCode:
    from sparkconfig.sealed import failures

    if isinstance(error, failures.EntryNotFoundError | failures.FileMissingError | failures.KeyMissingError):
        return ExitCode.NOT_FOUND
    if isinstance(error, failures.FileForbiddenError | failures.KeyUnusableError | failures.WrongKeyError):
        return ExitCode.DENIED
    if isinstance(error, failures.NotAFileError):
        return ExitCode.CONFIGURATION
    if isinstance(error, failures.FileAccessError):
        return ExitCode.UNAVAILABLE
    return ExitCode.DAMAGED

"""What the exit code of ``sparkconfig`` says; docs/cli.md has the same table and a test compares them."""

from __future__ import annotations

from enum import IntEnum

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    PolicyViolationError,
    ProviderUnavailableError,
    SealedFileError,
    SecretNotFoundError,
    SparkConfigError,
    UnresolvedReferenceError,
)

__all__ = ["ExitCode", "code_for"]


class ExitCode(IntEnum):
    """One code for each way to go on: scripts tell "try again" from "repair something"."""

    OK = 0
    UNRESOLVED = 1
    """The check was made and found references without a value."""
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
    """A sealed file was changed behind its owner's back, or is no sealed file."""
    REFUSED = 8
    """The check was made, and a policy refuses something."""
    INTERNAL = 70
    """A mistake in sparkconfig itself."""
    INTERRUPTED = 130
    """Ctrl-C."""


def code_for(error: SparkConfigError) -> ExitCode:
    """Return the code of an error."""
    if isinstance(error, SealedFileError):
        return _code_for_sealed(error)
    codes = {
        UnresolvedReferenceError: ExitCode.UNRESOLVED,
        PolicyViolationError: ExitCode.REFUSED,
        ConfigurationError: ExitCode.CONFIGURATION,
        SecretNotFoundError: ExitCode.NOT_FOUND,
        AccessDeniedError: ExitCode.DENIED,
        ProviderUnavailableError: ExitCode.UNAVAILABLE,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), ExitCode.INTERNAL)


def _code_for_sealed(error: SealedFileError) -> ExitCode:
    from sparkconfig.sealed import failures

    if isinstance(error, failures.EntryNotFoundError | failures.FileMissingError | failures.KeyMissingError):
        return ExitCode.NOT_FOUND
    if isinstance(error, failures.FileForbiddenError | failures.KeyUnusableError | failures.WrongKeyError):
        return ExitCode.DENIED
    if isinstance(error, failures.FileAccessError):
        return ExitCode.UNAVAILABLE
    return ExitCode.DAMAGED

"""What can be wrong with a sealed file; the kind decides what a provider answers and the command's exit code."""

from __future__ import annotations

from sparkconfig.errors import SealedFileError

__all__ = [
    "EntryNotFoundError",
    "FileAccessError",
    "FileForbiddenError",
    "FileMissingError",
    "KeyMissingError",
    "KeyUnusableError",
    "MalformedFileError",
    "NotAFileError",
    "TouchedFileError",
    "UnknownVersionError",
    "WrongKeyError",
]


class FileMissingError(SealedFileError):
    """The sealed file does not exist."""


class FileAccessError(SealedFileError):
    """The operating system refuses, or fails, to read or write a file."""


class FileForbiddenError(FileAccessError):
    """This user has no permission."""


class NotAFileError(FileAccessError):
    """It is a directory, a pipe or a device: trying again cannot help."""


class MalformedFileError(SealedFileError):
    """The file is not a sealed file, or was cut off."""


class UnknownVersionError(SealedFileError):
    """The file was written by a newer version."""


class KeyMissingError(SealedFileError):
    """There is no key where one should be: no such file, or an unset variable."""


class KeyUnusableError(SealedFileError):
    """What should be a key is not one, or other users can read it."""


class WrongKeyError(SealedFileError):
    """The file was sealed with another key."""


class TouchedFileError(SealedFileError):
    """The key fits, and the content is not what was sealed: changed, moved, removed or renamed entries."""


class EntryNotFoundError(SealedFileError):
    """The file has no such section or key."""

"""Values that clients need as files: which references yield a path, and what the file holds.

The operator's words are in ``spark.config.files.text`` and ``spark.config.files.base64``; the reference itself is
written as any other. A generation carries the content beside a marker in the value; each process writes the file
where its own clients find it and puts the path in the marker's place.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import re
from collections.abc import Iterable

from sparkconfig._base.record import Record
from sparkconfig._base.text import shorten
from sparkconfig.errors import ProviderError
from sparkconfig.settings.schema import Settings

__all__ = ["FileRules", "StoredFile", "marker", "matcher", "name_of"]

_LONGEST_NAME = 80


class StoredFile(Record):
    """What a file holds.

    Attributes:
        name: the reference's key, as far as a file can be named so: clients look at what follows the dot.
        content: its bytes.
    """

    name: str
    content: bytes


class FileRules:
    """Tells which references yield files.

    Args:
        text: patterns, ``*`` for any text, of references without their braces (``vault:tls:*.pem``), whose value is
            the file's text.
        base64: the same for those whose value is base64; they count first.
        key: makes names that do not tell what the file holds. Files of equal name and content have one name as long
            as this key is the same.
    """

    def __init__(self, text: Iterable[str], base64: Iterable[str], *, key: bytes) -> None:
        self._text = matcher(text)
        self._base64 = matcher(base64)
        self._key = key

    @classmethod
    def from_settings(cls, settings: Settings, key: bytes) -> FileRules | None:
        """The rules that the settings state; None if they state none."""
        if not settings.files_text and not settings.files_base64:
            return None
        return cls(settings.files_text, settings.files_base64, key=key)

    def file_of(self, provider: str, path: str, key: str, value: str) -> tuple[str, StoredFile] | None:
        """Return the id and the content of the file that a reference's value makes; None: it stays a value.

        Raises:
            ProviderError: the value is listed as base64 and is not base64.
        """
        reference = name_of(provider, path, key)
        if self._base64.fullmatch(reference) is not None:
            content = _decoded(key, path, value)
        elif self._text.fullmatch(reference) is not None:
            content = value.encode("utf-8", "surrogatepass")
        else:
            return None
        file = StoredFile(_file_name(key), content)
        # A plain hash in a path, which anybody may see, would let short contents be guessed.
        import hmac  # for applications that want files

        digest = hmac.digest(self._key, file.name.encode() + b"\0" + content, "sha256")
        return digest.hex()[:32], file


def marker(id_: str) -> str:
    """What represents a file's path until a process has written the file. The shim forms the same text."""
    return f"\x02sparkconfig-file:{id_}\x03"


def name_of(provider: str, path: str, key: str) -> str:
    """The reference without its braces, as patterns match it."""
    return f"{provider}:{path}:{key}" if path else f"{provider}:{key}"


def matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    """What matches a reference without its braces in full, if one of the patterns does; ``*`` is any text."""
    # What fnmatch makes of `*` never goes back, so that no key makes it slow; its other signs stand for themselves.
    parts = [fnmatch.translate(re.sub(r"[\[?]", r"[\g<0>]", pattern)) for pattern in patterns]
    return re.compile("|".join(parts) if parts else r"(?!)")


def _decoded(key: str, path: str, value: str) -> bytes:
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        where = f" at path '{shorten(path)}'" if path else ""
    raise ProviderError(
        f"the value of key '{shorten(key)}'{where} is not base64, as spark.config.files.base64 says;"
        " list it in spark.config.files.text if it is the file's text"
    )


def _file_name(key: str) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]", "_", key)[-_LONGEST_NAME:]
    return name.lstrip(".") or "file"

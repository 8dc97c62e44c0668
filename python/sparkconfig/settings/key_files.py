"""Files that open something, or are meant for one reader: known by name and content, in archives too."""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

__all__ = ["why_not"]

_CODE = frozenset((".jar", ".py", ".zip", ".egg", ".whl"))
#: A store of trusted certificates is for everybody, unless its content says more.
_KEYSTORE = re.compile(
    r"(?!(?!.*key).*(?:trust|cacerts)).*\.(?:jks|jceks|bcfks|bks|p12|pfx|pkcs12|pk8|ppk|key|keystore|keytab|kdbx)",
    re.IGNORECASE,
)
#: PEM; OpenSSH and PuTTY; DER of PKCS #8, #1 and #12; Kerberos; KeePass.
_CONTENT = re.compile(
    rb"(?s).*PRIVATE KEY-----|.*AGE-SECRET-KEY-1|PuTTY-User-Key-File"
    rb"|\x30(?:[\x01-\x7f]|\x81.|\x82..)\x02\x01(?:\x00[\x30\x02]|\x01\x04|\x03\x30)|\x05\x02\x00\x00|\x03\xd9\xa2\x9a"
)
#: Java's keystores, whose first entry is a key and no certificate.
_JAVA = re.compile(rb"(?s)(?:\xfe\xed\xfe\xed|\xce\xce\xce\xce).{8}\x00\x00\x00[\x01\x03]")
_SEALED_KEY = re.compile(rb"\s*(?:#[^\n]*\n\s*)*[A-Za-z0-9+/]{43}=\s*")
# Libraries have keys for their tests in them.
_LIBRARY = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|tests?|testing)/")
_HEAD = 4096
_BROKEN = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, RuntimeError, zlib.error)
_LONGEST_KEY = 64 << 10
_LONGEST_TAR = 64 << 20


def why_not(path: Path, named: set[Path], *, code: bool) -> str:
    """Why a file must not be shipped; empty if it may.

    Args:
        path: the file.
        named: what providers open.
        code: whether it is a jar or a Python file: then its permissions say nothing.
    """
    real = path.resolve()
    if real in named:
        return "a file that a provider opens"
    try:
        if not stat.S_IMODE(path.stat().st_mode) & 0o077 and not (code and path.suffix.lower() in _CODE):
            return "for its owner alone (mode 0600)"
        with path.open("rb") as file:
            why = next(filter(None, (_looks(name, file.read(_HEAD)) for name in (path.name, real.name))), "")
        if path.stat().st_size > _LONGEST_TAR and not zipfile.is_zipfile(path):
            return why
        return why or _within(
            path, {each.read_bytes() for each in named if each.stat().st_size <= _LONGEST_KEY}
        )
    except _BROKEN:
        return ""


def _looks(name: str, head: bytes) -> str:
    """What a file is by its name and its beginning; empty if it is for everybody."""
    if _KEYSTORE.fullmatch(name) or _JAVA.match(head):
        return "a keystore"
    if _CONTENT.match(head):
        return "a private key"
    return "a key of sealed files" if _SEALED_KEY.fullmatch(head) else ""


def _within(path: Path, named: set[bytes]) -> str:
    """What a member of an archive is."""
    with path.open("rb") as opened:
        for member, content in _of_zip(opened) if zipfile.is_zipfile(opened) else _of_tar(opened):
            why = "a file that a provider opens" if content in named else ""
            if not why and not _LIBRARY.search(member):
                why = _looks(PurePosixPath(member).name, content[:_HEAD])
            if why:
                return f"an archive with {why} in it ({PurePosixPath(member).name})"
    return ""


def _of_zip(file: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """The files in an archive that may be keys: short ones, and no code."""
    with zipfile.ZipFile(file) as archive:
        for each in archive.infolist():
            if 0 < each.file_size <= _LONGEST_KEY and not each.filename.endswith((".class", ".py", ".pyc")):
                yield each.filename, archive.read(each)


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r|*") as tar:
        for member in tar:
            inner = tar.extractfile(member) if member.isreg() and member.size <= _LONGEST_KEY else None
            if inner is not None:
                yield member.name, inner.read()

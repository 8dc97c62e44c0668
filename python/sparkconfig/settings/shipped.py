"""Files that Spark hands to anybody: the driver serves what it ships to executors without asking for a secret.

Spark's own RPC port answers a request for ``/files/NAME`` before it authenticates, whatever ``spark.authenticate`` and
encryption say, in local mode for jars alone; YARN copies files to its hosts. So what opens a store, or is meant for one
reader, is not shipped: neither by itself, nor in a folder or an archive.
"""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote, urlsplit

from sparkconfig.settings.schema import PREFIX

__all__ = ["REMEDY", "problems"]

REMEDY = "put the file on each host, or keep its content in a store and write a reference"

#: Of jars and Python files, the permissions say nothing: they are code.
_CODE_KEYS = ("spark.jars", "spark.submit.pyFiles", "spark.yarn.dist.jars")
_KEYS = ("spark.files", "spark.archives", "spark.yarn.dist.files", "spark.yarn.dist.archives", *_CODE_KEYS)
_CODE = frozenset((".jar", ".py", ".zip", ".egg", ".whl"))
_KEYSTORE = re.compile(
    r"(?!.*(?:trust|cacerts)).*\.(?:jks|jceks|bcfks|p12|pfx|keystore|keytab|kdbx)", re.IGNORECASE
)
_PRIVATE_KEY = b"PRIVATE KEY-----"
_SEALED_KEY = re.compile(rb"\s*(?:#[^\n]*\n\s*)*[A-Za-z0-9+/]{43}=\s*")
# Libraries have keys for their tests in them.
_LIBRARY = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|tests?|testing)/")
_HEAD = 4096
_MOST_FILES = 10_000
_LONGEST_KEY = 64 << 10
_LONGEST_TAR = 64 << 20


def problems(confs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the conf and what is wrong with a file in it."""
    params = (text for key, text in confs.items() if key.startswith(PREFIX) and ".param." in key)
    named = {path.resolve() for text in params for path in _paths(text) if path.is_file()}
    master = confs.get("spark.master", "").strip()
    local = master == "local" or master.startswith("local[")
    for key in ("spark.jars",) if local else _KEYS:
        for item in filter(None, map(str.strip, confs.get(key, "").split(","))):
            names = dict.fromkeys((item, item.partition("#")[0]))
            files = (
                file for name in names for path in _paths(name) for file in islice(_below(path), _MOST_FILES)
            )
            found = ((path, why) for path in files if (why := _why(path, named, code=key in _CODE_KEYS)))
            for path, why in islice(found, 1):
                yield (
                    key,
                    f"{path.name} is {why}, and the driver serves what is shipped to all who reach its port",
                )


def _paths(text: str) -> list[Path]:
    """The files and folders of this machine that a path, an address or a pattern names."""
    parts = urlsplit(text.strip())
    if parts.scheme not in {"", "file"} or not parts.path:
        return []
    path = Path(unquote(parts.path) if parts.scheme else text.strip())
    try:
        return [path] if path.exists() else list(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    except (OSError, ValueError, NotImplementedError):
        return []


def _below(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.is_file():
        yield path


def _why(path: Path, named: set[Path], *, code: bool) -> str:
    real = path.resolve()
    if real in named:
        return "a file that a provider opens"
    try:
        if not stat.S_IMODE(path.stat().st_mode) & 0o077 and not (code and path.suffix.lower() in _CODE):
            return "for its owner alone (mode 0600)"
        with path.open("rb") as file:
            why = next(filter(None, (_looks(name, file.read(_HEAD)) for name in (path.name, real.name))), "")
        return why or _within(
            path, {each.read_bytes() for each in named if each.stat().st_size <= _LONGEST_KEY}
        )
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, RuntimeError):
        return ""


def _looks(name: str, head: bytes) -> str:
    """What a file is by its name and its beginning; empty if it is for everybody."""
    if _KEYSTORE.fullmatch(name):
        return "a keystore"
    if _PRIVATE_KEY in head:
        return "a private key"
    return "a key of sealed files" if _SEALED_KEY.fullmatch(head) else ""


def _within(path: Path, named: set[bytes]) -> str:
    """What a member of an archive is."""
    for member, file in _members(path):
        content = file.read(_LONGEST_KEY)
        why = "a file that a provider opens" if content in named else ""
        if not why and not _LIBRARY.search(member):
            why = _looks(PurePosixPath(member).name, content[:_HEAD])
        if why:
            return f"an archive with {why} in it ({PurePosixPath(member).name})"
    return ""


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The files in an archive that may be keys: short ones."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for each in archive.infolist():
                if 0 < each.file_size <= _LONGEST_KEY and not each.filename.endswith(
                    (".class", ".py", ".pyc")
                ):
                    with archive.open(each) as file:
                        yield each.filename, file
    elif path.stat().st_size <= _LONGEST_TAR and tarfile.is_tarfile(path):
        with tarfile.open(path, "r|*") as tar:
            for member in tar:
                file_of = tar.extractfile(member) if member.isreg() and member.size <= _LONGEST_KEY else None
                if file_of is not None:
                    yield member.name, file_of

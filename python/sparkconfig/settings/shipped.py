"""Files that Spark hands to anybody: the driver serves what it ships to executors without asking for a secret.

Spark's own RPC port answers a request for ``/files/NAME`` before it authenticates, whatever ``spark.authenticate`` and
encryption say. So what opens a store, or is meant for one reader, is not shipped.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sparkconfig.settings.schema import PREFIX

__all__ = ["REMEDY", "problems"]

REMEDY = "put the file on each host, or keep its content in a store and write a reference"

_KEYS = ("spark.files", "spark.archives")
_KEYSTORES = (".jks", ".jceks", ".bcfks", ".p12", ".pfx", ".keystore", ".keytab", ".kdbx")
_PRIVATE_KEY = b"PRIVATE KEY-----"
_HEAD = 4096


def problems(confs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the conf and what is wrong with a file in it, for masters whose driver serves files by its RPC port."""
    master = confs.get("spark.master", "").strip()
    if master in {"", "local"} or master.startswith(("local[", "yarn", "k8s://")):
        return  # one process, or files that travel through HDFS or an object store
    named = {
        path.resolve()
        for key, text in confs.items()
        if key.startswith(PREFIX) and ".param." in key and (path := _local(text)) is not None
    }
    for key in _KEYS:
        for item in confs.get(key, "").split(","):
            path = _local(item.strip().partition("#")[0])
            if path is not None and (why := _why(path, named)):
                yield (
                    key,
                    f"{path.name} is {why}, and the driver serves shipped files to all who reach its port",
                )


def _local(text: str) -> Path | None:
    """A file of this machine that is there."""
    parts = urlsplit(text.strip())
    if parts.scheme not in {"", "file", "local"} or not parts.path:
        return None
    path = Path(unquote(parts.path) if parts.scheme else text.strip())
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _why(path: Path, named: set[Path]) -> str:
    if path.resolve() in named:
        return "a file that a provider opens"
    if path.suffix.lower() in _KEYSTORES:
        return "a keystore"
    try:
        if not stat.S_IMODE(path.stat().st_mode) & 0o077:
            return "for its owner alone (mode 0600)"
        with path.open("rb") as file:
            return "a private key" if _PRIVATE_KEY in file.read(_HEAD) else ""
    except OSError:
        return ""

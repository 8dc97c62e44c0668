"""Files that Spark hands to anybody: the driver serves what it ships to executors without asking for a secret.

Spark's own RPC port answers a request for ``/files/NAME`` before it authenticates, whatever ``spark.authenticate`` and
encryption say, in local mode for jars alone; YARN copies files to its hosts. So what opens a store, or is meant for one
reader, is not shipped: neither by itself, nor in a folder or an archive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sparkconfig._base.late import late
from sparkconfig.settings.schema import PREFIX

__all__ = ["REMEDY", "problems"]

REMEDY = "put the file on each host, or keep its content in a store and write a reference"

#: Of jars and Python files, the permissions say nothing: they are code.
_CODE_KEYS = ("spark.jars", "spark.submit.pyFiles", "spark.yarn.dist.jars")
_KEYS = ("spark.files", "spark.archives", "spark.yarn.dist.files", "spark.yarn.dist.archives", *_CODE_KEYS)
_REFERENCE = late(r"\$\{[^{}:]+:([^{}:]+):([^{}]*)\}")
_MOST_FILES = 10_000


def problems(confs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the conf and what is wrong with a file in it."""
    params = [text for key, text in confs.items() if key.startswith(PREFIX) and ".param." in key]
    # What references read: a file, or one of a folder.
    read = [found.groups() for text in confs.values() for found in _REFERENCE.finditer(text)]
    params += [path for path, _ in read] + [f"{path}/{key}" for path, key in read]
    named = {path.resolve() for text in params for path in _paths(text) if path.is_file()}
    master = confs.get("spark.master", "").strip()
    local = master == "local" or master.startswith("local[")
    shipping = [key for key in (("spark.jars",) if local else _KEYS) if confs.get(key, "").strip()]
    if shipping:  # what reads archives is slow to import
        from sparkconfig.settings.key_files import why_not
    for key in shipping:
        for item in filter(None, map(str.strip, confs[key].split(","))):
            names = dict.fromkeys((item, item.partition("#")[0]))
            files = (
                file for name in names for path in _paths(name) for file in islice(_below(path), _MOST_FILES)
            )
            found = ((path, why) for path in files if (why := why_not(path, named, code=key in _CODE_KEYS)))
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

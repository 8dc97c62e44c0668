"""A document that extends another: a policy that ships, or a file beside it."""

from __future__ import annotations

from pathlib import Path

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.rules.document import Document, fail, read
from sparkconfig.policy.rules.rulebook import Rulebook, load

__all__ = ["SHIPPED", "documents", "find", "load_extending"]

_PACKAGE = Path(__file__).resolve().parents[2]
_CHECKOUT = _PACKAGE.parents[1] / "conf" / "policies"
SHIPPED = _CHECKOUT if _CHECKOUT.is_dir() else _PACKAGE / "data" / "policies"
_DEEPEST = 5
_SUFFIXES = (".json", ".jsonc")


def find(name: str, folder: Path | None) -> Path:
    """Find a policy that ships by its name, or a file.

    Args:
        name: ``shared-server``, or ``base.json``.
        folder: where a file lies; None: only a policy that ships will do.

    Raises:
        ConfigurationError: no policy of that name ships, and it is no file's name.
    """
    shipped = sorted(path.stem for path in SHIPPED.glob("*.json") if "." not in path.stem)
    if name in shipped:
        return SHIPPED / f"{name}.json"
    if folder is not None and name.lower().endswith(_SUFFIXES):
        return folder / name
    raise ConfigurationError(
        f"no policy '{shorten(name)}' ships: write {', '.join(shipped)}, or the name of a file"
    )


def documents(path: Path) -> list[Document]:
    """Read a document and all that it extends, the last base first.

    Raises:
        ConfigurationError: one of them cannot be read, or they extend each other.
    """
    return _with_bases(read(path), path.parent)


def load_extending(document: Document, folder: Path | None) -> Rulebook:
    """Make the rules of a document and of all that it extends.

    Args:
        document: the document.
        folder: where the file is that it extends; None: only a policy that ships can be extended.

    Raises:
        ConfigurationError: there is no such policy, a file extends itself, or a document is wrong.
    """
    first, *others = _with_bases(document, folder)
    book = load(first)
    for each in others:
        book = load(each, book)
    return book


def _with_bases(document: Document, folder: Path | None) -> list[Document]:
    found = [document]
    while isinstance(name := found[0].data.get("extends"), str):
        if len(found) > _DEEPEST:
            fail(document, [(("extends",), f"more than {_DEEPEST} documents extend each other")])
        try:
            path = find(name, folder)
        except ConfigurationError as error:
            problem = str(error)
        else:
            found.insert(0, read(path))
            folder = path.parent
            continue
        fail(found[0], [(("extends",), problem)])
    return found

"""A document that extends another: a policy that ships, or a file beside it."""

from __future__ import annotations

from pathlib import Path

from sparkconfig._base.text import shorten
from sparkconfig.policy.rules.document import Document, fail, read
from sparkconfig.policy.rules.rulebook import Rulebook, load

__all__ = ["SHIPPED", "load_extending"]

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "policies"
_DEEPEST = 5


def load_extending(document: Document, folder: Path | None, depth: int = 0) -> Rulebook:
    """Make the rules of a document and of all that it extends.

    Args:
        document: the document.
        folder: where the file is that it extends; None: only a policy that ships can be extended.
        depth: how many documents extend this one.

    Raises:
        ConfigurationError: there is no such policy, a file extends itself, or a document is wrong.
    """
    name = document.data.get("extends")
    if not isinstance(name, str) or not name:
        return load(document)
    shipped = sorted(path.stem for path in SHIPPED.glob("*.json"))
    if name in shipped:
        base = SHIPPED / f"{name}.json"
    elif folder is not None and name.lower().endswith((".json", ".jsonc", ".toml")):
        base = folder / name
    else:
        known = ", ".join(shipped)
        fail(document, [(("extends",), f"no policy '{shorten(name)}' ships: write {known}, or a file beside this one")])
    if depth == _DEEPEST:
        fail(document, [(("extends",), f"more than {_DEEPEST} documents extend each other")])
    return load(document, load_extending(read(base), base.parent, depth + 1))

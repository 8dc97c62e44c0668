"""The recipes in docs/recipes: what the docs show is what the tests run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkconfig.formats import properties
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.secret import Secret

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "recipes"
#: In the order of the page.
NAMES = ("sops", "pass", "1password", "doppler")
_HEAD = re.compile(
    r"# (?P<title>.+)\n(?P<text>(?:# .+\n)+?)# Ran: (?P<ran>.+\n(?:# .+\n)*)\n(?P<confs>(?:spark\..+\n)+)"
)


@dataclass(frozen=True)
class Recipe:
    """One file.

    Attributes:
        title: of its section in the docs.
        text: what to know.
        ran: with what we ran it.
        confs: the settings as they stand there, for people.
        settings: those that make the provider.
        references: those that hold a reference.
    """

    title: str
    text: str
    ran: str
    confs: str
    settings: Mapping[str, str]
    references: Mapping[str, str]

    def resolver(self, places: Mapping[str, str] | None = None) -> Resolver:
        """Return what resolves its references, with places of this machine instead of the recipe's.

        Raises:
            ValueError: the recipe names no such place.
        """
        settings = dict(self.settings)
        for old, new in (places or {}).items():
            if not any(old in value for value in settings.values()):
                raise ValueError(f"{self.title}: nothing in it is at {old}")
            settings = {name: value.replace(old, new) for name, value in settings.items()}
        return Resolver.from_confs(settings)


def recipe(name: str) -> Recipe:
    """Read a recipe.

    Raises:
        ValueError: the file is not written as the others are.
    """
    content = (FOLDER / f"{name}.properties").read_text(encoding="utf-8")
    match = _HEAD.fullmatch(content)
    if match is None:
        raise ValueError(f"{name}: begins with a title, a text and 'Ran:', then come settings")
    found = properties.loads(match["confs"])
    settings = {key: value for key, value in found.items() if key.startswith("spark.config.")}
    text, ran = (match[part].removeprefix("# ").replace("\n# ", "\n").strip() for part in ("text", "ran"))
    references = {key: value for key, value in found.items() if key not in settings}
    return Recipe(match["title"], text, ran, match["confs"], settings, references)


def values(resolver: Resolver, references: Mapping[str, str]) -> dict[str, str]:
    """Resolve references, and show what they are."""
    found = resolver.resolve_map(references)
    return {key: value.reveal() if isinstance(value, Secret) else value for key, value in found.items()}


def page() -> list[str]:
    """Return the sections of docs/recipes.md."""
    lines: list[str] = []
    for name in NAMES:
        each = recipe(name)
        lines += ["", f"## {each.title}", "", *each.text.splitlines(), ""]
        lines += ["```properties", *each.confs.splitlines(), "```", "", *f"We ran: {each.ran}".splitlines()]
    return lines[1:]

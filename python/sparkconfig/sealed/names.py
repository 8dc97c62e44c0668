"""Names of sealed values: a section and a key, written ``section:key`` as in ``${sealed:section:key}``."""

from __future__ import annotations

from typing import NamedTuple

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError

__all__ = ["EntryName"]

_LONGEST = 512


class EntryName(NamedTuple):
    """Where a value is in a sealed file.

    Attributes:
        section: the path of a reference; may be empty (``${sealed:key}``).
        key: the key of a reference.
    """

    section: str
    key: str

    @classmethod
    def parse(cls, text: str) -> EntryName:
        """Read ``section:key`` or ``key``; what follows the first colon is the key, as in a reference.

        Raises:
            ConfigurationError: no reference could name it.
        """
        first, colon, rest = text.partition(":")
        name = cls(first, rest) if colon else cls("", first)
        name.check()
        return name

    def check(self) -> None:
        """Refuse names that no reference can spell.

        Raises:
            ConfigurationError: says what is wrong with the name.
        """
        problem = _problem(self.section) or _problem(self.key)
        if not self.key:
            problem = "has no key; write SECTION:KEY"
        elif ":" in self.section or (not self.section and ":" in self.key):
            problem = "has a colon in its section; a reference ends the section at the first colon"
        if problem:
            raise ConfigurationError(f"the name '{shorten(str(self))}' {problem}")

    def __str__(self) -> str:
        return f"{self.section}:{self.key}" if self.section else self.key


def _problem(text: str) -> str | None:
    if "}" in text:
        return "holds a '}', which ends a reference"
    if len(text) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    if text != text.strip() or not text.isprintable():
        return "holds blanks at an end or characters that cannot be printed"
    return None

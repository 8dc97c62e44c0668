"""The constants of redaction. The jar carries the same file, so that both engines go by one set of rules."""

from __future__ import annotations

import json
import pkgutil

__all__ = [
    "COMMON_WORDS",
    "ENTITIES",
    "ERROR_SIGNS",
    "FLOOR",
    "FRAGMENT_CUTS",
    "FRAGMENT_FLOOR",
    "FRAGMENT_WORDS",
    "HARMLESS_NAMES",
    "PLAIN_FIELDS",
    "SECRET_NAMES",
    "STEPS",
    "STEPS_PER_CHARACTER",
]

# By the loader: the package may lie in a zip.
_DATA = json.loads(pkgutil.get_data("sparkconfig", "data/redaction.json") or b"")

#: How many comparisons one text may cost, and how many more each of its characters; beyond that it is withheld.
STEPS: int = _DATA["steps"]
STEPS_PER_CHARACTER: int = _DATA["steps_per_character"]
#: Values, and parts of values, with fewer characters are not registered unless declared.
FLOOR: int = _DATA["floor"]
#: The shortest fragment of a value that is registered: what parsers of URLs quote in their errors.
FRAGMENT_FLOOR: int = _DATA["fragment_floor"]
#: The characters at which such parsers cut.
FRAGMENT_CUTS: str = _DATA["fragment_cuts"]
#: A regular expression for values that are paths: of these no fragments are made.
FRAGMENT_PATHS: str = _DATA["fragment_paths"]
#: A regular expression for fragments that are words or numbers, and would destroy pages and logs.
FRAGMENT_WORDS: str = _DATA["fragment_words"]
#: Parts of words, one of which stands in each text that is an error, written so as no case matters.
ERROR_SIGNS: tuple[str, ...] = tuple(_DATA["error_signs"])
#: Texts that appear in logs and pages without being a secret.
COMMON_WORDS: frozenset[str] = frozenset(_DATA["common_words"])
#: A regular expression, searched without regard to case, for names of secrets in connection strings.
SECRET_NAMES: str = _DATA["secret_names"]
#: The same for those among them that name no secret after all (``SharedAccessKeyName``).
HARMLESS_NAMES: str = _DATA["harmless_names"]
#: Fields of JSON documents that say where something is, and are shown.
PLAIN_FIELDS: frozenset[str] = frozenset(_DATA["plain_fields"])
#: Names of characters in HTML and XML, besides those of HTML 4.
ENTITIES: dict[str, str] = _DATA["entities"]

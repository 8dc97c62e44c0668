"""The constants of redaction. The jar carries the same file, so that both engines go by one set of rules."""

from __future__ import annotations

import json
import pkgutil

# By the loader: the package may lie in a zip.
_DATA = json.loads(pkgutil.get_data("sparkconfig", "data/redaction.json") or b"")

#: Values, and parts of values, with fewer characters are not registered.
FLOOR: int = _DATA["floor"]
#: Texts that appear in logs and pages without being a secret.
COMMON_WORDS: frozenset[str] = frozenset(_DATA["common_words"])
#: A regular expression, searched without regard to case, for names of secrets in connection strings.
SECRET_NAMES: str = _DATA["secret_names"]
#: The same for those among them that name no secret after all (``SharedAccessKeyName``).
HARMLESS_NAMES: str = _DATA["harmless_names"]
#: Blanks and line ends: what languages and people trim, a file's byte order mark too.
BLANKS: str = _DATA["blanks"]
#: Regular expressions for secrets inside one line, by the kind of line.
CREDENTIALS: dict[str, str] = _DATA["credentials"]
#: Fields of JSON documents that say where something is, and are shown.
PLAIN_FIELDS: frozenset[str] = frozenset(_DATA["plain_fields"])

_CANONICAL = _DATA["canonical"]

#: So many layers of escapes are undone.
ROUNDS: int = _CANONICAL["rounds"]
#: Names of characters in HTML and XML.
ENTITIES: dict[str, str] = _CANONICAL["names"]
#: Signs that a language writes twice inside a quoted text: SQL, CSV, identifiers, ODBC.
DOUBLED_SIGNS: str = _CANONICAL["doubled_signs"]
#: How shells write an apostrophe inside apostrophes.
QUOTES_OF_SHELLS: tuple[str, ...] = tuple(_CANONICAL["quotes_of_shells"])
#: The letters behind a backslash that stand for control characters: a round keeps the letter.
CONTROL_LETTERS: dict[str, str] = _CANONICAL["control_letters"]
#: What form encoding writes in the place of a blank.
FORM_BLANK: str = _CANONICAL["form_blank"]
#: Alternatives are made of alternatives, this deep; of values that are longer only one layer is made.
LAYERS_OF_ALTERNATIVES: int = _CANONICAL["layers_of_alternatives"]
LONGEST_WITH_TWO_LAYERS: int = _CANONICAL["longest_with_two_layers"]
#: A regular expression for the beginning of a value that a sign before it may turn into an escape.
HEADS: list[str] = _CANONICAL["heads"]
#: The same for its end, which may begin an escape with what follows.
TAIL: str = _CANONICAL["tail"]
#: Of long values each block counts: its length, how far into the value, from which length on, how many different signs.
BLOCK: dict[str, int] = _CANONICAL["block"]
#: Beginnings of values before an ellipsis: the fewest characters, and how far before it they are looked for.
BEGINNING: dict[str, int] = _CANONICAL["beginning"]
#: What tables, frames and plans put behind what they cut.
ELLIPSES: tuple[str, ...] = tuple(_CANONICAL["beginning"]["ellipses"])
#: What stands between the numbers of a list of bytes.
LIST_SEPARATORS: tuple[str, ...] = tuple(_CANONICAL["lists"]["separators"])
#: The longest beginning of an escape that waits for its rest at the end of a text.
LONGEST_CUT_ESCAPE: int = _CANONICAL["longest_cut_escape"]
#: Of a text that goes on, more than this never waits.
LONGEST_TAIL: int = _CANONICAL["longest_tail"]
#: What is forgotten: values that were last answered so many generations and so many seconds ago.
FORGET: dict[str, int] = _CANONICAL["forget"]

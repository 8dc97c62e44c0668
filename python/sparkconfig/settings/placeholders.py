"""Texts that only stand in for a value: masks, variables of shells and templates, and words such as ``CHANGE_ME``.

One module says so for ``migrate``, ``resolve``, ``doctor``, ``scrub`` and the start. Each expression takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from sparkconfig._base.late import late
from sparkconfig.settings.expressions import REPLACED, VARIABLE
from sparkconfig.settings.foreign import DEFAULT_FOREIGN

__all__ = [
    "ONLY_ON_DATABRICKS",
    "has_template",
    "is_databricks_secret",
    "is_placeholder",
    "is_whole_placeholder",
    "unfilled",
    "whole",
]

ONLY_ON_DATABRICKS = (
    "{{secrets/...}} is Databricks' own syntax, and nothing outside of a Databricks cluster's confs expands it;"
    " write a reference"
)
_NOT_FILLED = "a placeholder stands here that nothing has filled in; write a reference, or fill it in"
_BESIDE = "; what stands beside it would be sent as it is"

_NAME = r"[A-Za-z_][\w.-]{0,100}"
_CAPITALS = r"[A-Z_][A-Z0-9_]{1,100}"
_WORD = r"[A-Za-z]{1,40}\d?"
# Where a text may be put together: among other signs, what has no brackets may belong to a password.
_LONG = r"[A-Z]{2,40}(?:_[A-Z]{2,40}\d?)+"
_APART, _ON = r"(?<![^\s=:/@&;,.(}\"'-])", r"(?![^\s=:/@&;,.)${\"'-])"
# A single word in small letters may be a password; capitals, several words, and the word for a secret are a name.
_SURE = (
    rf"(?:{_CAPITALS}|{_WORD}(?:[_.]{_WORD}){{1,10}}"
    r"|[a-z]{1,40}(?:[A-Z][a-z]{1,40}){1,10}"
    r"|(?i:password|passwd|passphrase|pass|pwd|pw|secret|token|credentials?|key|user|username))(?![A-Za-z0-9_])"
)
_DATABRICKS = late(r"\{\{\s{0,9}secrets/[^{}]{0,500}\}\}")
# Wherever one stands in a text, the text is not the value. The groups name variables of an environment.
_VARIABLE = late(
    rf"\$\{{(?P<braces>(?:(?:env|system):)?{_NAME})\}}|\$\{{[ !?]?[A-Za-z_\d][^{{}}:\n]{{0,200}}\}}"
    rf"|\$\{{(?P<default>{_NAME}):[-=+?][^{{}}\n]{{0,400}}\}}|\$\{{(?P<other>{_NAME}):[^{{}}\n]{{0,400}}\}}"
    rf"|\$\((?P<round>{_NAME})\)|\$\([A-Za-z_./<][^()\n]{{0,400}}\)"
    rf"|(?:{_APART}|(?=\${_LONG}))\$\$?(?:env:)?(?P<bare>{_SURE}){_ON}|(?<![^=])\$\$?(?P<letter>[A-Z])(?![^&;])"
    # Jinja, Helm, GitHub's workflows; ERB and others
    r"|(?<!\{)\{\{[^\n]{1,500}?\}\}|\{%[^\n]{1,500}?%\}|<%[^\n]{1,500}?%>|\[%[^\n]{1,500}?%\]"
    rf"|[%#@]\{{\s?[A-Za-z_][^{{}}\n]{{0,200}}\}}#?"
    rf"|(?<![$#%{{\w]){{{_SURE}\}}(?![A-Za-z0-9}}])"  # Octopus, Azure, Logstash; Python
    # Python, PHP, Windows, Maven, sed, prose
    rf"|{_APART}(?:\$\[{_NAME}\]|%\({_NAME}\)s|%env\([\w:.]{{1,100}}\)%|(?P<twice>%%|@@|##|~~|__){_NAME}(?P=twice)"
    rf"|(?P<sign>[%@§!#~]){_SURE}(?P=sign)|<{{1,2}}{_WORD}(?:[ _.,:'-]{{1,3}}{_WORD}){{0,12}}>{{1,2}}){_ON}"
    rf"|(?<![A-Za-z0-9$])(?P<open>\$[{{(]{_NAME}|\{{\{{[\w .-]{{1,100}}\}}?)(?=$|[&;@)\s\"'])"  # the end was forgotten
    rf"|\(\([\w./-]{{1,200}}\)\)|\[\[[\w./ -]{{1,200}}\]\]"  # Concourse and others
)
_BEGIN = frozenset("${<[%#@~_§!(")
# Of a whole text: masks; Python's and SQL's parameters, commands, prose.
_WHOLE = late(
    rf"[{REPLACED}{VARIABLE}]+|[*x.#-]{{3,200}}|\**\(redacted.*|</\w{{1,20}}>"
    rf"|(?P<parameter>\[(?-i:{_SURE})\]"
    r"|![A-Z]!|%[A-Z]%|\?|:[A-Za-z_]\w{0,100}|%[sd]|\{\w?\}|\$\d|`[^`]{1,400}`"
    # What other tools resolve: URLs of stores, Azure's functions, Kubernetes' webhooks for Vault, YAML's tags, programs
    r"|(?!https?:)[a-z][a-z0-9+.-]{1,40}://[^\s@?]{1,400}|@[a-z.]{1,40}\(.*|!?vault[: ][ \w/.-]{1,200}#[\w.-]{1,100}"
    r"|![a-z:]{1,40}\s[\w./|-]{1,200}|(?:os\.environ|system\.getenv|process\.env|env)\W{1,3}[A-Za-z_]\w{0,100}\W{0,3}"
    r"|arn:aws[\w-]{0,20}:[\w-]{1,40}:\S{1,400}|projects/[\w-]{1,100}/secrets/\S{1,200}|ENC[(\[].*|\{cipher\}.*)",
    re.IGNORECASE | re.DOTALL,
)
_ASKING = (
    "change", "changed", "changeme", "replace", "replaced", "replaceme", "fill", "insert", "enter", "put", "provide",
    "supply", "set", "add", "todo", "tbd", "tba", "fixme", "placeholder", "your", "yours", "redacted", "masked",
    "unset", "undefined",
)  # fmt: skip
#: Alone they may be a password; with another word they ask.
_VERBS = frozenset(
    (
        "change",
        "replace",
        "fill",
        "insert",
        "enter",
        "put",
        "provide",
        "supply",
        "set",
        "add",
        "changed",
        "replaced",
    )
)
_AROUND = (
    "me", "this", "that", "here", "in", "with", "by", "be", "to", "the", "a", "an", "my", "own", "real", "actual",
    "new", "value", "values", "before", "use", "using", "from", "of", "for", "not", "ci", "please", "and", "or",
    "at", "via", "vault", "password", "passwd", "passphrase", "pass", "pwd", "secret", "token", "key", "keys",
    "access", "api", "auth", "account", "client", "id", "user", "username", "name", "db", "database", "aws",
    "azure", "gcp", "s3", "sas", "storage", "private", "credential", "credentials", "connection", "string", "url",
    "jdbc", "postgres", "mysql", "kafka", "prod", "production",
)  # fmt: skip


def is_whole_placeholder(value: str) -> bool:
    """Whether nothing of ``value`` is a value: a mask, a parameter, words that ask, or what another tool resolves."""
    text = _unquoted(value)
    return _WHOLE.fullmatch(text) is not None or _asks(text)


def is_placeholder(value: str) -> bool:
    """Whether something else fills in ``value``, or a part of it: never one to seal, and never a secret in clear."""
    text = _unquoted(value)
    # What migrate puts in the place of what a shell expands.
    variable = REPLACED in text or _VARIABLE.search(text) is not None
    return variable or is_whole_placeholder(text)


def whole(text: str, start: int, end: int) -> str:
    """Return what stands at a place of a text, with the rest of a variable that begins there.

    Braces around it are a template's, or else ODBC's quotes.
    """
    if (
        start
        and text[start - 1] == "{"
        and text.startswith("}", end)
        and is_placeholder(text[start - 1 : end + 1])
    ):
        return text[start - 1 : end + 1]
    last = end
    for at in range(start, end):
        if text[at] in _BEGIN and (found := _VARIABLE.match(text, at, end + 1000)):
            last = max(last, found.end())
    return text[start:last]


def has_template(value: str) -> bool:
    """Whether a template fills in a part of ``value``: what stands beside that part is not the whole value."""
    return re.search(r"\{\{|\{%|<%", value) is not None


def is_databricks_secret(value: str) -> bool:
    """Whether ``value`` is, or has in it, a ``{{secrets/SCOPE/KEY}}`` that only Databricks expands."""
    return _DATABRICKS.search(value) is not None


def unfilled(
    value: str, expanded: Callable[[str], bool] = lambda _: False, instead: str | None = None
) -> str | None:
    """What is wrong with a secret's conf that holds a placeholder, and what to write; None: it holds none.

    Masks are left out: they come from what has been shown, and are no mistake of who writes confs.

    Args:
        value: of the conf, or the part of it that is the secret.
        expanded: whether what reads the conf puts a value in the place of ``${NAME}``.
        instead: what to write where no reference can stand; None: a reference.
    """
    text = _unquoted(value)
    if is_databricks_secret(text):
        return ONLY_ON_DATABRICKS
    variables = [
        each
        for each in _VARIABLE.finditer(text)
        # A reference: whether its provider is declared is said where it is resolved.
        if each["other"] is None or each["other"] in DEFAULT_FOREIGN
        if not expanded(each["braces"] or each["default"] or each["other"] or "")
    ]
    if not variables:
        whole = _WHOLE.fullmatch(text)
        return _NOT_FILLED if (whole is not None and whole["parameter"]) or _asks(text) else None
    found = variables[0]
    beside = _BESIDE if any(map(str.isalnum, _VARIABLE.sub("", text))) else ""
    name = found["braces"] or found["round"] or found["bare"] or found["letter"] or found["default"]
    if found["open"]:
        return f"a variable stands here without its closing bracket, so it is text; write a reference{beside}"
    if found["other"]:
        return f"nothing expands ${{{found['other']}:...}}: {instead or 'write a reference'}{beside}"
    if name is None:
        return _NOT_FILLED + beside
    # Without brackets it may be a password after all: only what looks like a variable's name is shown.
    certain = not found["bare"] or re.fullmatch(_LONG if beside else r"[A-Za-z_]+\d?", name) is not None
    bare = re.sub(r"^env[.:]", "", name) if certain else "NAME"
    meant = f"${{envvar:{bare}}}, or the reference of your provider" if bare.isidentifier() else "a reference"
    return (
        f"nothing expands {_shown(found) if certain else 'a variable'}: {instead or f'write {meant}'}{beside}"
    )


def _shown(found: re.Match[str]) -> str:
    return f"${{{found['default']}:...}}" if found["default"] else found[0]


def _asks(text: str) -> bool:
    """Whether a text is words that ask for the value, such as ``CHANGE_ME``, ``your-api-key`` or ``TODO``."""
    words = re.sub(r"[\s_./:,!?-]+", " ", text.lower()).strip()
    fits = 3 <= len(words) <= 60 and words not in _VERBS and not re.search("[^a-z0-9 ]", words)
    return fits and _splits(words, asking=False)


@cache
def _vocabulary() -> tuple[tuple[str, bool], ...]:
    return (*((word, True) for word in _ASKING), *((word, False) for word in _AROUND))


def _splits(words: str, *, asking: bool) -> bool:
    """Whether a text is made of known words, with blanks between them or not, and one of them asks."""
    ways = {0: {asking}}
    for at in range(len(words)):
        for asked in ways.get(at, ()):
            if words[at] == " ":
                ways.setdefault(at + 1, set()).add(asked)
            for word, asks in _vocabulary():
                if words.startswith(word, at):
                    ways.setdefault(at + len(word), set()).add(asked or asks)
    return True in ways.get(len(words), ())


def _unquoted(value: str) -> str:
    text = value.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text

"""Names and literals that stand together, in a text of any kind: shell, SQL, XML, JSON, other languages, comments.

What is found is reported and never rewritten, so no language is parsed: expressions of linear time look for a name,
what joins it to a value, and the value.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace

from sparkconfig.migrate.sources import beside, words
from sparkconfig.migrate.sources.programs import HINTS, KEY, OPTION, PROGRAMS, QUOTED
from sparkconfig.migrate.text import COMMENTED, Document, Text

__all__ = ["commented", "read", "texts_of"]

_KEPT = {
    "python": "seal the value, and write {reference} in its place if that is an option of a data source, or a conf of a"
    " builder; elsewhere sparkconfig.current('{reference}').reveal() where it is used",
    "script": "let the program read a conf that holds {reference}; arguments and variables show in process lists",
    "sql": "seal the value, and write {reference} in its place in OPTIONS or TBLPROPERTIES; a literal elsewhere, or"
    " what SET sets on a running session, is used as it is written: read it from a conf",
    "text": "nothing resolves references here: write {reference} into a conf of Spark, or into a data source's option",
}
_CONF = "seal the value, and write --conf '{key}={reference}', in single quotes"

_END = r"(?:\\?[\"'`]\]?|\])?"
_BARE = (
    r"(?P<bare>(?:\$\{[^}\n]{0,400}\}|\$\([^)\n]{0,400}\)|`[^`\n]{0,400}`|\{\{[^}\n]{0,400}\}\}|<[^<>\n]{0,400}>"
    r"|%\(\w{1,200}\)s|[^\s\"'`;|&()<>,\\$]|\$(?!\()|\\[^\n]){1,4000})"
)
#: Defaults of variables: ${NAME:-value}, ${a.name:value}, and of a template's.
_DEFAULTS = [
    r"\$\{(?P<key>\w{1,200}):?[-=+](?P<bare>[^{}\n]{1,4000})\}",
    r"\$\{(?P<key>\w{1,100}\.[\w.-]{1,200}|(?-i:[A-Z][A-Z0-9_]{1,100})):(?![-=+?])(?P<bare>[^{}\n]{1,4000})\}",
    rf"\{{\{{[^{{}}\n]{{0,200}}?(?P<key>[\w.-]{{1,200}})\s*\|\s*default\s*\(?\s*{QUOTED}",
    rf"\{{\{{[^{{}}\n]{{0,200}}?\b(?:env_?var|env|var|getenv)\(\s*[\"']{KEY}[\"']\s*,\s*{QUOTED}",
]
#: Where names and values need no quotes: ``key=value``, ``--key value`` and lists of arguments.
_UNQUOTED = [
    rf"{KEY}(?:\[[^\]\n]{{0,100}}\])?{_END}\+?=(?![=~]|\.\*|/(?:[\w^.]*=|[;\s\"']))\(?{_BARE}",
    rf"{OPTION}(?:[ \t]+|[\"']?[ \t]*\n[ \t]*-[ \t]+)(?:{QUOTED}|(?!-){_BARE})",
    rf"\bSET\s+{KEY}\s*=\s*{_BARE}",
    # - name: KEY, and in the next line its value
    rf"\bname:[ \t]*[\"']?{KEY}[\"']?[ \t]*\n[ \t]*value:[ \t]*(?:{QUOTED}|{_BARE})",
    rf"\b(?-i:IDENTIFIED(?: WITH \S{{1,100}})? BY)\s+(?:{QUOTED}|{_BARE})",
]
_NEAR = re.compile(
    rf"{HINTS}|curl|mysql|mariadb|7z|mongo|beeline|login|zip|sqlcmd|bcp|[it]sql|redis|ldap|smbclient|lftp|aes_"
    r"|sql(?:plus|ldr)|(?:exp|imp)dp|\bmc |kinit|stdin|sudo|getconnection|ssh-keygen|openssl|identified|secure"
    r"|<<[-~]?[\"']?\w|\|\s*default",
    re.IGNORECASE,
)
_LINES_NEAR = 6
_OF_DEFAULTS = tuple(re.compile(each, re.IGNORECASE) for each in _DEFAULTS)
_OF_TEXT = tuple(re.compile(each, re.IGNORECASE) for each in _UNQUOTED)
_OF_PROGRAMS = tuple(re.compile(each) for each in PROGRAMS)
#: A line that sets a key. With a blank between them only after a dotted key: "password for the shop" is prose.
_LINE = re.compile(
    r"(?:^|<<<)[ \t]*(?:-[ \t]+)?(?P<comment>#[# \t]*|![ \t]*|--[ \t]*|//[ \t]*|REM[ \t]+)?"
    r"(?P<verb>(?:export|local|readonly|declare|typeset|setx?|setenv|env|arg|aws configure set|echo|printf)[ \t]+"
    r"(?:-\w+[ \t]+)*)?[\"']?(?P<key>[A-Za-z_][\w-]*(?P<dotted>(?:\.[\w-]+)*))[\"']?"
    r"(?P<sign>[ \t]*[?:+]?[=:][ \t]*|[ \t]+)(?P<bare>[^\s(\[{=:].*?|\{\{.*?)[ \t\r]*,?$",
    re.IGNORECASE | re.MULTILINE,
)
_REDIRECTED = re.compile(r"[\"']?[ \t]*(?:>>?|\||;|&&).*$")
_QUOTES = re.compile(r"(?P<quote>[\"'])(?P<inner>.*?)(?P=quote)(?:[ \t]+#.*)?")
_FORMAT = re.compile(r"\{[\w.:!]{0,200}\}|%[sdb](?:\\n)?")  # Python's, in a text that is put together
_DEFAULT = re.compile(r"\$\{\w{1,200}:?[-=+]([^{}]{0,4000})\}")
_EXPANDED = re.compile(
    r"\$\((?:[^()\n]|\([^()\n]*\)){0,400}\)?|`[^`\n]{0,400}`|\$\{(?!\w+:\w)[^{}\n]{0,400}\}|\$[A-Za-z_]\w*|\$[0-9@*#?!]"
)
_COMMENT = re.compile(r"^[ \t]*(?:#|!|--|//|/?\*|REM\b)|[ \t]#[ \t]|--[ \t]", re.IGNORECASE)
#: An option of a command that goes on over lines: "--name value", "--name=value".
_OPTION_LINE = re.compile(r"[ \t]*--[a-z][\w-]{0,100}(?:[ \t]{1,20}[^ \t=\n]|=)", re.IGNORECASE)
#: Cells of other languages in Databricks' notebooks, comments, literals, and documents up to a word.
_HELD = re.compile(
    r"^[ \t]*(?:(?:#|//|--)[ \t]*MAGIC(?P<cell>[^\n]*)|(?P<comment>(?:#|//)[^\n]*))|"
    + words.LITERAL
    + r"|<<[-~]?[\"']?(?P<end>[A-Za-z_]\w{0,100})[\"']?;?\n(?P<document>.{0,8000}?)\n[ \t]*(?P=end)\b",
    re.MULTILINE | re.DOTALL,
)
#: What fills in a template is its own program: {{ lookup('env', 'X', password=x) }}.
_TEMPLATE = re.compile(r"\{\{[^\n]{0,500}?\}\}|\{%[^\n]{0,500}?%\}|<%[^\n]{0,500}?%>")
#: Of notebooks in Python: a command of the shell or of IPython.
_COMMAND = re.compile(r"^[ \t]*[%!?](?!=).*$", re.MULTILINE)
#: What the shell puts in place of a variable or a command.
_EXPANSION = "\ufffc"


def read(kind: str, content: str) -> Document:
    """Look at a text that is not rewritten.

    Args:
        kind: ``script``, ``sql``, ``python``, ``code`` of other languages, or ``text``.
        content: all of it.
    """
    kept = _KEPT.get(kind, _KEPT["text"])
    commands = [*_COMMAND.finditer(content)] if kind == "python" else []
    # Of the same length, so that the places of all others stay.
    plain = _COMMAND.sub(lambda line: " " * len(line[0]), content) if commands else content
    found = [*texts_of(plain, kept=kept, code=kind in ("python", "code"), variables=kind == "script")]
    for line in commands:
        texts = read("script", line[0].strip().lstrip("%!?")).texts
        found += [replace(text, start=line.start(), end=line.end()) for text in texts]
    return Document(content, sorted(found, key=lambda text: text.start), kind)


def texts_of(
    content: str,
    start: int = 0,
    end: int | None = None,
    *,
    kept: str,
    code: bool = False,
    variables: bool = False,
) -> Iterator[Text]:
    """Return the literals between two places, with the names that they stand beside.

    Args:
        content: all of it.
        start: of what is looked at.
        end: of it; None: the end.
        kept: what to do, as in :class:`Text`.
        code: whether a value without quotes is an expression, as in Python.
        variables: whether ``$x`` is a variable in double quotes, too.
    """
    end = len(content) if end is None else end
    if code:
        yield from _of_code(content, start, end, kept=kept, variables=variables)
    for first, last in _near(content, start, end):
        # In code {{ opens two braces.
        filled = [] if code else [each.span() for each in _TEMPLATE.finditer(content, first, last)]
        for expression in _OF_DEFAULTS:
            for found in expression.finditer(content, first, last):
                yield _text(content, found, kept, variables=variables)
        for text in _texts_in(content, first, last, kept=kept, code=code, variables=variables):
            before = bisect(filled, (text.start, len(content))) - 1
            if before < 0 or filled[before][1] <= text.start:
                yield text


def _of_code(content: str, start: int, end: int, *, kept: str, variables: bool) -> Iterator[Text]:
    """Literals of a program by the one rule, and what they and its comments hold: SQL, command lines, files."""
    yield from _literals(content, start, end, kept=kept, code=True, variables=variables)
    for found in _HELD.finditer(content, start, end):
        if found["comment"] is None:
            inner = "document" if found["document"] is not None else found.lastgroup or 0
            yield from texts_of(content, *found.span(inner), kept=kept)
        else:
            yield Text("", found["comment"], *found.span("comment"), kept=COMMENTED, conf=False)


def _literals(
    content: str, first: int, last: int, *, kept: str, code: bool, variables: bool
) -> Iterator[Text]:
    for name, value, begin, stop in beside.literals(content, first, last, lines=code):
        quoted = "single" if content[begin - 1] == "'" else "double"
        text = Text(name, value, begin, stop, kept=kept, conf=False)
        yield _expanded_in(content, text, begin, quoted, variables=variables)


def _texts_in(
    content: str, first: int, last: int, *, kept: str, code: bool, variables: bool
) -> Iterator[Text]:
    for expression in (*(() if code else _OF_TEXT), *_OF_PROGRAMS):
        for found in expression.finditer(content, first, last):
            yield _text(content, found, kept, variables=variables)
    for found in _LINE.finditer(content, first, last):
        # A word of the shell ends at a blank: found already.
        word = variables and found["sign"] == "="
        sure = found["comment"] and found["dotted"] if code else found["dotted"] or _is_sure(found)
        if not word and sure:
            yield _text(content, found, kept, variables=variables)
    if not code:
        yield from _literals(content, first, last, kept=kept, code=False, variables=variables)


def _near(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the lines that may hold a name or a program, with some behind them; a search in them alone is fast."""
    first = last = line_end = start
    for found in _NEAR.finditer(content, start, end):
        if found.start() < line_end:
            continue
        if found.start() >= last:
            if last > first:
                yield first, last
            first = max(content.rfind("\n", start, found.start()) + 1, start)
        line_end = last = _line_end(content, found.end(), end)
        for _ in range(_LINES_NEAR):
            last = _line_end(content, last + 1, end)
        while content.endswith("\\", first, last) and last < end:
            last = _line_end(content, last + 1, end)
    if last > first:
        yield first, last


def _line_end(content: str, at: int, end: int) -> int:
    found = content.find("\n", at, end) if at < end else -1
    return end if found < 0 else found


def _is_sure(line: re.Match[str]) -> bool:
    """Whether a line sets a key without dots. Prose does not: ``password for the shop``, ``token: of the user``."""
    if not line["sign"].strip():
        return bool(line["verb"]) and "_" in line["key"]
    return "=" in line["sign"] or " " not in line["bare"] or _QUOTES.fullmatch(line["bare"]) is not None


def commented(content: str, texts: list[Text]) -> Iterator[Text]:
    """Return what is commented out in properties and YAML: what belongs to no text."""
    starts = {text.start for text in texts}
    for text in texts_of(content, kept=COMMENTED):
        if text.kept is COMMENTED and text.start not in starts and _is_comment(content, text.start):
            yield text


def _is_comment(content: str, at: int) -> bool:
    begin = content.rfind("\n", 0, at) + 1
    return _COMMENT.search(content[begin:at]) is not None and not _OPTION_LINE.match(content, begin)


def _text(content: str, found: re.Match[str], kept: str, *, variables: bool) -> Text:
    groups = found.groupdict()
    group = next(name for name in ("single", "double", "escaped", "bare") if groups.get(name))
    named = groups.get("key")
    # The value of a rule without a name is a password.
    key = named if named and " " not in named else "password"
    value, (start, end) = found[group], found.span(group)
    if found.re is _LINE:
        whole = _QUOTES.fullmatch(value)
        if whole is not None:
            value, group = whole["inner"], "single" if whole["quote"] == "'" else "double"
        else:
            value = (_REDIRECTED.sub("", value) if found["verb"] else value).rstrip("\"'")
    text = Text(key, value, start, end, kept=kept, conf=False)
    return _expanded_in(content, text, found.start("key") if named else start, group, variables=variables)


def _expanded_in(content: str, text: Text, place: int, group: str, *, variables: bool) -> Text:
    value, kept = text.value, text.kept
    if _FORMAT.fullmatch(value):
        value = _EXPANSION
    elif group != "single" and ("$" in value or "`" in value):
        value = _expanded(value, variables=variables or group == "bare")
    if _is_comment(content, place):
        kept = COMMENTED
    elif variables and text.key.startswith("spark."):
        kept = _CONF
    return replace(text, value=value, kept=kept)


def _expanded(value: str, *, variables: bool) -> str:
    """Defaults of variables, and signs in place of what else the shell puts there."""
    count = 1
    while count:
        value, count = _DEFAULT.subn(lambda found: found[1], value)
    return _EXPANDED.sub(_EXPANSION, value) if variables else value

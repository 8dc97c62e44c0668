"""Names and literals that stand together, in a text of any kind: shell, SQL, XML, JSON, other languages, comments.

What is found is reported and never rewritten, so no language is parsed: expressions of linear time look for a name,
what joins it to a value, and the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkconfig.migrate.sources import sql
from sparkconfig.migrate.sources.programs import HINTS, KEY, NAME, OPTION, PROGRAMS, QUOTED
from sparkconfig.migrate.text import COMMENTED, Document, Text

__all__ = ["commented", "read", "texts_of"]

_KEPT = {
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
_JOINED = r"[ \t]*(?::=|==|=>|->|<-|\+=|=|:)[ \t]*|[ \t]+"
_SETTERS = (
    r"\b(?:option|conf(?:ig)?|(?:set|put|get|env|add)\w*|property|name|of|entry|header)\(\s*(?:\w+\s*=\s*)?"
)
#: By what joins the two. ``key = "value"``, ``key 'value'``, ``"key" -> "value"``
_RULES = [
    rf"{KEY}{_END}(?:{_JOINED})\(?{QUOTED}",
    # setConf("key", "value")
    rf"{_SETTERS}\\?[\"']{KEY}\\?[\"'],\s*(?:\w+\s*=\s*)?{QUOTED}",
    # <name>key</name> <value>value</value>, and <key>value</key>
    rf"<name>\s*{KEY}\s*</name>\s*(?:<(?:final|description)>[^<]*</\w+>\s*)*<value>(?P<bare>[^<]{{1,4000}})</value>",
    r"<(?P<key>[A-Za-z_][\w.-]{0,200})>(?P<bare>[^<>]{1,4000})</(?P=key)>",
    rf"\b(?:name|key)\\?[\"']?\s*[:=]\s*\\?[\"']?{KEY}\\?[\"']?,?\s+[\\\"']{{0,2}}(?:value|default)\\?[\"']?\s*[:=]\s*(?:{QUOTED}|{_BARE})",
    # ${NAME:-value}, ${a.name:value}
    r"\$\{(?P<key>\w{1,200}):?[-=+](?P<bare>[^{}\n]{1,4000})\}",
    r"\$\{(?P<key>\w{1,100}\.[\w.-]{1,200}):(?P<bare>[^{}\n]{1,4000})\}",
    # key: String = "value", builder.key("value"), key.equals("value"), "value".equals(key)
    rf"{KEY}[ \t]*:[ \t]*[\w.<>|\[\], ]{{1,60}}?=[ \t]*{QUOTED}",
    rf"\.(?!get|find|read|has|is|remove|delete|fetch|load|resolve|lookup){NAME}(?P<key>[A-Za-z_]\w{{0,200}})\(\s*{QUOTED}",
    rf"{KEY}\.(?:equals\w*|contentEquals)\(\s*{QUOTED}",
    rf"{QUOTED}\.(?:equals\w*|contentEquals)\(\s*{KEY}",
    # getenv("key")).orElse("value"), key match { case "value", /* key */ "value", variable "key" { default = "value" }
    rf"[\"']{KEY}[\"']\s*\){{1,2}}\s*\.\s*(?:orElse|getOrElse)\(\s*{QUOTED}",
    rf"{KEY}\s+match\s*\{{\s*case\s+{QUOTED}",
    rf"/\*\s*{KEY}[ \t=:]*\*/\s*{QUOTED}",
    rf"\bvariable\s+\"{KEY}\"\s*\{{[^{{}}]{{0,400}}?\bdefault\s*=\s*{QUOTED}",
    rf"\bgetConnection\([^()\n]{{1,400}},[^,()\n]{{1,200}},\s*{QUOTED}\s*\)",
    rf"\b(?P<key>IDENTIFIED(?: WITH \S{{1,100}})? BY)\s+{QUOTED}",
]
#: Where names and values need no quotes: ``key=value``, ``--key value`` and lists of arguments.
_UNQUOTED = [
    rf"{KEY}(?:\[[^\]\n]{{0,100}}\])?{_END}\+?=(?![=~]|\.\*|/(?:[\w^.]*=|[;\s\"']))\(?{_BARE}",
    rf"{OPTION}(?:[ \t]+|[\"']?[ \t]*\n[ \t]*-[ \t]+)(?:{QUOTED}|(?!-){_BARE})",
]
_NEAR = re.compile(
    rf"{HINTS}|identified|curl|mysql|mariadb|7z|mongo|beeline|login|zip|sqlcmd|bcp|[it]sql|redis|ldap|smbclient|lftp"
    r"|sql(?:plus|ldr)|(?:exp|imp)dp|\bmc |kinit|stdin|sudo|getconnection|ssh-keygen|openssl|<(?:name|value)>",
    re.IGNORECASE,
)
_LINES_NEAR = 6
_OF_CODE = tuple(re.compile(each, re.IGNORECASE) for each in _RULES)
_OF_TEXT = (*_OF_CODE, *(re.compile(each, re.IGNORECASE) for each in _UNQUOTED))
_OF_PROGRAMS = tuple(re.compile(each) for each in PROGRAMS)
#: A line that sets a key. With a blank between them only after a dotted key: "password for the shop" is prose.
_LINE = re.compile(
    r"(?:^|<<<)[ \t]*(?:-[ \t]+)?(?P<comment>#[# \t]*|![ \t]*|--[ \t]*|//[ \t]*|REM[ \t]+)?"
    r"(?P<verb>(?:export|local|readonly|declare|typeset|set|setenv|env|arg|aws configure set|echo|printf)[ \t]+"
    r"(?:-\w+[ \t]+)*)?[\"']?(?P<key>[A-Za-z_][\w-]*(?P<dotted>(?:\.[\w-]+)*))[\"']?"
    r"(?P<sign>[ \t]*[=:][ \t]*|[ \t]+)(?P<bare>[^\s(\[{=:].*?|\{\{.*?)[ \t\r]*,?$",
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
#: What the shell puts in place of a variable or a command.
_EXPANSION = "\ufffc"


def read(kind: str, content: str) -> Document:
    """Look at a text that is not rewritten.

    Args:
        kind: ``script``, ``sql``, ``code`` of other languages, or ``text``.
        content: all of it.
    """
    kept = _KEPT.get(kind, _KEPT["text"])
    found = [*texts_of(content, kept=kept, code=kind == "code", variables=kind == "script")]
    if kind == "sql":
        found += sql.texts_of(content, kept=kept)
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
    for first, last in _near(content, start, len(content) if end is None else end):
        for expression in (*(_OF_CODE if code else _OF_TEXT), *_OF_PROGRAMS):
            for found in expression.finditer(content, first, last):
                yield _text(content, found, kept, variables=variables)
        for found in _LINE.finditer(content, first, last):
            word = (
                variables and found["sign"] == "="
            )  # a word of the shell, which ends at a blank: found already
            if not word and (found["dotted"] or (not code and _is_sure(found))):
                yield _text(content, found, kept, variables=variables)
        yield from sql.inside(content, first, last, kept=kept)


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


def of_programs(content: str, *, kept: str) -> Iterator[Text]:
    """Return what follows options of well-known programs, also in a list of arguments."""
    for first, last in _near(content, 0, len(content)):
        for expression in _OF_PROGRAMS:
            for found in expression.finditer(content, first, last):
                yield _text(content, found, kept, variables=True)


def commented(content: str, texts: list[Text]) -> Iterator[Text]:
    """Return what is commented out in properties and YAML: what belongs to no text."""
    starts = {text.start for text in texts}
    for text in texts_of(content, kept=COMMENTED):
        if text.kept is COMMENTED and text.start not in starts and _is_comment(content, text.start):
            yield text


def _is_comment(content: str, at: int) -> bool:
    return _COMMENT.search(content[content.rfind("\n", 0, at) + 1 : at]) is not None


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
    if _FORMAT.fullmatch(value):
        value = _EXPANSION
    elif group != "single" and ("$" in value or "`" in value):
        value = _expanded(value, variables=variables or group == "bare")
    if _is_comment(content, found.start("key") if named else start):
        kept = COMMENTED
    elif variables and key.startswith("spark."):
        kept = _CONF
    return Text(key, value, start, end, kept=kept, conf=False)


def _expanded(value: str, *, variables: bool) -> str:
    """Defaults of variables, and signs in place of what else the shell puts there."""
    count = 1
    while count:
        value, count = _DEFAULT.subn(lambda found: found[1], value)
    return _EXPANDED.sub(_EXPANSION, value) if variables else value

"""What the words and signs of programs say of a literal beside them: which join, which call, which list."""

from __future__ import annotations

import re

__all__ = [
    "ADDRESS", "ASKS", "BESIDE", "CLOSING", "ENCODING", "EQUALS", "FIELDS", "FILLED", "FORMATS", "GENERIC",
    "GIVES", "INSTEAD", "JOINS", "LISTED", "LISTS", "LITERAL", "LITERALS", "LOGIN", "MOST_BLANKS", "NAME",
    "NAMING", "NO_NAMES", "OR_ELSE", "PAIRS", "PASSWORDS", "SAME", "STORE", "TAIL", "TOKEN",
    "WITH_ONE",
]  # fmt: skip

LITERAL = (
    r"(?<![\w\\])[A-Za-z@$]{0,2}(?:\"\"\"(?P<triple>(?:[^\\]|\\.)*?)\"\"\"|\'\'\'(?P<apostrophes>(?:[^\\]|\\.)*?)\'\'\'"
    r"|`(?P<back>[^`\\]{0,4000})`|\"(?![),;])(?P<double>(?:[^\"\\\n]|\\.){0,4000})\""
    r"|\'(?![),;])(?P<single>(?:[^\'\\\n]|\\.){0,4000})\')"
)
TOKEN = re.compile(
    # The text of an element of XML; its tag is the name before it.
    LITERAL + r"|>(?:<!\[CDATA\[)?(?P<element>[^<>]{1,4000}?)(?:\]\]>)?</[\w.:-]{1,200}>\s{0,200}"
    r"|\\\"(?P<escaped>[^\"\\\n]{0,4000})\\\""
    r"|(?P<name>[A-Za-z_]\w*(?:(?:[.$-]|::)[A-Za-z_0-9]\w*)*)"
    r"|(?P<sign><<?-|<=>|\?:|\?\?=?|\|\|=?|=>|->|:=|[=!]==?|=|:|[,;()\[\]{}\n+%@])",
    re.DOTALL,
)
LITERALS = ("triple", "apostrophes", "back", "double", "single", "escaped", "element")
#: What joins a name, or a literal that is one, to its value. ``a ?: "b"``: instead of a.
JOINS = frozenset(
    ("<-", "<<-", "<=>", "?:", "??", "??=", "||", "||=", "=>", "->", ":=", "=", "==", "===", "!=", "!==", ":")
)
CLOSING = {")": "(", "]": "[", "}": "{"}
NO_NAMES = re.compile(
    r"va[lr]|let|const|def|lambda|async|await|yield|final|static|private|public|protected|new|return|lazy|implicit|override|case|match|is|in|by|if"
    r"|else|when|then|export|local|my|our|mut|not"
)
BESIDE = frozenset(("to", "as", "or", "unless", "if", "else", "in"))
#: Keys that say nothing themselves: the name stands beside it, or before the braces around it.
GENERIC = re.compile(r"[\w-]*?(?:value|default)(?:_factory|_var)?|fallback|object|unset", re.IGNORECASE)
NAMING = re.compile(r"[\w-]*?(?:name|key|id)", re.IGNORECASE)
INSTEAD = re.compile(r"(?:get_?)?or_?else(?:_?get)?|unwrap_or|or|with_?default|in", re.IGNORECASE)
ASKS = re.compile(
    r"(?:get|is|has)(?-i:(?![a-z]))|read|find|remove|delete|fetch|load|resolve|lookup|create", re.IGNORECASE
)
#: Calls that say the same as what they are given first.
SAME = re.compile(
    r"(?!get|read|fetch)(?:some|option(?:al)?|just|(?:value_?)?of(?:_?nullable)?|str(?:ing)?|lit(?:eral)?|apply|base64\w*"
    r"|bytes\w*|bytearray|c|\w*(?:de|en)(?:code|crypt)\w*|\w*sec(?:ret|ure)\w*|list|tuple|set|sorted|reversed|array\w*"
    r"|as_?list|un(?:hex\w*|quote\w*)|quote\w*|default\w*|from\w*|pure|raw|iter|next|dedent|field|final|cast|join)",
    re.IGNORECASE,
)
#: Calls that answer their last argument if they find nothing, unless a store is asked.
OR_ELSE = re.compile(
    r"get(?:_?env|attr|_?or_?default|_?property)?|pop|set_?default|next|env(?:_var)?|config|coalesce|nvl|if_?null|if_?else|lookup|try"
    r"|require_?non_?null_?else",
    re.IGNORECASE,
)
STORE = re.compile(r"secret|vault|client|session|request|keyring|widgets", re.IGNORECASE)
#: Calls with names of columns and of other things, one after the other.
LISTS = re.compile(
    r"select\w*|group_?by|order_?by|sort\w*|partition_?by|bucket_?by|drop\w*|distinct|join|cols?|agg|with_?column\w*|to_?df"
    r"|cube|rollup|pivot|(?-i:List|Set|Seq|Array|Vector)(?:\.of)?|(?:list|set|array)_?of|c|contains\w*|log|info|warn\w*"
    r"|error|debug|trace|print\w*|format|assert\w*|expect|describe|replace\w*|split|rename\w*|zip",
    re.IGNORECASE,
)
FIELDS = frozenset(("user", "username", "name", "id", "key", "value", "host", "port", "url"))
#: Calls that take pairs as lists of two.
PAIRS = re.compile(r"dict|map|from_?entries|set_?all", re.IGNORECASE)
EQUALS = re.compile(
    r"(?:.*\.)?(?:(?:assert_?)?equals?\w*|content_?equals|compare\w*|verify|checkpw)", re.IGNORECASE
)
FORMATS = re.compile(r"(?:.*\.)?s?(?:print)?f(?:ormat)?", re.IGNORECASE)
LOGIN = re.compile(
    r"(?:credentials?|authentication|login|auth)(?:\.\w+)?$|(?:get_?)?connect(?:ion)?$|\bPDO$", re.IGNORECASE
)
WITH_ONE = re.compile(r"(?:Key|Token|Secret|Password)Credentials?$")
#: password_box.send_keys("...")
FILLED = re.compile(
    r"(?P<of>.+?)(?:_?(?:entry|box|field|input|elem(?:ent)?|edit))?\.(?:set|insert|send_keys|fill|set_?text|put)",
    re.IGNORECASE,
)
GIVES = re.compile(r"(?:\w+\.)*\w*(?:value|default)", re.IGNORECASE)
TAIL = re.compile(r"([A-Za-z_][\w.-]{0,100})\s?[=:]\s?['\"]?(?:%s|\{\})?$")
PASSWORDS = re.compile(r"pass(?:word|wd|phrase)?s?$|(?:^|_)pws?$", re.IGNORECASE)
MOST_BLANKS = 2
NAME = re.compile(r"[\w.${}-]+")
ENCODING = re.compile(
    r"utf[-_]?\d+\w*|latin[-_]?1|(?:us-)?ascii|iso-8859-\d+|hex|base64|rot13|idna", re.IGNORECASE
)
LISTED = re.compile(r"(?:secret|credential)s$", re.IGNORECASE)
ADDRESS = re.compile(r"[?&;]\w+=|://|^\w+=[^;]*;|\bjdbc:|^(?:Bearer|Basic) ")

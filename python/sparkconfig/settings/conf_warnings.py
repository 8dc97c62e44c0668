"""What is probably a mistake in a conf although an application starts: secrets in clear or empty, near references.

Texts name keys and providers, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.settings.early import is_read_early
from sparkconfig.settings.expressions import is_literal, is_text, marked
from sparkconfig.settings.kinds import DURATION
from sparkconfig.settings.placeholders import (
    ONLY_ON_DATABRICKS,
    is_databricks_secret,
    is_placeholder,
    unfilled,
    whole,
)
from sparkconfig.settings.schema import PREFIX, declared
from sparkconfig.settings.secret_names import is_switch, names_secret

__all__ = [
    "NOT_SPARKS",
    "empty",
    "for_spark",
    "in_clear",
    "is_secret",
    "mistakes",
    "near_misses",
    "of_start",
    "remedy_for",
]

# A customer's own key (SSE-C), or else the name of one in a key store: an ARN, an alias, a UUID.
_S3_KEY = late(r"\bfs\.s3a\.(bucket\.[^.]+\.)?(server-side-)?encryption\.key$", re.IGNORECASE)
_KEY_ID = late(
    r"(arn:.*|alias/.*|(mrk-)?[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE
)
# Of marked texts: a value beside a name inside a text, such as a URL, JAAS or options of Java.
_INSIDE = late(
    r"(?P<name>[\w.-]{1,100})\s{0,3}=(?:\s{0,3}\"(?P<quoted>[^\"]{1,4000})|(?P<bare>[^&;\s\"]{1,4000}))"
)
_IN_URL = late(
    r"://[^/@:\s]{1,100}:([^/@\s]{1,400})@|\bjdbc:oracle:\w{2,8}:[^/\s:@]{1,100}/([^/@\s]{1,200})@",
    re.IGNORECASE,
)
_BOUND = late(r"\?|:\w+|\$\d")
_PATTERNS = late(r"spark\.(sql\.)?redaction\.")
_EARLY = (
    "Spark reads this conf before plugins start, so let what starts the application write the value itself"
)
NOT_SPARKS = "spark-submit ignores confs whose names do not begin with 'spark.'"
EMPTY_REMEDY = (
    'A shell replaces "${...}" in double quotes with nothing: write references in single quotes there'
)
"""What to do about the keys that :func:`empty` finds."""
_TOKENS = late(r"tokens$", re.IGNORECASE)  # how many: a limit of a parser or of a language model
# Where the secret is, and no secret: a file with an extension, which base64 never ends with, or an ARN.
# So is a path of folders in small letters, as tools mount secrets.
_PLACE = late(
    r"(file:(//)?)?(/[\w./-]{0,500}\.\w{2,8}|(/[a-z][a-z0-9_.-]{0,60}){2,20})|arn:aws[\w-]*:[\w:/.-]{1,500}",
    re.ASCII,
)
_NEAR_MISS = late(r"\$\{([A-Za-z0-9][A-Za-z0-9_-]{0,63})([./])[^}:]{0,500}\}")
_OTHER_BRACKETS = late(
    r"(?:(\$[\[(]?)|(?<![$#%@ ])(\{)|(?=[$#%@]\s?\{[^\s{}]{1,500}\})([#%@]\{|\$\s\{))([A-Za-z0-9][A-Za-z0-9_-]{0,63}):"
    r"[^\s:{}\"']{1,200}(?::[^\s:{}\"']{1,200}|(?<=[\])])$|(?(3)|(?!)))"
)
_WHOLE = r"\$\{[^{}'\"`]*:[^{}'\"`]*\}"
_QUOTED = late(rf"(?P<quote>['\"`]){_WHOLE}(?P=quote)")
_FOLLOWED = late(rf"{_WHOLE}(?:\s+[#!/].*|\s*[;,]|\}}+)")
_ESCAPED = late(rf"[\\$]{{1,2}}{_WHOLE}")
_DURATION_PARAM = late(
    rf"{re.escape(PREFIX)}providers\.[^.]+\.param\.(.+\.)?(ttl|timeout|interval|expiry|duration)$"
)
_UNKNOWN_OPEN = late(r"\$\{[A-Za-z0-9][A-Za-z0-9_-]{0,63}:[^:{}]{0,500}:[^:{}]+$")
_OPEN_NAME = late(r"\$\{[A-Za-z_][\w-]{0,100}(:[^:{}]+)?")
_OPEN = late(r"\$\{([A-Za-z0-9][A-Za-z0-9_-]{0,63})[:./]")


def of_start(confs: Mapping[str, str], providers: Collection[str]) -> Iterator[str]:
    """What the log of a driver warns of, one text a line.

    What Spark reads before plugins start is left out: the warning would help no one.

    Args:
        confs: an application's confs.
        providers: the names of its providers.
    """
    plain = [key for key in in_clear(confs) if not is_read_early(key)]
    if plain:
        keys = ", ".join(shorten(key) for key in plain)
        yield f"secrets are in clear in: {keys}. Put each value into a store and a reference in its place"
    yield from mistakes(confs, providers)


def mistakes(confs: Mapping[str, str], providers: Collection[str]) -> Iterator[str]:
    """What is probably a mistake in the confs, with what to write: placeholders, quotes, units, texts near a reference.

    Args:
        confs: an application's confs, or those of a file.
        providers: the names of its providers.
    """
    near = [each for key, text in confs.items() for each in _near(key, text, providers)]
    yield from near
    for key, text in confs.items():
        name = shorten(key)
        if not key.startswith("spark.") and any(each[1] in providers for each in _OPEN.finditer(text)):
            yield f"{name}: {NOT_SPARKS}; write {for_spark(name)}"
        if "${" in key:
            yield f"{name}: nothing expands a variable in the name of a conf; write the name in full"
        if _QUOTED.fullmatch(text.strip()):
            yield f"{name}: the quotes around the reference would be a part of the value; leave them out"
        if _ESCAPED.fullmatch(text.strip()):
            yield f"{name}: nothing is escaped: leave the sign before the reference out"
        if _FOLLOWED.fullmatch(text.strip()):
            yield f"{name}: what follows the reference on its line would be a part of the value; remove it"
        problem = not_filled_in(key, text)
        if problem and not any(each.startswith(f"{name}: ") for each in near):
            yield f"{name}: {problem}"
        if unit := _unit_of(key, text):
            number = shorten(text.strip())
            yield f"{name}: {number} is taken as {unit}; write {number}s if you mean seconds"
    for key in empty(confs):
        yield f"{shorten(key)}: this conf should hold a secret and is empty. {EMPTY_REMEDY}"


def for_spark(key: str) -> str:
    """Return the name of a conf by which Spark reads what another file calls ``key``."""
    bare = key.strip("\"'`").replace("SPARK.", "spark.", 1)
    if bare.startswith("spark."):
        return bare
    if not key[:1].isalpha() or key == "export":
        return "spark.KEY"  # a line of a script
    return ("spark.hadoop." if key.startswith(("fs.", "dfs.", "hive.", "javax.jdo.")) else "spark.") + key


def _unit_of(key: str, text: str) -> str | None:
    """The unit that a number without one has, for a setting that is a duration."""
    if not text.strip().isdigit() or text.strip() == "0":
        return None
    units = {each.metadata["name"]: each.metadata["kind"].name for each in declared()}
    kind = units.get(key, DURATION if _DURATION_PARAM.match(key) else "")
    return "milliseconds" if kind == DURATION else None


def in_clear(confs: Mapping[str, str]) -> list[str]:
    """The keys whose values are, or hold, secrets and not references."""
    return sorted(key for key, text in confs.items() if _is_in_clear(key, text))


def empty(confs: Mapping[str, str]) -> list[str]:
    """The keys that name a secret and hold nothing: what a shell makes of a reference in double quotes."""
    return sorted(key for key, text in confs.items() if not text.strip() and names_secret(key))


def remedy_for(key: str) -> str:
    """What to do about a secret in clear."""
    if not is_read_early(key):
        return "put the value into a store, such as a sealed file ('sparkconfig seal'), and a reference in its place"
    other = ", or name a Hadoop credential provider" if key.startswith("spark.ssl.") else ""
    return f"Spark reads it before plugins start: let only the driver's user read the file (chmod 600){other}"


def near_misses(text: str, providers: Collection[str]) -> Iterator[str]:
    """Describe what looks like a reference to one of ``providers`` and is none, with what to write."""
    for found in _OTHER_BRACKETS.finditer(text):
        if found[4] in providers:
            opening = found[1] or found[2] or found[3]
            yield f"{opening}{found[4]}:… is text, not a reference; write ${{{found[4]}:PATH:KEY}}"
    for found in _NEAR_MISS.finditer(text):
        if found[1] in providers:
            yield (
                f"${{{found[1]}{found[2]}…}} has no colon, so it is text, not a reference; write"
                f" ${{{found[1]}:PATH:KEY}}"
            )
    open_ended = _OPEN.search(text, text.rfind("}") + 1)
    if open_ended is not None and open_ended[1] in providers:
        yield (
            f"${{{open_ended[1]}:… has no closing brace, so it is text, not a reference; write"
            f" ${{{open_ended[1]}:PATH:KEY}}"
        )


def _near(key: str, text: str, providers: Collection[str]) -> Iterator[str]:
    near = list(near_misses(text, providers))
    yield from (f"{shorten(key)}: {each}" for each in near)
    rest = text[text.rfind("}") + 1 :]
    if near:
        return
    # It may be a literal password: nothing of it is shown.
    if _UNKNOWN_OPEN.search(rest) or (names_secret(key) and _OPEN_NAME.fullmatch(rest.strip())):
        yield f"{shorten(key)}: a '${{' has no closing brace, so it is text, not a reference"


def is_secret(key: str, text: str) -> bool:
    """Whether the whole of ``text`` is a secret because ``key`` names one; no switch, place, count or reference is."""
    if is_switch(text):
        return False
    named = names_secret(key)
    if _S3_KEY.search(key):
        named = _KEY_ID.fullmatch(text.strip()) is None
    if not named or is_placeholder(text) or not is_literal(text) or _PLACE.fullmatch(text.strip()):
        return False
    return not (_TOKENS.search(key) and text.strip().isdigit())


def not_filled_in(key: str, text: str) -> str | None:
    """What to say of a conf that should hold a secret, or holds one inside, and has a placeholder in its place."""

    def expanded(name: str) -> bool:
        if key.startswith("spark.hadoop."):
            return "." in name
        return is_read_early(key) and name.startswith(("env", "system", "spark."))

    # An opening brace without an end marks all that follows.
    shown = marked(text) if text.rfind("}") > text.rfind("${") else text
    values = [text] if names_secret(key) else [whole(text, start, end) for _, start, end in _inside(shown)]
    # Of SQL: a statement is called with a value for it.
    values = [value for value in values if value == text or not _BOUND.fullmatch(value)]
    instead = _EARLY if is_read_early(key) else None
    found = (unfilled(value, expanded, instead) for value in values)
    return next(filter(None, found), ONLY_ON_DATABRICKS if is_databricks_secret(text) else None)


def _inside(shown: str) -> Iterator[tuple[str, int, int]]:
    """Where values stand inside a marked text that are secrets by the name beside them, or by their place in a URL."""
    for each in _INSIDE.finditer(shown):
        if names_secret(each["name"]):
            yield each["name"], *each.span("quoted" if each["quoted"] else "bare")
    for each in _IN_URL.finditer(shown):
        yield "password", *each.span(each.lastindex or 0)


def _is_in_clear(key: str, text: str) -> bool:
    if is_switch(text) or _PATTERNS.match(key):
        return False
    shown = marked(text)
    values = (
        (name, whole(text, start, end)) for name, start, end in _inside(shown) if is_text(shown[start:end])
    )
    if any(is_secret(name, value) for name, value in values):
        return True
    return not key.lower().endswith("sasl.jaas.config") and is_secret(key, text)

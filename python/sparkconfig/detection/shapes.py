"""What secrets look like in any text: tokens with known beginnings, passwords in addresses, keys in PEM.

Each expression takes linear time: repetitions are bounded, and no two of them can share characters.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sparkconfig.redaction.data import SECRET_NAMES
from sparkconfig.settings.expressions import VARIABLE, is_text, marked
from sparkconfig.settings.placeholders import is_placeholder, whole
from sparkconfig.settings.secret_names import could_name_secret, is_switch, names_secret

__all__ = ["Span", "entropy", "shapes", "union"]


class Span(NamedTuple):
    """The place of a secret in a text.

    Attributes:
        start: index of its first character.
        end: index after its last one.
        shape: what it looks like, in a few words; never a part of it.
    """

    start: int
    end: int
    shape: str


_KIND = r"(?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY"
# Group 1, or the whole match, is the secret.
_TOKENS: tuple[tuple[str, str, str], ...] = (
    # shape, a text that every match holds (what makes a search fast), expression
    ("private key", "PRIVATE KEY", rf"-----BEGIN {_KIND}-----[A-Za-z0-9+/=\s\\:,.]{{16,20000}}-----END {_KIND}-----"),
    ("AWS access key id", "AKIA", r"(?<![A-Za-z0-9/+=])AKIA[A-Z0-9]{16}(?![A-Za-z0-9/+=])"),
    ("AWS access key id", "ASIA", r"(?<![A-Za-z0-9/+=])ASIA[A-Z0-9]{16}(?![A-Za-z0-9/+=])"),
    ("GitHub token", "gh", r"\bgh[oprsu]_[A-Za-z0-9]{36,255}\b"),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,64}"),
    ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d{1,2})?\b"),
    ("Databricks secret", "dose", r"\bdose[0-9a-f]{32}\b"),
    ("Vault token", "hv", r"\bhv[bsr]\.[A-Za-z0-9_-]{20,300}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    ("Stripe key", "_live_", r"\b[rs]k_live_[A-Za-z0-9]{16,120}\b"),
    ("Google API key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("API key", "sk-", r"\bsk-[A-Za-z0-9_-]{20,200}"),
    ("SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,400}"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("JSON web token", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
)  # fmt: skip
_TOKEN_SHAPES = frozenset(shape for shape, _, _ in _TOKENS)
_COMPILED = tuple((shape, needle, re.compile(text)) for shape, needle, text in _TOKENS)

_USER_INFO = re.compile(r"://[^/\s:@\"'<>]{0,200}:([^/\s@\"'<>]{1,400})@")
# jdbc:oracle:thin:user/password@host
_ORACLE = re.compile(r"\bjdbc:oracle:\w{2,8}:[^/\s:@\"']{1,100}/([^/\s@\"']{1,200})@", re.IGNORECASE)


def _named_by(joined: str, bare: str) -> re.Pattern[str]:
    """name=value and name: value, the name quoted or not, the value in quotes, in braces, or made of ``bare``."""
    return re.compile(
        r"(?P<name>(?:"
        + SECRET_NAMES
        + r")[A-Za-z0-9._-]{0,40})(?:\\{0,4}[\"'])?[ \t]{0,4}(?:"
        + joined
        + r")[ \t]{0,4}"
        r"(?:\"(?P<double>(?:[^\"\\\n]|\\[^\n]){1,4000})\"|'(?P<single>(?:[^'\\\n]|\\[^\n]){1,4000})'"
        r"|\\\"(?P<escaped>[^\"\\\n]{1,4000})\\\"|\{(?P<braces>[^{}\"\n]{1,400})\}|(?P<bare>"
        + bare
        + r"{1,4000}))",
        re.IGNORECASE,
    )


# In plans of logs the value of SET and of options stands as key,Some(value).
_NAMED = {
    True: _named_by(r"[=:]|, ?Some\(", r"[^\s&;,\"'<>\\)\]}]"),
    False: _named_by("[=:]", r"[^\s&;\"']"),
}
_GROUPS = ("double", "single", "escaped", "braces", "bare")
_NAME = re.compile(SECRET_NAMES, re.IGNORECASE)
# A text that each alternative of the names holds: finding these first is many times faster than the expression.
_HINTS = ("pass", "pwd", "secret", "token", "credential", "sig", "sas", "key")
_BEFORE_HINT = 12  # letters of "encryption_" before "key"
_BEFORE_NAME = 60
_IN_NAMES = string.ascii_letters + string.digits + "._-"
_BEARER = re.compile(r"\b(?:Bearer|Basic) ([A-Za-z0-9+/=._~-]{12,4000})", re.IGNORECASE)
_DIGITS = re.compile(r"\d\D*\d|\w{5}.*\d")
# What is beside such names in prose and in code.
_WORD = re.compile(
    r"\$?\{.*|\$\[.*|\$[A-Z_(].*|%.*%|(?:your|my|the)[-_ ].*"
    r"|(?:true|false|yes|no|on|off|none|null|nil|undefined|redacted|masked|changeme|required|optional|secret|password"
    r"|string|text|str|0|1)[,.]?|\[.*|\(.*|.*\(\)?|.*[.]get.*|(?:get|read|new)-[a-z]+",
    re.IGNORECASE | re.DOTALL,
)


def shapes(text: str, *, prose: bool = True) -> list[Span]:
    """Return where something in ``text`` looks like a secret, left to right, without overlaps.

    Args:
        text: any text.
        prose: whether it may be a log or a program, where words such as ``secret=None`` say nothing; False: the value
            of a conf or an option, where what is named a password is one.
    """
    return union(
        span
        for span in _found(marked(text), prose=prose)
        if span.shape in _TOKEN_SHAPES or not is_placeholder(whole(text, span.start, span.end))
    )


def union(spans: Iterable[Span]) -> list[Span]:
    """Return ``spans`` in order; of those that overlap, the one that begins first, and of these the longest."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
        elif span.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=span.end)
    return kept


def entropy(value: str) -> float:
    """Shannon's entropy of the characters of ``value``, in bits a character."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values()) if value else 0.0


def _found(text: str, *, prose: bool) -> Iterator[Span]:
    for shape, needle, expression in _COMPILED:
        if needle in text:
            yield from (Span(*found.span(), shape) for found in expression.finditer(text))
    if "://" in text and "@" in text:
        yield from _groups(_USER_INFO, text, "password in an address")
    if "jdbc:oracle" in text:
        yield from _groups(_ORACLE, text, "password in an address")
    if "earer " in text or "asic " in text:
        yield from _groups(_BEARER, text, "authorization header", _is_credential)
    yield from _named(text, prose=prose)


def _groups(
    expression: re.Pattern[str], text: str, shape: str, accept: Callable[[str], bool] = lambda _: True
) -> Iterator[Span]:
    for found in expression.finditer(text):
        if accept(found[1]):
            yield Span(*found.span(1), shape)


def _named(text: str, *, prose: bool) -> Iterator[Span]:
    for found in _names(text, _NAMED[prose]):
        group = next(name for name in _GROUPS if found[name] is not None)
        value = found[group]
        before = text[max(found.start() - _BEFORE_NAME, 0) : found.start()]
        if before.endswith(("$", "/")) and text.startswith(":", found.end("name")):
            continue  # $PWD:/home/me, ./creds:/etc/secrets:ro
        # All of it: pullSecrets are names of secrets.
        name = before[len(before.rstrip(_IN_NAMES)) :] + found["name"]
        # What goes on with another word: a value with digits, or that looks random.
        sure = names_secret(name) and not name.lower().endswith("tokens")
        if not sure and not (
            could_name_secret(name) and _looks_random(value, strict=not _DIGITS.search(value))
        ):
            continue
        if is_switch(value) or not is_text(value):
            continue
        # What a log or a program says around a variable is mostly no password.
        if prose and (VARIABLE in value or _WORD.fullmatch(value)):
            continue
        # Prose has such names too: "Token: expected", "secret key: the one". Only what looks random counts there.
        colon = ":" in text[found.end("name") : found.start(group)]
        if prose and group == "bare" and not _looks_random(value, strict=colon):
            continue
        yield Span(*found.span(group), "value beside the name of a secret")


def _names(text: str, expression: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Where ``expression`` matches, in order and without overlaps, as ``finditer`` finds it."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have longer lower ones
        yield from expression.finditer(text)
        return
    starts: set[int] = set()
    for hint in _HINTS:
        at = lower.find(hint)
        while at >= 0:
            name = _NAME.search(text, max(0, at - _BEFORE_HINT), at + _BEFORE_HINT)
            if name is not None:
                starts.add(name.start())
            at = lower.find(hint, at + 1)
    end = 0
    for start in sorted(starts):
        found = expression.match(text, start) if start >= end else None
        if found is not None:
            end = found.end()
            yield found


def _looks_random(value: str, *, strict: bool) -> bool:
    if value.startswith(("/", "file:", "http:", "https:", "s3:", "s3a:", "hdfs:", "arn:")):
        return False
    if not strict:
        return len(value) >= 4
    mixed = sum((any(map(str.isdigit, value)), any(map(str.islower, value)), any(map(str.isupper, value))))
    return len(value) >= 8 and mixed >= 2 and entropy(value) >= 2.5


def _is_credential(value: str) -> bool:
    return len(value) >= 16 and (any(map(str.isdigit, value)) or entropy(value) >= 3.5)

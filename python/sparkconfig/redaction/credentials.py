"""The secrets inside one line of text: URLs, DSNs, connection strings, JAAS configurations, headers, netrc.

The same rules as ``Credentials.scala``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from sparkconfig.redaction.data import HARMLESS_NAMES, SECRET_NAMES

__all__ = ["BLANKS", "credentials", "is_secret"]

#: Blanks and line ends, in both engines: what languages and people trim, a file's byte order mark too.
BLANKS = " \t\n\r\f\v\0\x85\xa0\u200b\u2028\u2029\u202f\u3000\ufeff"

# No scheme is longer; without a bound, a long value without "://" takes quadratic time.
_USER_INFO = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]{0,99}://([^/?#\s]*)@", re.ASCII)
# A password that should have been percent-encoded; "host:5432/path@x" has none.
_SLASHED = re.compile(
    r"[A-Za-z][A-Za-z0-9+.:-]{0,99}://(?!\[)[^/?#\s:@]{0,256}:(?![0-9]{1,5}[/?#])"
    r"([^/?#\s@]{0,256}[/?#][^\s@]{0,256})@",
    re.ASCII,
)
_ORACLE = re.compile(r'jdbc:oracle:[a-z]{1,16}:[^/@\s]{0,256}/("[^"]{1,256}"|[^"@\s]{1,256})@', re.ASCII)
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9._ /-]{0,63}?)\s*=\s*(.+)", re.ASCII | re.DOTALL)
_QUOTED = re.compile(
    r"""([A-Za-z][A-Za-z0-9._-]{0,63})\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.ASCII | re.DOTALL
)
# SQL Server and ODBC: a closing brace inside is written twice.
_BRACED = re.compile(r"([A-Za-z][A-Za-z0-9._-]{0,63})[ \t]{0,8}=[ \t]{0,8}\{([^}]*(?:\}\}[^}]*)*)\}")
# In lists of any kind: Teradata's, MySQL's addresses, DB2's, libpq's with blanks around the sign.
_LISTED = re.compile(
    r"(?:^|[;&?,(/: \t])[ \t]{0,8}([A-Za-z][A-Za-z0-9._-]{0,63})[ \t]{0,8}=[ \t]{0,8}([^;&,() \t\"'{?#]+)"
)
_COLON = re.compile(r"[ \t-]*[\"']?([A-Za-z][A-Za-z0-9._ -]{0,63})[\"']?[ \t]*:[ \t]+(.+)", re.DOTALL)
_HEADER = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9-]{0,63}:[ \t]*)?(bearer|basic|token|apikey|negotiate)[ \t]+([A-Za-z0-9._~+/=:-]+)",
    re.ASCII | re.IGNORECASE,
)
_NETRC = re.compile(
    r"(?:(?:machine[ \t]+[^ \t]+|default)[ \t]+)?(?:login[ \t]+[^ \t]+[ \t]+)?password[ \t]+([^ \t=:][^ \t]*)"
)
_GAPS = re.compile(r"\s+", re.ASCII)
_SECRET_NAME = re.compile(SECRET_NAMES, re.IGNORECASE)
_HARMLESS_NAME = re.compile(HARMLESS_NAMES, re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether the text behind this name is a secret."""
    return _SECRET_NAME.search(name) is not None and _HARMLESS_NAME.search(name) is None


def credentials(text: str) -> Iterator[str]:
    """The secrets in a line without blanks around it."""
    for found in _USER_INFO.finditer(text):
        yield from found[1].split(":", 1)
    for pattern in (_SLASHED, _ORACLE):
        for found in pattern.finditer(text):
            yield found[1].strip('"')
    if ":" in text and (after := _COLON.fullmatch(text)) and is_secret(after[1]):
        yield after[2].strip(BLANKS).strip("\"'")
    if header := _HEADER.fullmatch(text):
        yield from _of_header(header[1].lower(), header[2])
    if entry := _NETRC.fullmatch(text):
        yield entry[1]
    if "=" in text:
        yield from _of_pairs(text)


def _of_header(scheme: str, written: str) -> Iterator[str]:
    yield written
    if scheme == "basic":
        try:
            padded = written + "=" * (-len(written) % 4)
            yield from base64.b64decode(padded, validate=True).decode("utf-8").split(":", 1)
        except (binascii.Error, UnicodeDecodeError):
            return


def _of_pairs(text: str) -> Iterator[str]:
    for name, quoted in _QUOTED.findall(text):
        if is_secret(name):
            yield re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
    for name, braced in _BRACED.findall(text):
        if is_secret(name):
            yield braced.replace("}}", "}")
    pairs = text.split(";") if ";" in text else []
    pairs += text.split("?", 1)[-1].split("&")
    pairs += _GAPS.split(text)
    for pair in pairs:
        found = _PAIR.fullmatch(pair.strip(BLANKS))
        if found and is_secret(found[1]):
            yield found[2].strip(BLANKS).strip("\"'{}")
            yield found[2]
    for name, listed in _LISTED.findall(text):
        if is_secret(name):
            yield listed

"""Both languages written down by regular expressions: slow and of another mind than the scanners."""

import re

from sparkconfig.substitution.command import PUNCTUATION

_REFERENCE = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
_JAVA_BLANKS = "".join(map(chr, range(33)))


def references(text):
    """Kafka's own expression (cubic time: for short texts), as (provider, path, key, start, end)."""
    return [(m[1], m[3] or "", m[4], m.start(), m.end()) for m in _REFERENCE.finditer(text)]


def segments(text):
    """KIP-269: literal text, ("cmd", type, modifiers, identifier) or ("bad", raw)."""
    found = re.search(r"\$(\[+)", text)
    if not found or len(found[1]) > 5:
        return [text]
    n = len(found[1])
    pieces = re.split(rf"\$\[{{{n}}}(.*?)\]{{{n}}}", text, flags=re.DOTALL)
    out = [pieces[0]] if pieces[0] else []
    for inner, after in zip(pieces[1::2], pieces[2::2], strict=True):
        out.append(_command(inner, n) if inner else "")
        if after:
            out.append(after)
    return out or [""]


def _command(inner, n):
    bad = ("bad", "$" + "[" * n + inner + "]" * n)
    marks = re.escape("".join(sorted(PUNCTUATION)))
    found = re.fullmatch(rf"([^{marks}]+)([{marks}])(.*)", inner, flags=re.DOTALL)
    if not found:
        return bad
    kind, mark, rest = found[1].strip(_JAVA_BLANKS), found[2], found[3]
    if mark == "=":
        return ("cmd", kind, (), rest)
    modifiers, close, identifier = rest.partition(mark + "=")
    pieces = tuple(modifiers.split(mark))
    if not close or rest.startswith("=") or not all(re.search(r"[^\x00-\x20]", p) for p in pieces):
        return bad
    return ("cmd", kind, pieces, identifier)

"""Splits a text into literal parts and what is replaced: references, substitutions, variables of others.

``sparkconfig.language`` reads references to resolve them. This module only tells them from clear secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from sparkconfig._base.late import late

__all__ = ["REPLACED", "VARIABLE", "is_literal", "is_text", "marked"]

REPLACED = "\ufffc"
"""Stands for each character of a reference, a substitution or a template."""
VARIABLE = "\ufffb"
"""Stands for each character of ``${name}`` or ``$[name]``: text for sparkconfig, perhaps a variable of a template."""

_LONGEST = 2000
# A brace was forgotten: what follows may be the name of a variable, or a reference.
_OPEN = late(r"\$\{[^\s\"'&;,]{0,2000}")
_OTHER_BRACKETS = late(r"\$\[[^\]]{0,2000}\]")
_TEMPLATES = {"{{": late(r"\{\{[^\n]{0,500}?\}\}"), "{%": late(r"\{%[^\n]{0,500}?%\}"),
              "<%": late(r"<%[^\n]{0,500}?%>")}  # fmt: skip


def is_literal(text: str) -> bool:
    """Whether a text holds no reference and no substitution, and is more than the name of a variable.

    ``hunter2-${x}`` is one: without a colon, ``${x}`` is text and may be a part of a password.
    """
    return is_text(marked(text.replace(REPLACED, VARIABLE)))


def is_text(text: str) -> bool:
    """The same of a text that is :func:`marked` already."""
    return REPLACED not in text and (VARIABLE not in text or any(map(str.isalnum, text)))


def marked(text: str) -> str:
    """Return a text of the same length, with signs in place of references, substitutions and variables.

    Those of more than 2000 characters stay: their ends may belong to different parts of a long text.
    """
    if "$[" in text:
        text = "".join(_substitutions(text))
    if "${" in text:
        text = "".join(_references(text))
    if "$[" in text:
        text = _OTHER_BRACKETS.sub(lambda found: VARIABLE * len(found[0]), text)
    # What is in the brackets of a template is its program, as in {{ lookup('env', 'X', password=x) }}.
    for opening, template in _TEMPLATES.items():
        if opening in text:
            text = template.sub(lambda found: REPLACED * len(found[0]), text)
    return text


def _substitutions(text: str) -> Iterator[str]:
    from sparkconfig.substitution import Command, Malformed, iter_segments

    segments = list(iter_segments(text))
    raw = [each if isinstance(each, str) else each.raw for each in segments]
    # An empty substitution has no text of its own; all of them have the same delimiters.
    empty = (len(text) - sum(map(len, raw))) // max(1, raw.count(""))
    for segment, own in zip(segments, raw, strict=True):
        if isinstance(segment, Command) and len(own) <= _LONGEST:
            yield REPLACED * len(own)
        elif isinstance(segment, Malformed) or own:
            yield own
        else:
            yield VARIABLE * empty


def _references(text: str) -> Iterator[str]:
    """As ``language.references`` finds them: from ``${`` to the next ``}``, with a colon between."""
    done, start = 0, text.find("${")
    while start >= 0:
        yield text[done:start]
        end = text.find("}", start) + 1
        if end == 0:
            yield _OPEN.sub(lambda found: VARIABLE * len(found[0]), text[start:])
            return
        if end - start > _LONGEST:
            yield text[start:end]
        else:
            yield (REPLACED if ":" in text[start:end] else VARIABLE) * (end - start)
        done, start = end, text.find("${", end)
    yield text[done:]

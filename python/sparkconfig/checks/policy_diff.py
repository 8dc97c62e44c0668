"""``sparkconfig policy diff``: the rules that one of two policies has and the other has not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparkconfig.policy.rules.extends import documents, find

__all__ = ["Difference", "differences"]

_NAMES = ("key", "tables", "statement", "className", "path", "source", "connection")
_SILENT = frozenset({"note", "message"})


@dataclass(frozen=True)
class Difference:
    """One rule.

    Attributes:
        section: the list in which it stands: ``rules``, ``paths``, …
        text: the rule.
        added: whether the newer policy has it.
    """

    section: str
    text: str
    added: bool


def differences(old: str, new: str) -> list[Difference]:
    """Compare two policies, each with all that it extends.

    Args:
        old: a file, or the name of a policy that ships.
        new: the same.

    Raises:
        ConfigurationError: one of them cannot be read or is wrong.
    """
    before, after = dict.fromkeys(_rules(old)), dict.fromkeys(_rules(new))
    return [
        *(Difference(*rule, added=False) for rule in before if rule not in after),
        *(Difference(*rule, added=True) for rule in after if rule not in before),
    ]


def _rules(policy: str) -> Iterator[tuple[str, str]]:
    """Section and text of each rule, of a list of keys or paths one for each."""
    for document in documents(find(policy, Path())):
        for section, elements in document.data.items():
            if isinstance(elements, dict):
                yield from (
                    (section, f"{name} {json.dumps(elements[name], sort_keys=True)}") for name in elements
                )
            for element in elements if isinstance(elements, list) else ():
                told = {name: value for name, value in element.items() if name not in _SILENT}
                name = next((each for each in _NAMES if isinstance(told.get(each), list)), "")
                for one in told[name] if name else ("",):
                    rule = {**told, name: one} if name else told
                    yield section, json.dumps(rule, sort_keys=True, ensure_ascii=False)

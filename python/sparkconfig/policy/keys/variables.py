"""Variables that Spark and Hadoop replace by themselves: ``${env.NAME}``, ``${user.home}``, ``${other.key}``.

Options of file sources and confs of a session become values of a Hadoop ``Configuration``, whose ``get`` puts the
environment, system properties and its other keys in their place, secrets too; Spark's own ``ConfigReader`` does the
same with confs. On a server that several users share, such a text reads what is not the user's.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

__all__ = ["LONGEST", "VARIABLES", "variables_in"]

VARIABLES = "sparkconfig.variables"
"""The key under which policies are asked about the name of a variable; on shared servers alone."""

LONGEST = 1000
"""Of a longer name only so much is told, and one character more: each `${` of a text begins one."""

# Names of providers have no dots, those of Hadoop's variables do: ${env.NAME:-default}.
_REFERENCE = re.compile(r"(?P<provider>[A-Za-z_][\w-]*):[^${}]*", re.ASCII)


def variables_in(text: str, foreign: Container[str]) -> Iterator[str]:
    """The names of the variables in a text: all ``${...}`` that are not references, each once.

    Each is found when it is asked for, in time that grows with the text alone.

    Args:
        text: what a user wrote.
        foreign: providers such as ``env``, whose references Spark, Hadoop or Hive replace.
    """
    found = set()
    begin, end = text.find("${") + 2, 0
    while begin >= 2:
        # Hadoop and Spark would try again at a dollar within braces.
        end = end if end >= begin else text.find("}", begin)
        if end < 0:
            return
        reference = _REFERENCE.fullmatch(text, begin, end)
        name = text[begin : min(end, begin + LONGEST + 1)]
        if name not in found and (reference is None or reference["provider"] in foreign):
            found.add(name)
            yield name
        begin = text.find("${", begin) + 2

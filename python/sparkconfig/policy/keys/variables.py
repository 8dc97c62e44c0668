"""Variables that Spark and Hadoop replace by themselves: ``${env.NAME}``, ``${user.home}``, ``${other.key}``.

Options of file sources and confs of a session become values of a Hadoop ``Configuration``, whose ``get`` puts the
environment, system properties and its other keys in their place, secrets too; Spark's own ``ConfigReader`` does the
same with confs. On a server that several users share, such a text reads what is not the user's.
"""

from __future__ import annotations

import re
from collections.abc import Container

__all__ = ["VARIABLES", "variables_in"]

VARIABLES = "sparkconfig.variables"
"""The key under which policies are asked about the name of a variable; on shared servers alone."""

# With the braces and dollars that Hadoop and Spark would try again at the next place.
_OPENED = re.compile(r"\$\{(?=(?P<name>[^}]*)\})")
# Names of providers have no dots, those of Hadoop's variables do: ${env.NAME:-default}.
_REFERENCE = re.compile(r"(?P<provider>[A-Za-z_][\w-]*):[^${}]*", re.ASCII)


def variables_in(text: str, foreign: Container[str]) -> list[str]:
    """Return the names of the variables in a text: all ``${...}`` that are not references.

    Args:
        text: what a user wrote.
        foreign: providers such as ``env``, whose references Spark, Hadoop or Hive replace.
    """
    found = []
    for opened in _OPENED.finditer(text):
        reference = _REFERENCE.fullmatch(opened["name"])
        if reference is None or reference["provider"] in foreign:
            found.append(opened["name"])
    return list(dict.fromkeys(found))

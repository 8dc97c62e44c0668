"""KIP-269 substitutions ``$[type/modifiers/=identifier]``; off in Spark unless asked for.

:func:`parse` finds them, :class:`SubstitutableValues` calculates them, :class:`SubstituterType` and
:class:`SubstituterTypeHelper` are what a custom type is made of.
"""

from sparkconfig.substitution.allowlists import Allowlists
from sparkconfig.substitution.builtin import BUILTIN_TYPES
from sparkconfig.substitution.definitions import FROM_VALUES, SUFFIX
from sparkconfig.substitution.redactable import REDACTED, RedactableObject
from sparkconfig.substitution.scanner import OPENING, Command, Malformed, Plan, Segment, iter_segments, parse
from sparkconfig.substitution.types import SubstituterType, SubstituterTypeHelper, UnderlyingValues
from sparkconfig.substitution.values import SubstitutableValues

__all__ = [
    "BUILTIN_TYPES",
    "FROM_VALUES",
    "OPENING",
    "REDACTED",
    "SUFFIX",
    "Allowlists",
    "Command",
    "Malformed",
    "Plan",
    "RedactableObject",
    "Segment",
    "SubstitutableValues",
    "SubstituterType",
    "SubstituterTypeHelper",
    "UnderlyingValues",
    "iter_segments",
    "parse",
]

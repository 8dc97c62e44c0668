"""The conditions of policy elements: what a value must be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.keys.units import KINDS, Unit, unit_named, unit_of
from sparkconfig.policy.keys.values import looks_secret, same, text_of
from sparkconfig.policy.rules import schema
from sparkconfig.policy.rules.matching import Budget, Matcher

__all__ = ["Condition", "build"]


class Condition(ABC):
    """What a value must be.

    Attributes:
        quiet: whether messages must not quote what the policy allows.
        needs_value: False if the answer does not depend on the value.
        compares_text: whether "allowed" holds for a text with an unresolved reference, since it compares texts.
    """

    quiet: bool = False
    needs_value: bool = True
    compares_text: bool = False

    @abstractmethod
    def problem(self, name: str, text: str, budget: Budget) -> str | None:
        """What is wrong with ``text``, without the text; None if nothing is.

        Args:
            name: the key as the job spells it, which says in what unit a plain number is.
            text: the value.
            budget: the time for regular expressions.
        """


class _Anything(Condition):
    needs_value = False

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        return None


class _Nothing(Condition):
    needs_value = False

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        return "it is forbidden; remove it"


class _Fixed(Condition):
    compares_text = True

    def __init__(self, value: str) -> None:
        self._value = value

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        if same(text, self._value, unit_of(name)):
            return None
        return "its value is fixed by the operator; remove it"


class _OneOf(Condition):
    compares_text = True

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        unit = unit_of(name)
        if any(same(text, value, unit) for value in self._values):
            return None
        return "its value is not on the allowlist" + ("" if self.quiet else f": {_listed(self._values)}")


class _NoneOf(Condition):
    def __init__(self, values: Sequence[str]) -> None:
        self._values = values
        self._folded = frozenset(value.strip().lower() for value in values)

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        # Stricter than the allowlist: Spark reads many values without regard to case.
        unit = unit_of(name)
        if text.strip().lower() in self._folded or any(same(text, value, unit) for value in self._values):
            return "its value is on the blocklist"
        return None


class _Matching(Condition):
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._matcher = Matcher(pattern)

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        matches = self._matcher.matches(text, budget)
        if matches:
            return None
        if matches is None:
            return "its value could not be matched against the policy's pattern in the time allowed"
        shown = "" if self.quiet else f": {shorten(self._pattern)}"
        return "its value does not match the policy's pattern" + shown


class _Between(Condition):
    def __init__(self, low: str | None, high: str | None, unit: Unit | None, *, named: bool) -> None:
        self._low_text, self._high_text = low, high
        self._unit = unit or Unit("number")
        self._named = named
        self._low, self._high = self._end("minValue", low), self._end("maxValue", high)
        if self._low is not None and self._high is not None and self._low > self._high:
            raise ConfigurationError("minValue is larger than maxValue")

    def _end(self, field: str, text: str | None) -> Decimal | None:
        value = None if text is None else self._unit.parse(text)
        if text is not None and value is None:
            raise ConfigurationError(
                f"{field} is not a {self._unit.kind} such as {_EXAMPLES[self._unit.kind]}"
            )
        return value

    def problem(self, name: str, text: str, budget: Budget) -> str | None:  # noqa: ARG002
        unit = self._unit
        if not self._named:  # an alias may count plain numbers in another unit than its key
            own = unit_of(name)
            unit = own if own is not None and own.kind == unit.kind else unit
        value = unit.parse(text)
        if value is None:
            return f"its value is not a {unit.kind} such as {_EXAMPLES[unit.kind]}"
        if self._low is not None and value < self._low:
            return "its value is too small" + (
                "" if self.quiet else f": at least {self._low_text} is allowed"
            )
        if self._high is not None and value > self._high:
            return "its value is too large" + (
                "" if self.quiet else f": at most {self._high_text} is allowed"
            )
        return None


_EXAMPLES = {"size": "512m or 8g", "time": "500ms or 30s", "number": "42"}


def _between(element: schema.Range, key: str) -> Condition:
    low, high = (
        None if end is None or (isinstance(end, str) and end.strip().lower() == "unlimited") else _text(end)
        for end in (element.min_value, element.max_value)
    )
    if element.unit is not None:
        unit = unit_named(element.unit)
        if unit is None:
            raise ConfigurationError("unit must be number, b, kib, mib, gib, tib, us, ms, s, min, h or d")
        return _Between(low, high, unit, named=True)
    unit = unit_of(key) or _guess(low) or _guess(high)
    if unit is None and any(end is not None and end.strip()[-1:].lower() == "m" for end in (low, high)):
        raise ConfigurationError("'m' is a minute or a mebibyte; say which with unit: min or mib")
    return _Between(low, high, unit, named=False)


def _guess(end: str | None) -> Unit | None:
    """The unit that a bound's own suffix implies, for keys that Spark does not know."""
    letters = "" if end is None else end.strip().lower().lstrip("+-.0123456789 ")
    if letters and letters != "m":
        for kind, table in KINDS.items():
            if letters in table:
                return Unit(kind, "b" if kind == "size" else "ms")
    return None


def _text(value: object) -> str:
    return text_of(value) or ""


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(shorten(value, 60) for value in values[:10])
    return f"{shown}, ..." if len(values) > 10 else shown


_BUILDERS: dict[str, Callable[..., Condition]] = {
    "unlimited": lambda element, key: _Anything(),  # noqa: ARG005
    "forbidden": lambda element, key: _Nothing(),  # noqa: ARG005
    "fixed": lambda element, key: _Fixed(_text(element.value)),  # noqa: ARG005
    "allowlist": lambda element, key: _OneOf([_text(v) for v in element.values]),  # noqa: ARG005
    "blocklist": lambda element, key: _NoneOf([_text(v) for v in element.values]),  # noqa: ARG005
    "regex": lambda element, key: _Matching(element.pattern),  # noqa: ARG005
    "range": _between,
}
_BUILDERS["whitelist"] = _BUILDERS["allowlist"]  # Databricks' own old names
_BUILDERS["blacklist"] = _BUILDERS["blocklist"]


def build(element: schema.Element, key: str) -> Condition:
    """Make the condition of ``element`` for ``key``.

    Raises:
        ConfigurationError: a pattern, a unit or a range's end is wrong.
    """
    condition = _BUILDERS[element.type](element, key)
    condition.quiet = element.hidden or looks_secret(key)
    return condition

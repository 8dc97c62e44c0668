"""Which part of a JSON answer holds the fields that are the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from sparkconfig._base.text import shorten
from sparkconfig.errors import ProviderError
from sparkconfig.formats.flat import flatten, json_fields, parsed_json
from sparkconfig.providers._kit.params import Param, ParamValues

__all__ = ["SELECTION", "Selection"]

SELECTION = (
    Param("pointer", "JSON pointer (RFC 6901) to the object with the keys as fields; unset: the whole answer"),
    Param("list.key", "for a pointer to a list of objects: the field of each that is the key, such as `label`"),
    Param("list.value", "and the field that is its value, such as `value`"),
)  # fmt: skip
"""For providers whose stores answer JSON."""


class Selection:
    """What the params ``pointer``, ``list.key`` and ``list.value`` select.

    Args:
        values: the params of the provider.

    Raises:
        ConfigurationError: the pointer is not one, or one of the two others is missing.
    """

    def __init__(self, values: ParamValues) -> None:
        pointer = values.optional("pointer") or ""
        if pointer and not pointer.startswith("/"):
            raise values.wrong("pointer", "must begin with /", pointer)
        self._parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        self._key, self._value = values.optional("list.key"), values.optional("list.value")
        if (self._key is None) is not (self._value is None):
            missing = "list.value" if self._value is None else "list.key"
            raise values.wrong(missing, "is not set; list.key and list.value belong together")

    def fields(self, answer: object, keys: Set[str] | None, where: str) -> dict[str, str]:
        """Return the fields that ``keys`` name (None: all), by dotted name; see :func:`flatten`.

        Raises:
            ProviderError: they are not there, or two entries of the list have a key that was asked for.
        """
        found = self._selected(answer)
        if self._key is not None:
            if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
                raise ProviderError(f"{where}: the param pointer leads to no list of objects in the answer")
            found = self._by_key(found, keys, where)
        if not isinstance(found, Mapping):
            raise ProviderError(f"{where}: the param pointer leads to no JSON object in the answer")
        flat = flatten(found, where)
        return _named(flat, keys)

    def fields_of_text(self, text: str, keys: Set[str] | None, where: str) -> dict[str, str]:
        """Return the same of an answer that is JSON text."""
        if not self._parts and self._key is None:
            return _named(json_fields(text, where), keys)
        problem = "is not JSON"
        try:
            answer = parsed_json(text)
        except RecursionError:
            problem = "is nested too deeply"
        except ValueError:
            pass
        else:
            return self.fields(answer, keys, where)
        raise ProviderError(f"{where} {problem}")

    def _selected(self, answer: object) -> object:
        found = answer
        for part in self._parts:
            if isinstance(found, Mapping) and part in found:
                found = found[part]
            elif isinstance(found, list) and part.isascii() and part.isdigit() and int(part) < len(found):
                found = found[int(part)]
            else:
                return None
        return found

    def _by_key(
        self, entries: Sequence[Mapping[str, object]], keys: Set[str] | None, where: str
    ) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in self._pairs(entries):
            # Which of them is meant is unclear, and a password that changes places is hard to find.
            if key in found and (keys is None or key in keys):
                raise ProviderError(f"{where}: two entries of the list have the key {shorten(key)!r}")
            found[key] = value
        return found

    def _pairs(self, entries: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, object]]:
        for entry in entries:
            key, value = entry.get(self._key or ""), entry.get(self._value or "")
            if isinstance(key, str) and value is not None:
                yield key, value


def _named(fields: Mapping[str, str], keys: Set[str] | None) -> dict[str, str]:
    return {key: value for key, value in fields.items() if keys is None or key in keys}

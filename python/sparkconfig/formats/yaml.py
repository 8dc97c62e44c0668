"""YAML: one mapping; nested names are joined by dots, scalars keep their spelling (``yes`` stays ``yes``).

Anchors and aliases are refused: a few lines of them can stand for gigabytes. Tags make no objects.
"""

from __future__ import annotations

import functools
from typing import Any

from sparkconfig._base import advice
from sparkconfig.errors import ProviderError
from sparkconfig.formats.errors import FormatError, MissingReaderError
from sparkconfig.formats.flat import flatten

__all__ = ["load"]


def load(content: bytes) -> dict[str, str]:
    """Read a file's content.

    Raises:
        FormatError: no YAML mapping in UTF-8, aliases, or two fields with one dotted name.
        MissingReaderError: PyYAML is not installed.
    """
    loader = _loader()
    problem = "the content is not a YAML mapping"
    try:
        parsed = _parse(loader, content.decode("utf-8-sig"))
        if isinstance(parsed, dict):
            return flatten(parsed, "the content")
    except RecursionError:
        problem = "the content is nested too deeply"
    except ProviderError as error:
        problem = str(error)
    except _yaml().YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = "the content is not YAML" + (f", see line {mark.line + 1}" if mark is not None else "")
    except ValueError:
        problem = "the content is not YAML in UTF-8"
    raise FormatError(problem)


def _yaml() -> Any:  # noqa: ANN401 - an optional module
    try:
        import yaml
    except ImportError:
        problem = f"YAML needs PyYAML: {advice.install('yaml')}"
    else:
        return yaml
    raise MissingReaderError(problem)


def _parse(loader: Any, text: str) -> object:  # noqa: ANN401
    reader = loader(text)
    try:
        return reader.get_single_data()
    finally:
        reader.dispose()


@functools.cache
def _loader() -> Any:  # noqa: ANN401
    """A loader that knows mappings, lists, nulls and texts, and nothing else."""
    yaml = _yaml()
    base: Any = yaml.SafeLoader

    class Loader(base):  # type: ignore[misc]
        """Safe, and without aliases and typed scalars."""

        def compose_node(self, parent: object, index: object) -> Any:  # noqa: ANN401
            if self.check_event(yaml.events.AliasEvent):
                raise FormatError("the content uses YAML aliases, which are not read")
            return super().compose_node(parent, index)

    def text(reader: Any, node: Any) -> Any:  # noqa: ANN401
        return reader.construct_scalar(node)

    for kind in ("bool", "int", "float", "timestamp", "binary"):
        Loader.add_constructor(f"tag:yaml.org,2002:{kind}", text)
    return Loader

"""TOML: nested names are joined by dots; floats keep their spelling, dates are written in ISO form."""

from __future__ import annotations

import sys

from sparkconfig.errors import ProviderError
from sparkconfig.formats.errors import FormatError
from sparkconfig.formats.flat import flatten

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load"]


def load(content: bytes) -> dict[str, str]:
    """Read a file's content.

    Raises:
        FormatError: not UTF-8, not TOML, or two fields with one dotted name.
    """
    try:
        return flatten(tomllib.loads(content.decode("utf-8-sig"), parse_float=str), "the content")
    except RecursionError:
        problem = "the content is nested too deeply"
    except ProviderError as error:
        problem = str(error)
    except ValueError:  # UnicodeDecodeError, TOMLDecodeError: their texts may quote the content
        problem = "the content is not TOML in UTF-8"
    raise FormatError(problem)

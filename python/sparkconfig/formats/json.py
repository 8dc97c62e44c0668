"""JSON: an object; nested names are joined by dots, numbers keep their spelling."""

from __future__ import annotations

from sparkconfig.errors import ProviderError
from sparkconfig.formats.errors import FormatError
from sparkconfig.formats.flat import json_fields

__all__ = ["load"]


def load(content: bytes) -> dict[str, str]:
    """Read a file's content, UTF-8 with or without a byte order mark.

    Raises:
        FormatError: not UTF-8, not a JSON object, nested too deeply, or two fields with one dotted name.
    """
    try:
        return json_fields(content.decode("utf-8-sig"), "the content")
    except UnicodeDecodeError:
        problem = "the content is not UTF-8 text"
    except ProviderError as error:
        problem = str(error)
    raise FormatError(problem)

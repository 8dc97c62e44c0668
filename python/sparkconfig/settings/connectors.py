"""Connectors that read confs by themselves, and whose code may have the values of references there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.settings.kinds import Kind, names
from sparkconfig.settings.readers import CONNECTOR_CODE

__all__ = ["PREFIXES"]

_PACKAGE = late(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\.?", re.ASCII)
_KEYS = late(r"[A-Za-z][\w-]*(\.[\w-]+)*\.?", re.ASCII)
#: Half the class path is in a package so short.
_TOO_WIDE = frozenset({"org.apache", "org.apache.spark", "com.google", "com.amazonaws", "io.sparkconfig"})


def _parse(given: str | None) -> Mapping[str, tuple[str, ...]]:
    listed = (given or "").strip()
    found: dict[str, tuple[str, ...]] = dict(CONNECTOR_CODE) if listed.startswith("+") else {}
    for part in names.parse(listed.removeprefix("+")):
        prefix, equals, packages = (text.strip() for text in part.partition("="))
        wanted = tuple(package.strip() for package in packages.split("|"))
        if not equals or not _KEYS.fullmatch(prefix) or prefix.startswith("spark.config"):
            raise ValueError(f"expected PREFIX=PACKAGE, got '{shorten(part, 60)}'")
        for package in wanted:
            if _PACKAGE.fullmatch(package) is None or package.rstrip(".") in _TOO_WIDE:
                raise ValueError(f"expected the Java package of a connector, got '{shorten(package, 60)}'")
        found[prefix.rstrip(".") + "."] = tuple(each.rstrip(".") + "." for each in wanted)
    return found


PREFIXES: Kind[Mapping[str, tuple[str, ...]]] = Kind(
    "PREFIX=PACKAGE, separated by commas; several packages of one prefix by |", _parse
)

"""What surface/connect.json leaves undecided of the messages that a Spark Connect client may send.

    python tools/surface/connect.py --pyspark DIR

``--pyspark`` is an installed ``pyspark`` package directory. Strings, bytes, maps, packed messages of others and the
choices between messages (``oneof``) are decided one by one. Numbers, booleans and enums are harmless by their kind, and
other messages are walked. The program prints each field that is undecided, and each line of the file that is about no
field of this Spark; it then ends with 1.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import files

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor

PACKAGE = "spark.connect."
ANY = "google.protobuf.Any"


def main() -> int:
    """Print what is undecided, and what is decided in vain."""
    parser = argparse.ArgumentParser(description="what surface/connect.json leaves undecided of a Spark")
    parser.add_argument("--pyspark", type=Path, required=True, help="an installed pyspark package directory")
    parser.add_argument("--file", type=Path, default=files.FOLDER / "connect.json", help=argparse.SUPPRESS)
    options = parser.parse_args()
    pyspark = options.pyspark
    spark = version(pyspark)
    fields = deciding(requests(pyspark))
    decided = set(files.verdicts(files.read(options.file), spark))
    lines = [f"undecided: {name}" for name in sorted(fields - decided)]
    lines += [f"no field of Spark {spark}: {name}" for name in sorted(decided - fields)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return int(bool(lines))


def deciding(messages: list[Descriptor]) -> set[str]:
    """Return the fields that have to be decided, of these messages and of all below them."""
    seen: set[str] = {ANY}
    found: set[str] = set()
    while messages:
        message = messages.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        # The decision about a map is one about the texts in it.
        fields = [message.fields_by_name["value"]] if _is_map(message) else message.fields
        if not _is_map(message):
            found.update(field.full_name.removeprefix(PACKAGE) for field in fields if _is_decided(field))
        messages += [field.message_type for field in fields if field.message_type is not None]
    return found


def _is_decided(field: FieldDescriptor) -> bool:
    kind, choice = field.message_type, field.containing_oneof
    if kind is None:
        return field.type in (field.TYPE_STRING, field.TYPE_BYTES)
    # "optional" is a choice of one, with an underscore before its name.
    is_choice = choice is not None and not choice.name.startswith("_")
    return kind.full_name == ANY or _is_map(kind) or is_choice


def _is_map(message: Descriptor) -> bool:
    return bool(message.GetOptions().map_entry)


def version(pyspark: Path) -> str:
    """Return the version of a package directory's Spark, such as ``4.3``."""
    text = (pyspark / "version.py").read_text(encoding="utf-8").partition("__version__")[2]
    found = re.search(r"\d+\.\d+", text)
    if found is None:
        raise SystemExit(f"no version in {pyspark}")
    return found[0]


def requests(pyspark: Path) -> list[Descriptor]:
    """Return the messages of all calls; only the descriptors are imported, and no Spark."""
    for name in ("pyspark", "pyspark.sql", "pyspark.sql.connect", "pyspark.sql.connect.proto"):
        module = types.ModuleType(name)
        module.__path__ = [str(pyspark.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module
    base = importlib.import_module("pyspark.sql.connect.proto.base_pb2")
    return [method.input_type for method in base.DESCRIPTOR.services_by_name["SparkConnectService"].methods]


if __name__ == "__main__":
    sys.exit(main())

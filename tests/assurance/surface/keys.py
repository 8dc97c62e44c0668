"""Keys that this Spark and its libraries know: the literals of the classes that hold options, properties and confs."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from support.class_files import constants

_JARS = re.compile(
    r"(spark-(core|sql|catalyst|hive|connect|sql-api|hive-thriftserver)|hive|avro|orc|parquet)[-_]"
)
_CLASSES = re.compile(r"Option|Propert|ConfVars|DataSource(V2)?Utils|serdeConstants|putFormat|CryptoFactory")
_OTHERS = re.compile(r"/DescriptorProtos|/POJO|jackson|protobuf|/ui/|/k8s/")
_KEY = re.compile(r"[a-z][A-Za-z0-9]*([._-][A-Za-z0-9]+)*")
#: Words of keys that name something which a server opens, loads, runs or asks.
_LEADS = re.compile(
    r"ur[il]|path|file|dir|loc|host|port|server|address|class|driver|factory|provider|hook|listener|impl|handler|"
    r"serde|schema|xsd|dtd|command|script|cmd|jar|plugin|catalog|store|proxy|filter|codec|compress|format|lib|dbtable|"
    r"query|table|init|statement|policy|manager|alias|expr",
    re.IGNORECASE,
)
FORMATS = ("jdbc", "csv", "json", "xml", "text", "orc", "parquet", "avro")


@cache
def known(home: Path) -> Mapping[str, tuple[str, ...]]:
    """The format that a class belongs to by its name, ``conf`` or "", to the keys that lead somewhere."""
    found: dict[str, set[str]] = {name: set() for name in ("", "conf", *FORMATS)}
    for jar in filter(lambda each: _JARS.match(each.name), home.glob("jars/*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                short = name.rpartition("/")[2]
                if short.endswith(".class") and _CLASSES.search(short) and not _OTHERS.search(f"/{name}"):
                    pool = constants(archive.read(name))
                    found["conf" if "ConfVars" in short else _format(name)].update(
                        filter(_leads, (pool.texts[each] for each in pool.literals))
                    )
    return {kind: tuple(sorted(keys)) for kind, keys in found.items()}


def _leads(text: str) -> bool:
    return 2 < len(text) < 70 and bool(_KEY.fullmatch(text) and _LEADS.search(text))


def _format(name: str) -> str:
    words = {word.lower() for word in re.findall(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])", name)}
    return next((each for each in FORMATS if each in words), "")

"""Write the software bill of materials of a built wheel: ``python tools/jars/sbom.py dist``.

CycloneDX 1.6 in JSON, beside the wheel. It has

* the wheel itself, with its digest,
* each jar inside the wheel, with its digest; they hold classes of this project alone, as a test of the wheel checks;
* every distribution that the wheel depends on, in the version that is pinned and tested, with the digests of its files:
  ``python/requirements.txt`` as required, what the extras add (``python/requirements-all.txt``) as optional.

Spark, Scala, log4j2 and whatever else the jars call are not in it: they belong to the Spark that loads the jars. The
same files give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime, timezone
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pip_requirements_parser import RequirementsFile

ROOT = Path(__file__).resolve().parents[2]
NAME = "sparkconfig"
_EPOCH = "1580601600"  # the time that hatchling gives the files of a wheel


def main() -> None:
    """Parse the command line and write the file."""
    parser = argparse.ArgumentParser(description="write the SBOM of a built wheel")
    parser.add_argument("dist", type=Path, help="the folder with the wheel")
    folder: Path = parser.parse_args().dist
    (wheel,) = folder.glob(f"{NAME}-*.whl")
    version = wheel.name.split("-")[1]
    text = written(bill_of(wheel, version))
    target = folder / f"{NAME}-{version}.cdx.json"
    target.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{target}\n")


def bill_of(wheel: Path, version: str) -> Bom:
    """Return the bill of a wheel."""
    bom = Bom()
    root = component(NAME, version, wheel.read_bytes())
    root.type = ComponentType.LIBRARY
    bom.metadata.component = root
    inside = list(jars(wheel, version))
    known = {canonicalize_name(each.name): each for each in distributions()}
    for each in [*inside, *known.values()]:
        bom.components.add(each)
    direct = {canonicalize_name(name) for name in named(metadata(wheel), extras=True)}
    bom.register_dependency(root, [*inside, *(each for name, each in known.items() if name in direct)])
    for name, each in known.items():
        needed = {canonicalize_name(other) for other in dependencies(name)}
        bom.register_dependency(each, [other for key, other in known.items() if key in needed])
    return bom


def component(name: str, version: str, content: bytes | None = None) -> Component:
    """Return a distribution of PyPI."""
    found = Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{name}=={version}",
        purl=PackageURL("pypi", name=canonicalize_name(name), version=version),
    )
    if content is not None:
        found.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(content).hexdigest()))
    return found


def jars(wheel: Path, version: str) -> Iterator[Component]:
    """Return the jars that a wheel carries."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in sorted(name for name in archive.namelist() if name.endswith(".jar")):
            digest = hashlib.sha256(archive.read(entry)).hexdigest()
            yield Component(
                name=entry.rpartition("/")[2],
                version=version,
                type=ComponentType.LIBRARY,
                scope=ComponentScope.REQUIRED,
                bom_ref=entry,
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
                properties=[Property(name=f"{NAME}:content", value="classes of this project alone")],
            )


def distributions() -> Iterator[Component]:
    """Return what is pinned for the wheel: required, and what the extras add."""
    required = pinned("requirements.txt")
    for name, (version, digests) in pinned("requirements-all.txt").items():
        found = component(name, version)
        found.scope = ComponentScope.REQUIRED if name in required else ComponentScope.OPTIONAL
        found.hashes.update(HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in digests)
        yield found


def pinned(file: str) -> dict[str, tuple[str, list[str]]]:
    """Return version and digests of each distribution in a file of requirements."""
    found = {}
    for line in RequirementsFile.from_file(str(ROOT / "python" / file)).requirements:
        (version,) = line.specifier
        digests = [option.partition(":")[2] for option in line.hash_options]
        found[line.name] = (version.version, sorted(digests))
    return found


def metadata(wheel: Path) -> list[str]:
    """Return what a wheel says that it depends on."""
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(entry)).get_all("Requires-Dist", [])


def dependencies(name: str) -> Iterator[str]:
    """Return what an installed distribution depends on, here and now; nothing for one that is not installed."""
    try:
        return named(requires(name) or [])
    except PackageNotFoundError:
        return iter(())


def named(lines: list[str], *, extras: bool = False) -> Iterator[str]:
    """Return the names in requirements that hold here and now; with ``extras``, those of all extras too."""
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or marker.evaluate() or (extras and "extra ==" in str(marker)):
            yield requirement.name


def written(bom: Bom) -> str:
    """Return the text of a bill, checked by CycloneDX's own schema; without a time or a random number."""
    bom.serial_number = None  # type: ignore[assignment] # then it is left out
    bom.metadata.timestamp = datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", _EPOCH)), timezone.utc
    )
    text: str = JsonV1Dot6(bom).output_as_string(indent=1)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        raise SystemExit(f"the SBOM is not CycloneDX: {problem}")
    return text


if __name__ == "__main__":
    main()

"""Compile the shim with the Scala compiler inside a pyspark wheel, into reproducible jars.

    python tools/jars/build.py --pyspark DIR [--out DIR] [--java JAVA]

``--pyspark`` is an installed ``pyspark`` package directory; its Scala version decides which of the two
flavours is built. No Maven, no sbt, no javac: a Java runtime is enough. The same sources give the same bytes:
entries are sorted, dates fixed, and scalac gets the files in a fixed order.

What implements an interface of a connector's library, such as kafka-clients, goes into a small jar of its own, since
it belongs into the class loader of that library, which often is not the first jar's. pyspark does not carry these
libraries, and nothing is fetched for them: scalac reads the signatures in ``src/NAME/signatures``, and makes no classes
of them. That they are the library's is what the tests against the real one show.

For Java, Scala adds a public static twin of each public method of an object, and SQL's ``reflect`` calls public static
methods by name. Nobody who only sends statements may ask or switch anything of ours, so the build takes ``public``
from every static method whose arguments SQL can make, see :func:`hidden`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "jvm-shim"
FLAVOURS = {"2.12": "scala-2.12-javax", "2.13": "scala-2.13-jakarta"}
PACKAGE_SUFFIXES = (".json", ".py", ".txt", ".typed")
PROPERTIES = "META-INF/sparkconfig.properties"
# The folders in `src` with what belongs beside a connector's library: one package and one small jar each.
CONNECTORS = ("aws", "azure", "cassandra", "gcs", "iceberg", "kafka")
VERSION_FILE = ROOT / "python" / "sparkconfig" / "_base" / "version.py"


def package_version() -> str:
    """Return the version that jar and package share."""
    found = re.search(r'__version__ = "([^"]+)"', VERSION_FILE.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"no version in {VERSION_FILE}")
    return found.group(1)


def repository_url() -> str:
    """Return where the sources are, as pyproject.toml says."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^Repository = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("no Repository in pyproject.toml")
    return found.group(1)


def scala_version(jars: Path) -> str:
    """Return the Scala binary version of the jars of a pyspark package, such as "2.13"."""
    compilers = sorted(jars.glob("scala-compiler-*.jar"))
    if not compilers:
        raise SystemExit(f"no Scala compiler in {jars}: is that the 'pyspark' package directory?")
    return ".".join(compilers[0].stem.removeprefix("scala-compiler-").split(".")[:2])


def spark_version(jars: Path) -> str:
    """Return the version of the Spark whose jars these are, such as "4.0.5"."""
    cores = sorted(jars.glob("spark-core_*.jar"))
    if not cores:
        raise SystemExit(f"no Spark in {jars}: is that the 'pyspark' package directory?")
    return cores[0].stem.rpartition("-")[2]


def sources(flavour: str) -> list[Path]:
    """Return the sources of a flavour, in a fixed order: Scala, and signatures in Java."""
    connectors = [SHIM / "src" / name for name in CONNECTORS]
    roots = [SHIM / "src" / "main" / "scala", *connectors, SHIM / "versions" / flavour]
    return sorted(path for root in roots for path in root.rglob("*") if path.suffix in (".scala", ".java"))


def resources(flavour: str) -> dict[str, bytes]:
    """Return what goes into the main jar beside the classes, by entry name."""
    found: dict[str, bytes] = {}
    for root in (SHIM / "src" / "main" / "resources", SHIM / "versions" / flavour / "resources"):
        for path in sorted(root.rglob("*")):
            if path.is_file():
                found[path.relative_to(root).as_posix()] = path.read_bytes()
    # The wheel has the same file: both engines of redaction go by one set of rules.
    found["io/sparkconfig/redaction/redaction.json"] = (
        ROOT / "python" / "sparkconfig" / "data" / "redaction.json"
    ).read_bytes()
    return {**found, **package(), **common_resources(flavour, PROPERTIES)}


def package() -> dict[str, bytes]:
    """Return the Python package, at the top of the main jar: Python imports it from there where none is installed.

    Spark puts the jars of ``--packages`` on the path of Python's drivers and workers, and the plugin adds its own jar
    to the side process's path.
    """
    root = ROOT / "python"
    files = [path for path in (root / "sparkconfig").rglob("*") if path.suffix in PACKAGE_SUFFIXES]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(files)}


def common_resources(flavour: str, properties: str) -> dict[str, bytes]:
    """Return what every jar of ours has, by entry name; ``properties`` is the name of the one that says its version."""
    found = {properties: f"version={package_version()}\nflavour={flavour}\n".encode()}
    for name in ("LICENSE", "NOTICE"):
        found[f"META-INF/{name}"] = (ROOT / name).read_bytes()
    found["META-INF/MANIFEST.MF"] = (
        "Manifest-Version: 1.0\r\n"
        "Implementation-Title: sparkconfig\r\n"
        f"Implementation-Version: {package_version()}\r\n\r\n"
    ).encode()
    return found


def compile_classes(jars: Path, flavour: str, java: str, into: Path) -> None:
    """Run scalac over the sources of a flavour."""
    command = [
        java, "-Xss8m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*",
        "scala.tools.nsc.Main", "-usejavacp", "-deprecation:false", "-encoding", "UTF-8", "-d", str(into),
        *map(str, sources(flavour)),
    ]  # fmt: skip
    done = subprocess.run(command, check=False)
    if done.returncode:
        raise SystemExit(f"the Scala compiler failed with exit code {done.returncode}")


# What ServiceLoader finds by a file in META-INF/services: a class that is one of these is named there.
SERVICES = (
    "java.sql.Driver",
    "org.apache.hadoop.security.alias.CredentialProviderFactory",
    "org.apache.spark.sql.jdbc.JdbcConnectionProvider",
    "org.apache.spark.sql.sources.DataSourceRegister",
)

# Bytes of a constant behind its tag (JVMS 4.4); of a text (tag 1), the two bytes of its length.
_CONSTANTS = {
    1: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip
_PUBLIC, _PRIVATE, _STATIC, _INTERFACE, _ABSTRACT = 0x0001, 0x0002, 0x0008, 0x0200, 0x0400
# Primitives, their boxes, and String: what SQL can make.
_FROM_SQL = re.compile(
    rb"\((?:[ZBCSIJFD]|Ljava/lang/(?:Boolean|Byte|Character|Short|Integer|Long|Float|Double|String);)*\)"
)


def constants(content: bytes) -> tuple[dict[int, bytes], dict[int, int], int]:
    """Return a class file's texts, the numbers of the texts that name its classes, and where its constants end."""
    (count,) = struct.unpack_from(">H", content, 8)
    texts: dict[int, bytes] = {}
    classes: dict[int, int] = {}
    at, index = 10, 1
    while index < count:
        tag, size = content[at], _CONSTANTS[content[at]]
        if tag == 1:
            size += struct.unpack_from(">H", content, at + 1)[0]
            texts[index] = content[at + 3 : at + 1 + size]
        elif tag == 7:
            (classes[index],) = struct.unpack_from(">H", content, at + 1)
        at += 1 + size
        index += 2 if tag in (5, 6) else 1
    return texts, classes, at


def services(classes: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files by which ServiceLoader finds what these classes implement, by entry name."""
    found: dict[str, list[str]] = {}
    for name, content in sorted(classes.items()):
        texts, numbers, at = constants(content)
        flags, _, parent, count = struct.unpack_from(">HHHH", content, at)
        if flags & _PUBLIC and not flags & (_INTERFACE | _ABSTRACT):
            above = (parent, *struct.unpack_from(f">{count}H", content, at + 8))
            for kind in {texts[numbers[each]].decode().replace("/", ".") for each in above}.intersection(
                SERVICES
            ):
                found.setdefault(kind, []).append(name.removesuffix(".class").replace("/", "."))
    return {f"META-INF/services/{kind}": ("\n".join(names) + "\n").encode() for kind, names in found.items()}


def hidden(content: bytes) -> bytes:
    """Return a class file in which no public static method takes only what SQL can make.

    Scala's own calls do not use them: they go to the object's instance, ``Name$.MODULE$``, and the body of a lambda
    is called from its own package.
    """
    texts, _, at = constants(content)
    flags, _, _, interfaces = struct.unpack_from(">HHHH", content, at)
    # The methods of an interface are public or private, and nothing between.
    instead = _PRIVATE if flags & _INTERFACE else 0
    at += 8 + 2 * interfaces
    changed = bytearray(content)
    for methods in (False, True):
        (members,) = struct.unpack_from(">H", content, at)
        at += 2
        for _ in range(members):
            access, name, descriptor, attributes = struct.unpack_from(">HHHH", content, at)
            static = access & _PUBLIC and access & _STATIC and texts[name] != b"<clinit>"
            if methods and static and _FROM_SQL.match(texts[descriptor]):
                struct.pack_into(">H", changed, at, access & ~_PUBLIC | instead)
            at += 8
            for _ in range(attributes):
                at += 6 + struct.unpack_from(">I", content, at + 2)[0]
    return bytes(changed)


def write_jar(entries: dict[str, bytes], jar: Path) -> None:
    """Zip classes and resources reproducibly and put the jar in place in one step."""
    manifest = "META-INF/MANIFEST.MF"
    order = [manifest, *sorted(name for name in entries if name != manifest)]
    jar.parent.mkdir(parents=True, exist_ok=True)
    partial = jar.with_suffix(f".{os.getpid()}.tmp")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in order:
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, entries[name])
    partial.replace(jar)


def inputs(flavour: str, spark: str) -> str:
    """Return a digest of everything that decides a jar's bytes; the jar carries it, see :func:`is_current`."""
    return _digest(classes_inputs(flavour, spark), resources(flavour))


def classes_inputs(flavour: str, spark: str) -> str:
    """Return a digest of what decides the bytes of the classes; the jar carries it, see :func:`classes_of`."""
    files = [Path(__file__), *sources(flavour)]
    return _digest(
        f"{flavour} {spark}", {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}
    )


def _digest(begin: str, files: dict[str, bytes]) -> str:
    digest = hashlib.sha256(begin.encode())
    for name, content in sorted(files.items()):
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def is_current(jar: Path, digest: str) -> bool:
    """Whether a jar, the main one or a connector's, was built from the inputs with this digest."""
    return f"inputs={digest}" in _properties(jar)


def _properties(jar: Path) -> list[str]:
    properties = f"META-INF/{jar.name.partition('_')[0]}.properties"
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(properties).decode().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile):
        return []


def classes_of(jars: tuple[Path, ...], digest: str) -> dict[str, bytes]:
    """Return the classes of jars whose other entries alone are old, so that nothing has to be compiled."""
    found: dict[str, bytes] = {}
    for jar in jars:
        if f"classes={digest}" not in _properties(jar):
            return {}
        with zipfile.ZipFile(jar) as archive:
            found.update({name: archive.read(name) for name in archive.namelist() if name.endswith(".class")})
    return found


def jar_names(scala: str) -> tuple[str, ...]:
    """Return the file names of the jars for a Scala version: the main one's, then those of the connectors."""
    rest = f"_{scala}-{package_version()}.jar"
    return (f"sparkconfig{rest}", *(f"sparkconfig-{name}{rest}" for name in CONNECTORS))


def build(pyspark: Path, out: Path, java: str) -> Path:
    """Build the jars that fit an installed pyspark, unless those of the same inputs are there already.

    Returns:
        The main jar's path; those of the connectors are beside it.
    """
    jars = pyspark / "jars"
    scala = scala_version(jars)
    flavour = FLAVOURS.get(scala)
    if flavour is None:
        raise SystemExit(f"Scala {scala} is not supported; known: {', '.join(FLAVOURS)}")
    digest = inputs(flavour, spark_version(jars))
    main, *connectors = (out / name for name in jar_names(scala))
    if all(is_current(jar, digest) for jar in (main, *connectors)):
        return main
    compiled = classes_inputs(flavour, spark_version(jars))
    classes = classes_of((main, *connectors), compiled)
    if not classes:
        with tempfile.TemporaryDirectory(prefix="sparkconfig-shim-") as scratch:
            compile_classes(jars, flavour, java, Path(scratch))
            classes = {
                path.relative_to(scratch).as_posix(): hidden(path.read_bytes())
                for path in Path(scratch).rglob("*.class")
            }
    for old in (*out.glob(f"sparkconfig_{scala}-*.jar"), *out.glob(f"sparkconfig-*_{scala}-*.jar")):
        if old not in (main, *connectors):
            old.unlink()
    # The main jar comes last: it is what tells that all are there.
    for name, jar in zip(CONNECTORS, connectors, strict=True):
        package = f"io/sparkconfig/{name}/"
        entries = {
            entry: classes.pop(entry) for entry in [each for each in classes if each.startswith(package)]
        }
        properties = f"META-INF/sparkconfig-{name}.properties"
        entries |= common_resources(flavour, properties)
        entries[properties] += f"inputs={digest}\nclasses={compiled}\n".encode()
        write_jar(entries, jar)
    entries = {**classes, **services(classes), **resources(flavour)}
    entries[PROPERTIES] += f"inputs={digest}\nclasses={compiled}\n".encode()
    write_jar(entries, main)
    return main


def main() -> None:
    """Parse the command line and print the jar's path."""
    parser = argparse.ArgumentParser(description="compile the shim with the compiler in a pyspark wheel")
    parser.add_argument("--pyspark", type=Path, required=True, help="an installed pyspark package directory")
    parser.add_argument("--out", type=Path, default=ROOT / "python" / "sparkconfig" / "jars")
    parser.add_argument("--java", default=shutil.which("java") or "java")
    options = parser.parse_args()
    sys.stdout.write(f"{build(options.pyspark, options.out, options.java)}\n")


if __name__ == "__main__":
    main()

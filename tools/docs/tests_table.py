"""Where each package is tested: the table of docs/tests.md."""

from __future__ import annotations

from pathlib import Path

__all__ = ["lines"]

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "jvm-shim" / "src"

#: What stands behind the promises of Python's packages, beside the tests that mirror them.
PYTHON = {
    "_spark": ("tests/spark/test_hadoop_keystores.py", "tests/integration/test_wheel.py"),
    "agent": ("tests/spark/test_rotation_faults.py",),
    "checks": ("tests/unit/cli",),
    "cli": ("tests/assurance/artefacts",),
    "errors": ("tests/unit/providers", "tests/unit/resolution"),
    "kafka": ("tests/conformance",),
    "language": ("tests/conformance",),
    "policy": ("tests/conformance", "tests/spark/policy_doors"),
    "providers": ("tests/integration/stores",),
    "redaction": ("tests/conformance/redaction", "tests/leaks"),
    "session": ("tests/spark/test_plugin_launch.py",),
    "spark35": ("tests/spark/options",),
    "streaming": ("tests/spark/test_hadoop_keystores.py",),
    "substitution": ("tests/conformance",),
    "worker": ("tests/spark/test_rotation_cluster.py",),
}

#: Behind which promises the packages of the shim stand; their suites in Scala are found by their folders.
COVERS = {
    "agent": ("tests/spark/test_plugin_launch.py", "tests/spark/test_rotation_faults.py", "tests/spark/test_ends.py"),
    "bindings": ("tests/spark/options", "tests/spark/test_s3a.py"),
    "core": ("tests/spark/test_plugin_start.py", "tests/spark/test_confs.py"),
    "driver": ("tests/spark/test_plugin_start.py", "tests/spark/test_confs.py", "tests/spark/test_hadoop_keystores.py"),
    "executor": ("tests/spark/test_rotation_cluster.py", "tests/spark/test_rotation_refused.py"),
    "files": ("tests/spark/test_files_area.py", "tests/spark/test_files_cluster.py"),
    "policy": (
        "tests/spark/policy_doors", "tests/spark/test_statement_doors.py", "tests/spark/test_policy_start.py",
        "tests/spark/test_policy_servers.py",
    ),
    "redaction": (
        "tests/spark/fronts",
        "tests/conformance/redaction", "tests/leaks",
    ),
    "scrub": ("tests/spark/test_scrub_cluster.py",),
    "ui": ("tests/browser",),
    "aws": ("tests/spark/test_s3a.py",),
    "azure": ("tests/integration/test_jar_packages.py",),
    "cassandra": ("tests/assurance/real",),
    "gcs": ("tests/integration/test_jar_packages.py",),
    "iceberg": ("tests/assurance/third_parties", "tests/assurance/real"),
    "kafka": ("tests/spark/test_kafka_cluster.py",),
}  # fmt: skip


def lines() -> list[str]:
    """Return the table, Python's packages first."""
    rows = ["| package | its tests |", "| --- | --- |"]
    rows += [
        f"| `sparkconfig.{name}` | {_cell(list(PYTHON[name]))} |" for name in _python() if name in PYTHON
    ]
    rows += [f"| `io.sparkconfig.{name}` | {_cell(_of_scala(name))} |" for name in scala()]
    return rows


def _cell(places: list[str]) -> str:
    return ", ".join(f"`{place}`" for place in places)


def _python() -> list[str]:
    package = ROOT / "python" / "sparkconfig"
    folders = {path.name for path in package.iterdir() if any(path.glob("*.py"))}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    return sorted(folders | modules)


def scala() -> list[str]:
    """Return the packages of the shim, those of the connectors too."""
    return sorted(
        {
            path.name
            for path in SHIM.glob("*/scala/io/sparkconfig/*")
            if path.is_dir() and "test" not in path.parts
        }
    )


def _of_scala(name: str) -> list[str]:
    suites = SHIM / "test" / "scala" / "io" / "sparkconfig" / name
    own = [suites.relative_to(ROOT).as_posix()] if suites.is_dir() else []
    return [*own, *(place for place in COVERS.get(name, ()) if (ROOT / place).exists())]

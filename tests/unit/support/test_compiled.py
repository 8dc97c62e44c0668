"""What tests compile is kept: the compiler starts again only for other sources or another jar."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import leaks.support
from leaks.support import compile_scala

#: Stands for Java: it counts its starts, and "compiles" the last of its arguments into the folder after -d.
COMPILER = """#!/bin/sh
echo start >> "{starts}"
while [ $# -gt 1 ]; do [ "$1" = -d ] && into=$2; shift; done
[ -s "$1" ] && cp "$1" "$into/Probe.class"
"""


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often the compiler has started."""
    log = tmp_path / "starts"
    log.touch()
    java = tmp_path / "java"
    java.write_text(COMPILER.format(starts=log))
    java.chmod(0o755)
    (tmp_path / "shim.jar").write_bytes(b"one")
    monkeypatch.setattr(leaks.support, "java", lambda: str(java))
    monkeypatch.setattr(leaks.support, "shim_jar", lambda: tmp_path / "shim.jar")
    monkeypatch.setattr(leaks.support, "_COMPILED", tmp_path / "kept")
    return lambda: len(log.read_text().splitlines())


def test_the_compiler_starts_once_for_the_same_sources_and_jar(
    tmp_path: Path, starts: Callable[[], int]
) -> None:
    source = tmp_path / "Probe.scala"
    source.write_text("object Probe")
    for number, into in enumerate(("a", "b"), 1):
        compile_scala(source, tmp_path / into)
        assert (tmp_path / into / "Probe.class").read_text() == "object Probe", number
    assert starts() == 1
    source.write_text("object Other")
    compile_scala([source], tmp_path / "b")
    assert (tmp_path / "b" / "Probe.class").read_text() == "object Other"
    assert starts() == 2
    (tmp_path / "shim.jar").write_bytes(b"two")
    compile_scala(source, tmp_path / "c")
    assert starts() == 3
    assert len(list((tmp_path / "kept").iterdir())) == 3, "nothing half done is left"


def test_a_failed_compilation_is_not_kept(tmp_path: Path, starts: Callable[[], int]) -> None:
    source = tmp_path / "Probe.scala"
    source.touch()
    for number in (1, 2):
        with pytest.raises(Exception, match="non-zero exit status"):
            compile_scala(source, tmp_path / "a")
        assert starts() == number
    assert not list((tmp_path / "kept").iterdir())

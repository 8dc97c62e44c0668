"""What decides where a path leads: links in chains, above a file, of Kubernetes; and paths that lead nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sparkconfig.providers._kit.links import places


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Free of links itself."""
    return Path(os.path.realpath(tmp_path))


def test_a_plain_file(folder: Path) -> None:
    assert [*places(f"{folder}/a/./b//c")] == [(f"{folder}/a/b", "c")]


def test_a_relative_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a").mkdir()
    monkeypatch.chdir(folder / "a")
    assert [*places("../s")] == [(str(folder), "s")]


def test_a_chain_of_links(folder: Path) -> None:
    (folder / "s").symlink_to("m")
    (folder / "m").symlink_to(f"{folder}/far/../x")
    (folder / "far").symlink_to("a/b")
    (folder / "a" / "b").mkdir(parents=True)
    expected = [(str(folder), "s"), (str(folder), "m"), (str(folder), "far"), (f"{folder}/a", "x")]
    assert [*places(f"{folder}/s")] == expected


def test_a_mount_of_kubernetes(folder: Path) -> None:
    (folder / "key").symlink_to("..data/key")
    (folder / "..data").symlink_to("..2026")
    mount = str(folder)
    assert [*places(f"{mount}/key")] == [(mount, "key"), (mount, "..data"), (f"{mount}/..2026", "key")]


def test_all_that_is_in_a_directory(folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "link").symlink_to("d")
    assert [*places(f"{folder}/link/")] == [(str(folder), "link"), (f"{folder}/d", "")]


def test_links_that_lead_to_themselves_end(folder: Path) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    assert {*places(f"{folder}/one")} == {(str(folder), "one"), (str(folder), "two")}

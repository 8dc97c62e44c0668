"""Environments of an operator's interpreter that the job's user, nobody, could change in one place."""

from __future__ import annotations

import os
from pathlib import Path

NOBODY = 65534


def give(path: Path) -> None:
    os.chown(path, NOBODY, NOBODY)


def put_link(python: Path, folder: Path) -> None:
    """The job's user can put another link in the place of this one."""
    own = folder / "own-links"
    own.mkdir(mode=0o755)
    python.rename(python.with_name("real"))
    (own / "python").symlink_to(python.with_name("real"))
    python.symlink_to(own / "python")
    give(own)


def put_links(python: Path, folder: Path) -> None:
    """Somebody who owns a folder between two links chooses what the second points to."""
    tools = python.parent / "links"
    for name in ("second", "third"):
        (tools / name).mkdir(parents=True, mode=0o755)
    python.rename(tools / "third" / "python")
    (tools / "second" / "link").symlink_to(tools / "third")
    (tools / "first").symlink_to(tools / "second" / "link")
    python.symlink_to(tools / "first" / "python")
    give(tools / "second")


def put_marker(python: Path, home: str) -> Path:
    """An environment whose file names what Python runs before it could check anything."""
    marker = python.parent / "pyvenv.cfg"
    marker.write_text(f"version = 3\n Home = {home}\n")
    return marker


def put_home(python: Path, folder: Path) -> None:
    home = folder / "base" / "bin"
    home.mkdir(parents=True)
    put_marker(python, str(home))
    give(home)


def put_library(python: Path, folder: Path) -> None:
    (folder / "other-base" / "bin").mkdir(parents=True)
    library = folder / "other-base" / "lib" / "python3.11"
    library.mkdir(parents=True)
    put_marker(python, str(folder / "other-base" / "bin"))
    give(library)


def give_link(link: Path) -> None:
    link.symlink_to("/usr")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)


def give_behind_a_link(link: Path) -> None:
    """A package that lies elsewhere, in folders of root, with a file of the job's in it."""
    elsewhere = link.parents[3] / f"{link.name}-elsewhere" / "inner"
    elsewhere.mkdir(parents=True)
    (elsewhere / "module.py").write_text("")
    link.symlink_to(elsewhere.parent)
    give(elsewhere / "module.py")


_CODE = "print('code of the job')\n"


def give_code(site: Path) -> None:
    """Python runs such a line before it has started."""
    (site / "a.pth").write_text(f"import sys; {_CODE}")
    give(site / "a.pth")


def name_a_folder(site: Path, code: str = "") -> None:
    """A folder of the job's on the path, from which something is imported before Python has started.

    Args:
        site: the environment's packages.
        code: of a second .pth file; without it the folder has a sitecustomize, and the first file adds it by code.
    """
    planted = site.parents[2] / "planted"
    planted.mkdir()
    for name in ("planted", "sitecustomize"):
        (planted / f"{name}.py").write_text(_CODE)
    (site / "a.pth").write_text(
        f"{planted}\n" if code else f"import sys; sys.path.append({str(planted)!r})\n"
    )
    (site / "b.pth").write_text(f"{code}\n")
    give(planted)

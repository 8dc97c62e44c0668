"""Start of the side process beside an operator's file: its packages must not be the job's to write.

The driver's JVM runs this text with `python -I -S -c`: nothing of the environment counts, and no package was imported.
What is checked: each folder from which modules come with all that lies in it, and the links and directories on the way.
The JVM has checked what Python reads before this text: the interpreter, its pyvenv.cfg and home, the folders of its
standard library. Nothing more is imported here than must be.
"""

from __future__ import annotations

import os
import stat
import sys

USER = os.geteuid()
MOST_LINKS = 40


def refuse(path: str, why: str) -> None:
    """End this process; the driver's error shows the text."""
    sys.exit(
        f"{path} {why}, and so change the process that holds the operator's secrets; let root own the environment of"
        " spark.config.agent.python, and take that permission away"
    )


def check(path: str) -> str | None:
    """Check one file, directory or link; return what a link points to."""
    found = os.lstat(path)
    inspect(path, found)
    return os.readlink(path) if stat.S_ISLNK(found.st_mode) else None


def inspect(path: str, found: os.stat_result) -> None:
    """Check the owner and the permissions of one file, directory or link."""
    if found.st_uid == USER != 0:
        refuse(path, f"belongs to the user that runs the job (uid {USER}), who could change it")
    # A link has no permissions of its own. Of a directory like /tmp, only its owner can replace what lies in it.
    if stat.S_ISLNK(found.st_mode) or (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX):
        return
    if found.st_mode & stat.S_IWOTH:
        refuse(path, "can be written by everybody, who could change it")
    # Lists of access rights show as rights of the group.
    if USER != 0 and found.st_mode & stat.S_IWGRP and os.access(path, os.W_OK):
        refuse(path, f"can be written by the user that runs the job (uid {USER}), who could change it")


def check_above(path: str) -> None:
    """Check the path, and every link and directory on the way, where somebody could put something else in its place."""
    at, names, links = "/", os.path.abspath(path).split("/")[::-1], 0
    names.append("/")
    while names:
        name = names.pop()
        if name in ("", "."):
            continue
        if name == "..":
            at = os.path.dirname(at)
            continue
        here = os.path.join(at, name)
        if here not in seen:
            if not os.path.lexists(here):
                return
            seen[here] = check(here)
        target = seen[here]
        if target is None:
            at = here
            continue
        links += 1
        if links > MOST_LINKS:
            refuse(path, "has too many links on its way: who owns one could set it elsewhere")
        if target.startswith("/"):
            at = "/"
        names += target.split("/")[::-1]


def check_folder(path: str) -> None:
    """Check a folder, all that lies in it, and the directories above."""
    check_above(path)
    top = os.path.realpath(path)
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        # Who cannot enter a folder imports nothing from it.
        if folder in folders or not os.path.isdir(folder) or not os.access(folder, os.X_OK):
            continue
        folders.add(folder)
        for entry in os.scandir(folder):
            if entry.is_symlink():
                check_above(entry.path)
                if entry.is_dir():
                    waiting.append(os.path.realpath(entry.path))
            else:
                inspect(entry.path, entry.stat(follow_symlinks=False))
                # Packages beside the standard library have a folder of their own, if they count at all.
                beside = folder == top and entry.name in ("site-packages", "dist-packages")
                if entry.is_dir() and not beside:
                    waiting.append(entry.path)


def site_folders() -> list[str]:
    """Return where packages lie, before .pth files are run: the environment's folders, and the base's if they count."""
    import site

    prefixes = [sys.prefix, sys.exec_prefix]
    beside = os.path.dirname(os.path.abspath(sys.executable))
    above = os.path.dirname(beside)
    markers = [os.path.join(each, "pyvenv.cfg") for each in (beside, above)]
    for marker in [each for each in markers if os.path.isfile(each)][:1]:
        check_above(marker)
        with open(marker, encoding="utf-8") as lines:
            pairs = [line.partition("=")[::2] for line in lines]
        system = [
            text.strip().lower()
            for key, text in pairs
            if key.strip().lower() == "include-system-site-packages"
        ]
        prefixes = [above, *(prefixes if ["true", *system][-1] == "true" else [])]
        # As site sets them: without them, Debian's names no site-packages.
        sys.prefix = sys.exec_prefix = above
    return site.getsitepackages(prefixes)


def named_folders(folder: str) -> list[str]:
    """Return what the .pth files of a folder add to the path: the code in one could import from there."""
    found = []
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".pth"):
            with open(os.path.join(folder, name), encoding="utf-8-sig", errors="surrogateescape") as lines:
                words = [line.strip() for line in lines if not line.startswith(("#", "import ", "import\t"))]
            found += [os.path.join(folder, each) for each in words if each]
    return found


def check_existing(paths: list[str]) -> None:
    """Check those of the folders that are there."""
    for path in paths:
        if path and os.path.exists(path):
            check_folder(path)


seen: dict[str, str | None] = {}  # what was checked, and what links point to
folders: set[str] = set()  # those of which all was checked
for folder in [*filter(None, sys.path), *site_folders()]:
    check_folder(folder)
for folder in site_folders():
    check_existing(named_folders(folder))
import site  # noqa: E402

# Code of .pth files may add folders, and what runs next would be imported from them.
customize, site.execsitecustomize = site.execsitecustomize, lambda: None
site.main()
check_existing(sys.path)
customize()
check_existing(sys.path)
sys.path[:] = [each for each in sys.path if each]

import importlib.util  # noqa: E402

spec = importlib.util.find_spec("sparkconfig")
if spec is None or spec.origin is None:
    sys.exit(
        "the Python package sparkconfig is not installed here, and beside an operator's file the copy in the jar does"
        " not count, since the job chooses the jar"
    )
check_folder(os.path.dirname(spec.origin))
try:
    from sparkconfig.agent.main import main
except ModuleNotFoundError as error:
    sys.exit("the Python package " + str(error.name) + " is not installed here")
main()

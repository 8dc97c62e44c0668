"""Start of the side process beside an operator's file: its packages must not be the job's to write.

The driver's JVM runs this text with `python -I -S -c`: nothing of the environment counts, and no package was imported.
What is checked: each folder from which packages come, what lies directly in it, all of sparkconfig's own folder, and
the directories above them. The interpreter itself was checked by the JVM.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import NoReturn

USER = os.geteuid()


def refuse(path: str, why: str) -> NoReturn:
    """End this process; the driver's error shows the text."""
    sys.exit(
        f"{path} {why}, and so change the process that holds the operator's secrets; let root own the environment of"
        " spark.config.agent.python, and take that permission away"
    )


def check(path: str) -> None:
    """Check one file or directory, and what it links to."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        check_above(os.path.join(os.path.dirname(path), os.readlink(path)))
        found = os.stat(path)
    if found.st_uid == USER != 0:
        refuse(path, f"belongs to the user that runs the job (uid {USER}), who could change it")
    if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX:
        return  # like /tmp: only its owner can replace what lies in it
    if found.st_mode & stat.S_IWOTH:
        refuse(path, "can be written by everybody, who could change it")
    if USER != 0 and os.access(path, os.W_OK):
        refuse(path, f"can be written by the user that runs the job (uid {USER}), who could change it")


def check_above(path: str) -> None:
    """Check the path, and every directory in which somebody could put something else in its place."""
    for given in {os.path.abspath(path), os.path.realpath(path)}:
        name = given
        while name not in seen:
            seen.add(name)
            if os.path.lexists(name):
                check(name)
            name = os.path.dirname(name)


def check_folder(path: str) -> None:
    """Check a folder, what lies directly in it, and the directories above."""
    check_above(path)
    if os.path.isdir(path):
        for entry in os.scandir(path):
            try:
                check(entry.path)
            except FileNotFoundError:  # a link to nothing
                check_above(os.path.dirname(entry.path))


def site_folders() -> list[str]:
    """Return where packages lie, before .pth files are run: the environment's folders, and the base's if they count."""
    import site

    prefixes = [sys.prefix, sys.exec_prefix]
    above = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    marker = os.path.join(above, "pyvenv.cfg")
    if os.path.isfile(marker):
        check_above(marker)
        with open(marker, encoding="utf-8") as lines:
            words = [line.replace(" ", "").strip().lower() for line in lines]
        prefixes = [above, *(prefixes if "include-system-site-packages=true" in words else [])]
    return site.getsitepackages(prefixes)


seen: set[str] = set()
for folder in [*filter(None, sys.path), *site_folders()]:
    check_folder(folder)
import site  # noqa: E402

known = set(sys.path)
site.main()
for folder in sys.path:
    if folder not in known and os.path.exists(folder):
        check_folder(folder)
sys.path[:] = [each for each in sys.path if each]

import importlib.util  # noqa: E402

spec = importlib.util.find_spec("sparkconfig")
if spec is None or spec.origin is None:
    sys.exit(
        "the Python package sparkconfig is not installed here, and beside an operator's file the copy in the jar does"
        " not count, since the job chooses the jar"
    )
for top, _, _ in os.walk(os.path.dirname(spec.origin)):
    check_folder(top)
try:
    from sparkconfig.agent.main import main
except ModuleNotFoundError as error:
    sys.exit("the Python package " + str(error.name) + " is not installed here")
main()

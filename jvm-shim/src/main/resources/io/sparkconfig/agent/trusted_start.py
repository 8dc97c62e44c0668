"""Start of the side process beside an operator's file: its packages must not be the job's to write.

The driver's JVM runs this text with `python -I -S -c`: nothing of the environment counts, and no package was imported.
What is checked: each folder from which packages come, what lies directly in it, all of sparkconfig's own folder, and
the links and directories on the way to them. The JVM has checked what Python reads before this text: the interpreter,
its pyvenv.cfg and home, the folders of its standard library. Nothing more is imported here than must be.
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
    if found.st_uid == USER != 0:
        refuse(path, f"belongs to the user that runs the job (uid {USER}), who could change it")
    if stat.S_ISLNK(found.st_mode):
        return os.readlink(path)
    if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX:
        return None  # like /tmp: only its owner can replace what lies in it
    if found.st_mode & stat.S_IWOTH:
        refuse(path, "can be written by everybody, who could change it")
    if USER != 0 and os.access(path, os.W_OK):
        refuse(path, f"can be written by the user that runs the job (uid {USER}), who could change it")
    return None


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
    """Check a folder, what lies directly in it, and the directories above."""
    check_above(path)
    if os.path.isdir(path):
        for entry in os.scandir(path):
            check_above(entry.path)


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


seen: dict[str, str | None] = {}  # what was checked, and what links point to
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

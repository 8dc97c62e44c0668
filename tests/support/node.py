"""A node of a cluster within this machine: it has users, ``/etc/spark`` and ``/tmp`` of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.processes import Run
from support.spark_home import java

#: Users of all nodes, who are nobody on this machine.
USERS = {"spark": 21001, "shop": 21002, "master": 21003, "other": 21004}
#: An empty file system in memory goes there, since the upper part of an overlay cannot be on another overlay.
_SCRATCH = Path("/mnt")


class NoNodes(Exception):  # noqa: N818 - an answer, not a fault
    """There can be no nodes here; the text says why."""


class Node:
    """What a node has; processes see it that begin with `command`. It needs Linux, and root.

    Attributes:
        settings: its ``/etc/spark``.
        temporary: its ``/tmp``.
    """

    def __init__(self, run: Run, name: str) -> None:
        """Make the folders.

        Raises:
            NoNodes: this user may not, or something is not installed.
        """
        if os.geteuid() != 0:
            raise NoNodes("a node of its own needs mounts, and they need root")
        for program in ("unshare", "setpriv"):
            if shutil.which(program) is None:
                raise NoNodes(f"{program} is not installed: apt-get install util-linux")
        home = run.private_dir(f"node-{name}")
        home.chmod(0o755)
        self.settings, self.temporary = home / "settings", home / "tmp"
        self.settings.mkdir(mode=0o755)
        self.temporary.mkdir()
        self.temporary.chmod(0o1777)
        self._script = home / "enter"
        self._script.write_text(_script(run.dir, self.settings, self.temporary))
        tried = subprocess.run([*self.command("spark"), "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            raise NoNodes(f"no mounts here: {tried.stderr.strip()}")

    def command(self, user: str) -> tuple[str, ...]:
        """What a command line begins with to run there as one of the users."""
        return ("unshare", "--mount", "--propagation", "private", "sh", str(self._script), user)

    def left(self) -> list[str]:
        """Folders and sockets of sparkconfig that are in its ``/tmp`` now."""
        found = []
        for path in self.temporary.rglob("*"):
            with contextlib.suppress(OSError):  # somebody removes it
                named = path.name.startswith("sparkconfig-files-") or path.suffix == ".sock"
                if named or (path.name.isdigit() and (path / "version").exists()):
                    found.append(str(path))
        return found


def give(path: Path, user: str, text: str, mode: int = 0o400) -> None:
    """Write a file that belongs to one of the users."""
    path.write_text(text)
    path.chmod(mode)
    os.chown(path, USERS[user], USERS[user])


def _script(run: Path, settings: Path, temporary: Path) -> str:
    """What enters the node: its own mounts, then the user, then the command."""
    here = _SCRATCH / "run"
    lines = [
        "set -e",
        "user=$1; shift",
        "umask 022",
        f"mount -t tmpfs node {_SCRATCH}",
        f"mkdir {here}",
        f"mount --bind {shlex.quote(str(run))} {here}",
        *_changeable(Path("/etc")),
        "mkdir -p /etc/spark",
        f"mount --bind {_within(settings, run)} /etc/spark",
    ]
    for name, number in USERS.items():
        lines.append(f"echo {name}:x:{number}:{number}::/tmp:/bin/sh >> /etc/passwd")
        lines.append(f"echo {name}:x:{number}: >> /etc/group")
    # Such as root's home, in which this Python may be.
    for folder in _closed(
        [Path(sys.executable), Path(sys.base_prefix), Path(shutil.which(java()) or java())]
    ):
        lines += [*_changeable(folder), f"chmod a+x {shlex.quote(str(folder))}"]
    lines += [
        f"mount --bind {_within(temporary, run)} /tmp",
        f"mkdir -p {shlex.quote(str(run))}",
        f"mount --bind {here} {shlex.quote(str(run))}",
        'exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"',
    ]
    return "\n".join(lines) + "\n"


def _within(path: Path, run: Path) -> str:
    return shlex.quote(str(_SCRATCH / "run" / path.relative_to(run)))


def _changeable(folder: Path) -> list[str]:
    """Changes in this folder are seen by the node alone."""
    layer = _SCRATCH / folder.as_posix().replace("/", "_")
    name = shlex.quote(str(folder))
    return [
        f"mkdir -p {layer}/upper {layer}/work",
        f"mount -t overlay node -o lowerdir={name},upperdir={layer}/upper,workdir={layer}/work {name}",
    ]


def _closed(paths: Sequence[Path]) -> Mapping[Path, None]:
    """Folders on the way to what nodes start, in which only their owner may look for something."""
    every = [folder for path in paths for each in (path, path.resolve()) for folder in each.parents]
    return dict.fromkeys(folder for folder in reversed(every) if not folder.stat().st_mode & 0o001)

"""The operator's file ``sparkconfig.conf``: where it stands, and whether a job could have written it."""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import properties, reading
from sparkconfig.formats.errors import FormatError
from sparkconfig.settings.schema import PREFIX

__all__ = ["DEFAULTS_FILE", "NAME", "REQUIRED", "OperatorFile", "check_trust", "find", "load"]

NAME = "sparkconfig.conf"
REQUIRED = "sparkconfig.required"
"""A marker beside the file's first place, written by the installer: without the operator's file nothing starts."""

DEFAULTS_FILE = f"{PREFIX}defaults.file"
"""Names the cluster's spark-defaults.conf, so that what it sets counts as the operator's defaults."""

_AUDIT_FILE = f"{PREFIX}audit.file"
_FIRST = Path("/etc/spark")
_MOST_LINKS = 40
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OperatorFile:
    """A checked operator's file.

    Attributes:
        path: where it stands.
        settings: its ``spark.config.*``.
        defaults: all other confs: the operator's defaults, which a job may want to override.
    """

    path: Path
    settings: Mapping[str, str] = field(repr=False)
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def confs(self) -> dict[str, str]:
        """Everything that the operator sets."""
        return {**self.defaults, **self.settings}


def find(environ: Mapping[str, str], first: Path = _FIRST) -> Path | None:
    """Return the operator's file: ``/etc/spark``, else ``$SPARK_HOME/conf``, else ``$SPARK_CONF_DIR``.

    Raises:
        ConfigurationError: there is none, although the installer's marker says that there must be one.
    """
    folders = [first]
    if environ.get("SPARK_HOME"):
        folders.append(Path(environ["SPARK_HOME"]) / "conf")
    if environ.get("SPARK_CONF_DIR"):
        folders.append(Path(environ["SPARK_CONF_DIR"]))
    for folder in folders:
        # lexists: a dangling link or a file that cannot be read must not mean "there is no operator".
        if os.path.lexists(folder / NAME):
            return folder / NAME
    markers = [folder / REQUIRED for folder in folders[:2] if os.path.lexists(folder / REQUIRED)]
    if markers:
        raise ConfigurationError(
            f"{markers[0]} says that this cluster has an operator's file, but {folders[0] / NAME} is missing;"
            " ask the operator to restore it"
        )
    return None


def load(path: Path, *, uid: int | None = None, check: bool = True) -> OperatorFile:
    """Read the file after checking that the job's user could not have written it.

    Args:
        path: the file.
        uid: the job's user; None: this process's.
        check: False only for questions without effect (``sparkconfig validate``).

    Raises:
        ConfigurationError: it is not to be trusted, cannot be read, or is malformed.
    """
    if check:
        check_trust(path, uid=uid)
    confs = _read(path)
    settings = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    for key in [key for key in settings if _is_policy_file(key) or key == _AUDIT_FILE]:
        # Relative to the operator's file: the working directory is the job's choice.
        named = path.parent / settings[key].strip()
        settings[key] = str(named)
        if check and key != _AUDIT_FILE:
            check_trust(named, uid=uid)
    defaults = {key: text for key, text in confs.items() if key not in settings}
    more = settings.get(DEFAULTS_FILE, "").strip()
    if more:
        beside = path.parent / more
        if check:
            check_trust(beside, uid=uid)
        cluster = {key: text.strip() for key, text in _read(beside).items()}
        defaults = {**{k: v for k, v in cluster.items() if not k.startswith(PREFIX)}, **defaults}
    return OperatorFile(path, settings, defaults)


def _is_policy_file(key: str) -> bool:
    roots = (f"{PREFIX}override.policy.", f"{PREFIX}create.table.policy.")
    return key.startswith(roots) and key.endswith(".param.file")


def check_trust(path: Path, *, uid: int | None = None) -> None:
    """Check that the job's user can neither write nor replace the operator's file, or one that it names.

    A job that runs as root can write everything; then the file must at least be writable by no one but its
    owner, and a warning says that it is a guard-rail only.

    Raises:
        ConfigurationError: names the file or directory, and what to do.
    """
    user = os.geteuid() if uid is None else uid
    problem = ""
    try:
        way, real = _on_the_way(path)
        problem = _file_problem(real, user) or _way_problem(way, user)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        problem = f"the operator's file {path} cannot be read: {reason}"
    if problem:
        raise ConfigurationError(problem)
    if user == 0:
        _log.warning(
            "the job runs as root, which can change the operator's file %s: it does not bind the job", path
        )


def _file_problem(path: Path, user: int) -> str:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        return f"the operator's file {path} is not a regular file"
    if found.st_uid == user != 0:
        return (
            f"the operator's file {path} belongs to the user that runs the job (uid {user}), who could change it;"
            f" let root own it: chown root {path}"
        )
    return _writable(path, found, user)


def _on_the_way(path: Path) -> tuple[list[Path], Path]:
    """Every directory and link that the kernel passes on its way to a file, and the file at the end."""
    root, *rest = path.absolute().parts
    at = Path(root)
    way = [at]
    links = 0
    while rest:
        name = rest.pop(0)
        here = at.parent if name == ".." else at / name
        way.append(here)
        if here.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = here.readlink()
            rest = [*target.parts, *rest]
            at = Path(root) if target.is_absolute() else at
        else:
            at = here
    return [each for each in dict.fromkeys(way) if each != at], at


def _way_problem(way: list[Path], user: int) -> str:
    """A link, or a directory in which the job's user can rename, lets that user replace the file."""
    for each in reversed(way):
        found = each.lstat()
        kind = "link" if stat.S_ISLNK(found.st_mode) else "directory"
        if found.st_uid == user != 0:
            return (
                f"the {kind} {each} on the path of the operator's file belongs to the user that runs the job (uid"
                f" {user}), who could replace the file; let root own it: chown -h root {each}"
            )
        # Of a link the mode says nothing; in a directory like /tmp only a file's owner can rename it.
        if kind == "link" or found.st_mode & stat.S_ISVTX:
            continue
        problem = _writable(each, found, user)
        if problem:
            return problem
    return ""


def _writable(path: Path, found: os.stat_result, user: int) -> str:
    if found.st_mode & stat.S_IWOTH:
        return (
            f"{path} can be written by everybody, so a job could change the operator's file; chmod o-w {path}"
        )
    if found.st_mode & stat.S_IWGRP and (found.st_gid != 0 or (user == 0 and found.st_gid != 0)):
        return (
            f"{path} can be written by its group, so a job could change the operator's file; chmod g-w {path}"
        )
    if user not in (0, os.geteuid()):
        return ""  # about another user only the mode bits can be known
    if user != 0 and os.access(path, os.W_OK):
        return (
            f"the job's user (uid {user}) can write {path}, for example by an ACL; take that permission away"
        )
    return ""


def _read(path: Path) -> dict[str, str]:
    try:
        return properties.load(reading.read(path))
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except FormatError as error:
        problem = str(error)
    raise ConfigurationError(f"the operator's file {path} cannot be read: {problem}")

"""Carrying out a plan: seal the values, keep a sealed backup, rewrite the files, and prove that nothing changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from sparkconfig.checks.exit_codes import FileError
from sparkconfig.errors import ConfigurationError, SecretNotFoundError, SparkConfigError
from sparkconfig.migrate import sources
from sparkconfig.migrate.plan import FilePlan, expand, read_text
from sparkconfig.sealed import editor, files
from sparkconfig.sealed.failures import KeyMissingError, WrongKeyError
from sparkconfig.sealed.keys import KeyFile, KeySource
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import load

__all__ = ["Target", "apply", "backup_of", "undo"]

_MANIFEST = "manifest"


@dataclass(frozen=True)
class Target:
    """Where the values go.

    Attributes:
        path: the sealed file; the backup stands beside it.
        key: opens both.
        provider: the name that references give it.
        confs: the settings that declare it.
    """

    path: Path
    key: KeySource
    provider: str
    confs: Mapping[str, str]

    def values(self) -> dict[EntryName, str]:
        """Return what is there; nothing if there is nothing yet.

        Raises:
            SealedFileError: the file cannot be opened.
        """
        files.sweep(backup_of(self.path))
        if not self.path.exists():
            return {}
        opened = load(self.path, self.key)
        return {name: opened.value(name) for name in opened.names()}

    def write(self, added: Mapping[EntryName, str]) -> None:
        """Add values.

        Raises:
            ConfigurationError: one of the names has another value.
            SealedFileError: the file cannot be written.
        """
        if not self.path.exists():
            editor.create(self.path, self.key)
        editor.put(self.path, self.key, added, keep=True)


def backup_of(path: Path) -> Path:
    """Return where the backup of migrations into a sealed file stands: itself sealed, with the same key."""
    return path.with_name(path.name + ".undo")


def apply(plans: Sequence[FilePlan], target: Target, *, new_key: bool) -> None:
    """Move the secrets.

    Nothing is changed if the new files would say anything else than the old ones. If it ends in the middle, the next
    call goes on, and :func:`undo` brings back what was rewritten.

    Args:
        plans: of files with something to move.
        target: where to.
        new_key: whether to make the key file, if there is none.

    Raises:
        ConfigurationError: a file would not be the same, or has changed meanwhile.
        FileError: a file cannot be written.
        SealedFileError: the sealed file or its backup cannot be written.
    """
    _check_writable(plans, target)
    before = target.values()
    added = {move.name: move.value for plan in plans for move in plan.moves}
    for plan in plans:
        _check_same(plan, plan.rewritten(), target.provider, {**before, **added})
    with _new_key(target) if new_key else nullcontext():
        target.write(added)
        _back_up(plans, target)
    for plan in plans:
        if read_text(plan.path) != plan.document.content:
            raise ConfigurationError(
                f"{plan.path} was changed meanwhile and is left as it is; run this again"
            )
        _replace(plan.path, plan.rewritten())
    written = target.values()
    for plan in plans:
        _check_same(plan, read_text(plan.path), target.provider, written)
    _check_with_provider(plans, target)


@contextmanager
def _new_key(target: Target) -> Iterator[None]:
    """Make the key file if there is none; if nothing was sealed with it, not even a backup, it goes away again."""
    sealed = (target.path, backup_of(target.path))
    if not isinstance(target.key, KeyFile) or target.key.path.exists() or target.path.exists():
        yield
        return
    target.key.create()
    try:
        yield
    finally:
        if not any(path.exists() for path in sealed):
            target.key.path.unlink(missing_ok=True)


def undo(target: Target) -> tuple[list[Path], int]:
    """Bring back the files as they were before the last migration; the sealed values stay.

    Lines that were added at the end since stay. A file that was removed since is made again, readable by its owner.
    The backup goes with its last migration.

    Returns:
        The files, those that were as before already too; and how many earlier migrations can still be undone.

    Raises:
        SecretNotFoundError: there is nothing to undo.
        ConfigurationError: a file was changed since; then none is touched.
        FileError: a file cannot be written.
        SealedFileError: the backup cannot be opened.
    """
    backup = backup_of(target.path)
    if not backup.exists():
        raise SecretNotFoundError(f"{backup} does not exist: there is nothing to undo")
    opened = load(backup, target.key)
    runs = sorted({name.section for name in opened.names()})
    if not runs:
        raise SecretNotFoundError(f"{backup} is empty: there is nothing to undo")
    run = runs[-1]
    listed = json.loads(opened.value(EntryName(run, _MANIFEST)))
    contents: dict[Path, str] = {}
    for n, each in enumerate(listed):
        path = Path(each["path"])
        before, now = opened.value(EntryName(run, f"file-{n}")), _text_now(path)
        added = "" if now is None or now == before else _appended(now, each["length"], each["after"])
        if added is None:
            raise ConfigurationError(
                f"{path} was changed after the migration, so nothing is undone; undo that change first"
            )
        contents[path] = before + ("\n" if added and before and not before.endswith("\n") else "") + added
    for path, content in contents.items():
        if _text_now(path) != content:
            _replace(path, content)
    editor.remove(backup, target.key, [name for name in opened.names() if name.section == run])
    with files.locked(backup):
        if not load(backup, target.key).names():
            backup.unlink()  # else it would bind the next migration to this key
    return list(contents), len(runs) - 1


def _appended(now: str, length: int, after: str) -> str | None:
    """What follows the text that a migration wrote, such as the lines of 'init'; None: that text is not there."""
    return now[length:] if _digest(now[:length]) == after else None


def _text_now(path: Path) -> str | None:
    return read_text(path) if path.exists() else None


def _check_writable(plans: Sequence[FilePlan], target: Target) -> None:
    """Find out first what would stop a migration in the middle.

    Raises:
        FileError: the folder of a file cannot be written.
        ConfigurationError: a file has hard links elsewhere, which would keep its secrets.
        WrongKeyError: there is a backup, and this key does not open it.
    """
    for plan in plans:
        folder = plan.path.resolve().parent
        if not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise FileError(
                plan.path, PermissionError(0, f"permission denied for its folder {folder}"), verb="written"
            )
    _check_names(plans)
    backup = backup_of(target.path)
    if not backup.exists():
        return
    try:
        load(backup, target.key)
    except (WrongKeyError, KeyMissingError) as error:
        problem = f"{error}. It is the backup of an earlier migration: use its key, or move it away"
    else:
        return
    raise WrongKeyError(problem)


def _check_names(plans: Sequence[FilePlan]) -> None:
    named: dict[tuple[int, int], int] = {}
    status = {plan.path: plan.path.stat() for plan in plans}
    for each in status.values():
        named[each.st_dev, each.st_ino] = named.get((each.st_dev, each.st_ino), 0) + 1
    for path, each in status.items():
        if each.st_nlink > named[each.st_dev, each.st_ino]:
            raise ConfigurationError(
                f"{path} has hard links elsewhere, which would keep the secrets; name them, too, or remove them"
            )


def _back_up(plans: Sequence[FilePlan], target: Target) -> None:
    backup = backup_of(target.path)
    if not backup.exists():
        editor.create(backup, target.key)
    runs = {name.section for name in load(backup, target.key).names()}
    run = f"run-{1 + max((int(name.removeprefix('run-')) for name in runs), default=0):06d}"
    after = {plan.path.absolute(): plan.rewritten() for plan in plans}
    # A digest of a text without secrets.
    listed = [
        {"path": str(path), "after": _digest(text), "length": len(text)} for path, text in after.items()
    ]
    entries = {EntryName(run, f"file-{n}"): plan.document.content for n, plan in enumerate(plans)}
    entries[EntryName(run, _MANIFEST)] = json.dumps(listed)
    editor.put(backup, target.key, entries, keep=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _replace(path: Path, content: str) -> None:
    try:
        files.replace(path, content.encode("utf-8"))
    except SparkConfigError as error:
        problem = str(error)
    else:
        return
    raise FileError(path, PermissionError(0, problem), verb="written")


def _check_same(plan: FilePlan, content: str, provider: str, values: Mapping[EntryName, str]) -> None:
    """Compare every text of a file before and after, with the values in place of the references."""
    document = sources.read(plan.kind, content)
    now = [(text.key, expand(text.value, provider, values)) for text in document.texts]
    then = [(text.key, expand(text.value, provider, values)) for text in plan.document.texts]
    if plan.settings:
        own = {(key, value) for key, value in plan.settings.items()}
        now = [pair for pair in now if pair not in own]
        then = [pair for pair in then if pair not in own]
    if now != then:
        wrong = next((a[0] for a, b in zip(now, then, strict=False) if a != b), "the number of its texts")
        raise ConfigurationError(
            f"{plan.path}: the effective texts would not be the same as before ({wrong}); please report it"
        )


def _check_with_provider(plans: Sequence[FilePlan], target: Target) -> None:
    """Ask the provider for each reference, as a driver would."""
    from sparkconfig.resolution.resolver import Resolver

    wanted = {move.name: move.value for plan in plans for move in plan.moves}
    texts = {str(name): f"${{{target.provider}:{name}}}" for name in wanted}
    with Resolver.from_confs(target.confs) as resolver:
        resolved = resolver.resolve_map(texts)
    for name, value in wanted.items():
        answer = resolved[str(name)]
        if (answer if isinstance(answer, str) else answer.reveal()) != value:
            raise ConfigurationError(f"the provider answers {name} with another value than was written")

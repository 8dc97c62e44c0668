"""``sparkconfig seal``: make and change sealed files. Values come from a prompt, standard input or the environment."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from sparkconfig.sealed.keys import KeySource

__all__ = ["register"]

HELP = "keep secrets in an encrypted file"
PAGE = "sealed-files.md"

_EPILOG = """\
examples:
  sparkconfig seal create --new-key --key-file shop.key --file shop.sealed
  sparkconfig seal set    --key-file shop.key --file shop.sealed shop:password            asks for it
  openssl rand -hex 24 | sparkconfig seal set --key-file shop.key --file shop.sealed shop:token
  sparkconfig seal set    --key-file shop.key --file shop.sealed shop:password --from-env DB_PASSWORD
  sparkconfig seal list   --key-file shop.key --file shop.sealed
  sparkconfig seal remove --key-file shop.key --file shop.sealed shop:token
  sparkconfig seal rotate-key --key-file shop.key --file shop.sealed

A value is used as ${sealed:shop:password}: provider, section, key. Values are never taken from the command line,
where every user of the machine could read them, and never printed.
"""

_EXAMPLES = {
    "new-key": "sparkconfig seal new-key --key-file shop.key",
    "create": "sparkconfig seal create --new-key --key-file shop.key --file shop.sealed",
    "list": "sparkconfig seal list --key-file shop.key --file shop.sealed",
    "remove": "sparkconfig seal remove --key-file shop.key --file shop.sealed shop:token",
}
_SET_EXAMPLES = """\
examples:
  sparkconfig seal set --key-file shop.key --file shop.sealed shop:password            asks for it
  openssl rand -hex 24 | sparkconfig seal set --key-file shop.key --file shop.sealed shop:token
  sparkconfig seal set --key-file shop.key --file shop.sealed shop:password --from-env DB_PASSWORD
  sparkconfig seal set --key-file shop.key --file shop.sealed --exact shop:ca.pem < ca.pem
"""
_ROTATE_EXAMPLES = """\
examples:
  sparkconfig seal rotate-key --key-file shop.key --file shop.sealed                    both keys open it now
  sparkconfig seal rotate-key --key-file shop.key --file shop.sealed --drop-old-key     the new one alone
  sparkconfig seal rotate-key --key-file shop.key --file a.sealed --file b.sealed
  sparkconfig seal rotate-key --key-file shop.key --file shop.sealed --new-key-env SHOP_KEY
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its own subcommands."""
    parser = commands.add_parser(
        "seal",
        description="Keep secrets in a file whose values are encrypted (AES-256-GCM) and names authenticated.",
        epilog=_EPILOG,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION")

    new_key = actions.add_parser(
        "new-key", help="write a new key into a new key file", epilog=_one("new-key")
    )
    new_key.add_argument(
        "--key-file", type=Path, required=True, metavar="FILE", help="made with permissions 0600"
    )
    _finish(new_key, _new_key)

    create = actions.add_parser("create", help="create an empty sealed file", epilog=_one("create"))
    _file_and_key(create)
    create.add_argument("--new-key", action="store_true", help="create the key file, too")
    _finish(create, _create)

    put = actions.add_parser(
        "set",
        help="seal a value: a new one, or a replacement",
        description="Seal a value. On a terminal, the command asks for it. Otherwise it reads standard input,"
        " without one line end at the end.",
        epilog=_SET_EXAMPLES,
    )
    _file_and_key(put)
    put.add_argument("name", metavar="SECTION:KEY", help="as in ${sealed:SECTION:KEY}")
    put.add_argument("--from-env", metavar="VAR", help="take the value from an environment variable")
    put.add_argument("--exact", action="store_true", help="keep a line end at the end of standard input")
    put.add_argument("--allow-empty", action="store_true", help="accept an empty value")
    _finish(put, _set)

    listing = actions.add_parser(
        "list",
        help="list the names; with a key also check the whole file",
        description="List names, never values.",
        epilog=_one("list"),
    )
    _file_and_key(listing, key_required=False)
    _finish(listing, _list)

    gone = actions.add_parser("remove", help="remove values", epilog=_one("remove"))
    _file_and_key(gone)
    gone.add_argument("names", metavar="SECTION:KEY", nargs="+", help="what to remove, all or nothing")
    _finish(gone, _remove)

    rotate = actions.add_parser(
        "rotate-key",
        help="encrypt everything again, with a new key",
        description="With a key file: put a new key before the old one in it, then encrypt the files again; readers"
        " can open them all the time. With --new-...: encrypt with that key instead. FILE.undo, the backup of"
        " 'migrate', gets the new key, too.",
        epilog=_ROTATE_EXAMPLES,
    )
    _file_and_key(rotate, many=True)
    _key_options(rotate.add_mutually_exclusive_group(), "new-", "new_")
    rotate.add_argument(
        "--drop-old-key",
        action="store_true",
        help="remove older keys from the key file, if no other file needs them",
    )
    _finish(rotate, _rotate)


def _one(action: str) -> str:
    return f"examples:\n  {_EXAMPLES[action]}\n"


def _file_and_key(parser: argparse.ArgumentParser, *, key_required: bool = True, many: bool = False) -> None:
    if many:
        text = "the sealed file; can be repeated"
        parser.add_argument("--file", type=Path, required=True, metavar="FILE", help=text, action="append")
    else:
        parser.add_argument("--file", type=Path, required=True, metavar="FILE", help="the sealed file")
    _key_options(parser.add_mutually_exclusive_group(required=key_required), "", "")


def _key_options(group: argparse._MutuallyExclusiveGroup, prefix: str, name: str) -> None:
    group.add_argument(
        f"--{prefix}key-file",
        type=Path,
        dest=f"{name}key_file",
        metavar="FILE",
        help="file with the key, 0600",
    )
    group.add_argument(
        f"--{prefix}key-env", dest=f"{name}key_env", metavar="VAR", help="environment variable with the key"
    )


def _finish(parser: argparse.ArgumentParser, run: object) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def _required_key(options: argparse.Namespace) -> KeySource:
    from sparkconfig.cli.keys import key_of

    key = key_of(options)
    if key is None:  # argparse has seen to it
        raise AssertionError
    return key


def _new_key(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.sealed.keys import KeyFile

    key_id = KeyFile(options.key_file).create()
    lines = [
        f"created key {key_id} in {options.key_file}; keep a copy in a safe place: nothing can be read without it"
    ]
    out.result({"key_file": str(options.key_file), "key_id": key_id}, lines)
    return ExitCode.OK


def _create(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.errors import ConfigurationError, SparkConfigError
    from sparkconfig.sealed import editor
    from sparkconfig.sealed.keys import KeyFile

    key = _required_key(options)
    if options.file.exists():
        raise ConfigurationError(f"{options.file} exists already and is left as it is")
    if options.new_key:
        if not isinstance(key, KeyFile):
            raise ConfigurationError("--new-key needs --key-file")
        if key.path.exists():
            raise ConfigurationError(
                f"{key.path} exists already and is left as it is; to seal with its key, leave out --new-key"
            )
        key.create()
    try:
        key_id = editor.create(options.file, key)
    except SparkConfigError:
        # Nothing is sealed with the new key, and it would be in the way of the next attempt.
        if options.new_key and isinstance(key, KeyFile):
            key.path.unlink(missing_ok=True)
        raise
    out.result(
        {"file": str(options.file), "key_id": key_id}, [f"created {options.file}, sealed with key {key_id}"]
    )
    return ExitCode.OK


def _set(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.cli.values import read_value
    from sparkconfig.sealed import editor
    from sparkconfig.sealed.names import EntryName
    from sparkconfig.sealed.opened import load

    if "=" in options.name:
        options.parser.refuse(
            "the name of a sealed value has no '=' (no command takes a value on its command line)"
        )
    name = EntryName.parse(options.name)
    key = _required_key(options)
    load(options.file, key)  # say what is wrong before the password is typed
    value = read_value(
        str(name), variable=options.from_env, exact=options.exact, allow_empty=options.allow_empty
    )
    replaced = bool(editor.put(options.file, key, {name: value}))
    verb = "replaced" if replaced else "sealed"
    out.result(
        {"file": str(options.file), "section": name.section, "key": name.key, "replaced": replaced},
        [f"{verb} {name} in {options.file}"],
    )
    return ExitCode.OK


def _list(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.cli.keys import key_of
    from sparkconfig.sealed.opened import load, names_in

    key = key_of(options)
    if key is None:
        key_id, names = names_in(options.file)
    else:
        opened = load(options.file, key)
        key_id, names = opened.document.header.key_id, opened.names()
    sections: dict[str, list[str]] = {}
    for name in names:
        sections.setdefault(name.section, []).append(name.key)
    data = {"file": str(options.file), "key_id": key_id, "verified": key is not None, "sections": sections}
    out.result(data, [str(name) for name in names])
    return ExitCode.OK


def _remove(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.sealed import editor
    from sparkconfig.sealed.names import EntryName

    names = [EntryName.parse(text) for text in options.names]
    editor.remove(options.file, _required_key(options), names)
    removed = [str(name) for name in names]
    out.result({"file": str(options.file), "removed": removed}, [f"removed {name}" for name in removed])
    return ExitCode.OK


def _rotate(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.cli.keys import key_of
    from sparkconfig.errors import ConfigurationError
    from sparkconfig.sealed import editor
    from sparkconfig.sealed.keys import KeyFile

    key, new = _required_key(options), key_of(options, "new-")
    in_place = new is None
    if in_place and not isinstance(key, KeyFile):
        raise ConfigurationError(
            "a key in the environment cannot be rotated in place; name the new one with --new-..."
        )
    if options.drop_old_key and not in_place:
        raise ConfigurationError("--drop-old-key works only when the key file stays the same")
    named = list(dict.fromkeys(options.file))
    # Nothing is changed unless everything can be read.
    done = [path for path in named if _is_sealed_with(path, key, new)]
    paths = [path for path in named if path not in done]
    backups, foreign = _backups(paths, key)
    if isinstance(key, KeyFile) and in_place:
        key.add()
    ids = [(path, *editor.reseal(path, key, new or key)) for path in (*paths, *backups)]
    dropped = key.drop_older() if options.drop_old_key and isinstance(key, KeyFile) else []
    lines = [f"{path}: sealed with key {after} instead of {before}" for path, before, after in ids]
    lines += [f"{path}: sealed with the new key already" for path in done]
    lines += [f"{path}: sealed with another key, and left as it is" for path in foreign]
    if dropped:
        lines.append(f"removed from the {key}: {', '.join(dropped)}")
    elif in_place:
        lines.append(
            f"the old key stays in the {key}, in case other files need it; --drop-old-key removes it"
        )
    rotated = [{"file": str(path), "old_key_id": before, "key_id": after} for path, before, after in ids]
    data = {"files": rotated, "dropped_key_ids": dropped, "already": [str(path) for path in done]}
    out.result(data, lines)
    return ExitCode.OK


def _is_sealed_with(path: Path, key: KeySource, new: KeySource | None) -> bool:
    """Open a file; return whether a rotation that ended in the middle has sealed it with the new key."""
    from sparkconfig.sealed.failures import WrongKeyError
    from sparkconfig.sealed.opened import load

    try:
        load(path, key)
    except WrongKeyError as error:
        if new is None:
            raise
        wrong = error
    else:
        return False
    try:
        load(path, new)
    except WrongKeyError:
        raise wrong from None
    return True


def _backups(paths: Sequence[Path], key: KeySource) -> tuple[list[Path], list[Path]]:
    """Return the backups of migrations beside ``paths`` that ``key`` opens, and the others: '--undo' needs the key."""
    from sparkconfig.migrate.apply import backup_of
    from sparkconfig.sealed.failures import WrongKeyError
    from sparkconfig.sealed.opened import load

    ours: list[Path] = []
    foreign: list[Path] = []
    for path in paths:
        backup = backup_of(path)
        if backup.exists() and backup not in paths:
            try:
                load(backup, key)
            except WrongKeyError:
                foreign.append(backup)
            else:
                ours.append(backup)
    return ours, foreign

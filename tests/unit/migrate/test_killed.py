"""A migration that is killed at any of its writes: nothing is lost, the next call goes on, and undo brings all back."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.opened import load

VALUE, OTHER = "migrate-canary-77aa", "migrate-canary-88bb"
FILES = {
    "shop.conf": f"spark.shop.password {VALUE}\nspark.shop.url jdbc:x://h?password={OTHER}&a=1\n",
    "run.conf": f"spark.shop.password {VALUE}\n",
}
TARGET = ("--sealed-file", "s", "--key-file", "k")
NEW_KEY = ("migrate", "jobs", "--apply", *TARGET, "--new-key")
_CHANGES = ("open", "os.rename", "os.link", "os.remove", "os.truncate", "os.chmod")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def killed_at(number: int, *words: str, of: tuple[str, ...] = _CHANGES) -> bool:
    """Run the command in a child that is killed before its n-th write; whether it came to its end instead."""
    child = os.fork()
    if child == 0:
        left = number

        def watch(event: str, given: tuple[object, ...]) -> None:
            nonlocal left
            writes = event in of and (event != "open" or (isinstance(given[2], int) and given[2] & _WRITING))
            if writes and given[0] != os.devnull:
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1

        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.addaudithook(watch)
            main(words)
        finally:
            os._exit(0)
    return os.WIFEXITED(os.waitpid(child, 0)[1])


SEALED = ("--file", "s", "--key-file", "k")
NEXT = [
    "seal list --file s --key-file k",
    "seal set --file s --key-file k shop:other",
    "seal rotate-key --file s --key-file k",
    "seal new-key --key-file k",
    "migrate jobs --apply --sealed-file s --key-file k",
    "migrate jobs --sealed-file s --key-file k",
    "migrate --undo --sealed-file s --key-file k",
    "scrub find jobs --sealed-file s --key-file k",
    "resolve --dry-run job.conf",
    "doctor --file job.conf",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"value")))
    (tmp_path / "jobs").mkdir()
    for name, text in FILES.items():
        (tmp_path / "jobs" / name).write_text(text)
    params = f"spark.config.providers.a.param.file {tmp_path}/s\nspark.config.providers.a.param.key.file {tmp_path}/k\n"
    (tmp_path / "job.conf").write_text(
        "spark.plugins io.sparkconfig.ConfigPlugin\nspark.config.providers a\nspark.config.providers.a.class sealed\n"
        f"{params}spark.shop.password ${{a:b:c}}"
    )
    return tmp_path


@pytest.mark.parametrize("command", NEXT)
def test_no_second_name_of_a_new_key_outlives_the_next_command(command: str, folder: Path) -> None:
    """A key file is linked to its name and then loses the one that it was written under."""
    (folder / ".k.more.7.partial").touch()  # of another file, that another process may write now
    assert not killed_at(0, *NEW_KEY, of=("os.remove",))
    assert len(list(folder.glob(".k.*.partial"))) == 2
    main(command.split())
    assert [path.name for path in folder.glob(".k.*.partial")] == [".k.more.7.partial"]


@pytest.mark.parametrize(
    ("killed", "command"),
    [
        (("seal", "rotate-key", *SEALED), ("seal", "rotate-key", *SEALED)),
        (("seal", "set", *SEALED, "shop:more"), ("seal", "list", *SEALED)),
        (("seal", "remove", *SEALED, "app:spark.shop.password"), ("seal", "list", *SEALED)),
        (("migrate", "--undo", *TARGET), ("migrate", "jobs", *TARGET)),
        (("migrate", "--undo", *TARGET), ("migrate", "--undo", *TARGET)),
        (("migrate", "jobs", "--apply", *TARGET), ("migrate", "jobs", *TARGET)),
    ],
)
def test_what_a_killed_command_wrote_is_swept(
    killed: tuple[str, ...], command: tuple[str, ...], folder: Path
) -> None:
    assert main(NEW_KEY) == 0
    (folder / "jobs" / "more.conf").write_text(f"spark.more.password {OTHER}3\n")
    state = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    number, left = 0, 0
    while not killed_at(number, *killed):
        left += len(list(folder.rglob(".*.partial")))
        main(command)
        assert list(folder.rglob(".*.partial")) == [], number
        for path in folder.rglob("*"):
            if path.is_file() and path not in state:
                path.unlink()
        for path, content in state.items():
            path.write_bytes(content)
            path.chmod(0o600)
        number += 1
    assert left > 0


def test_nothing_is_lost_wherever_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, number = False, 0
    while not ended:
        folder = tmp_path / str(number)
        (folder / "jobs").mkdir(parents=True)
        monkeypatch.chdir(folder)
        for name, text in FILES.items():
            (folder / "jobs" / name).write_text(text)
        ended = killed_at(number, *NEW_KEY)
        sealed = ""
        if (folder / "s").exists():
            opened = load(folder / "s", KeyFile(folder / "k"))
            sealed = "".join(opened.value(name) for name in opened.names())
        for name, text in FILES.items():
            now = (folder / "jobs" / name).read_text()
            whole = now == text or (VALUE in sealed and OTHER in sealed)
            assert whole, f"write {number}: a value is neither in {name} nor sealed"
        assert main(NEW_KEY) == 0, number
        clear = [
            path.name for path in folder.rglob("*")
            if path.is_file() and any(value.encode() in path.read_bytes() for value in (VALUE, OTHER))
        ]  # fmt: skip
        assert clear == [], number
        undone = [main(("migrate", "--undo", *TARGET)) for _ in range(3)]
        assert undone[0] == 0, number
        assert undone[-1] == ExitCode.NOT_FOUND, number
        assert {
            name: (folder / "jobs" / name).read_text() == text for name, text in FILES.items()
        } == dict.fromkeys(FILES, True), number
        shutil.rmtree(folder)
        number += 1
    shown = capsys.readouterr()
    assert VALUE not in shown.out + shown.err
    assert number > len(FILES) + 2, "the writes were not seen"

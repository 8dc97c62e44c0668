"""The command 'sparkconfig migrate': plan, apply, apply again, undo; no value anywhere but in the sealed file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.migrate import apply as applying
from sparkconfig.sealed import files
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.opened import load

VALUE, OTHER = "migrate-canary-77aa", "migrate-canary-88bb"
CONF = f"spark.shop.password {VALUE}\nspark.shop.url jdbc:x://h?password={OTHER}&a=1\n"
SCRIPT = f"spark.shop.password {VALUE}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "shop.conf").write_text(CONF)
    (tmp_path / "jobs" / "run.conf").write_text(SCRIPT)
    (tmp_path / "jobs" / "run.conf").chmod(0o750)
    return tmp_path


TARGET = ("--sealed-file", "s", "--key-file", "k")


@pytest.fixture
def migrate(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def migrate(*words: str) -> tuple[int, str]:
        code = main(["migrate", *words])
        captured = capsys.readouterr()
        text = captured.out + captured.err
        shown = text.count(VALUE) + text.count(OTHER)
        assert shown == 0, "a value was printed"
        return code, text

    return migrate


def values(folder: Path) -> dict[str, str]:
    opened = load(folder / "s", KeyFile(folder / "k"))
    return {str(name): opened.value(name) for name in opened.names()}


def in_clear(folder: Path) -> list[str]:
    """Every file that holds a value."""
    return sorted(
        path.name for path in folder.rglob("*")
        if path.is_file() and any(value.encode() in path.read_bytes() for value in (VALUE, OTHER))
    )  # fmt: skip


def test_a_plan_changes_nothing(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    code, text = migrate("jobs")
    assert code == 0
    assert "3 secrets to move, 0 left, in 2 files" in text
    # For code such as DriverManager.getConnection(conf.get(...)).
    assert "spark.config.inplace.keys spark.shop.password,spark.shop.url\n" in text
    assert sorted(path.name for path in folder.iterdir()) == ["jobs"]
    assert len(in_clear(folder)) == 2
    data = json.loads(migrate("jobs", "--json")[1])
    assert [move["reference"] for move in data["files"][1]["moves"]] == [
        "${sealed:app:spark.shop.password}", "${sealed:app:spark.shop.url.password}",
    ]  # fmt: skip


def test_apply_again_and_undo(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == 0
    assert "3 secrets moved" in text
    assert (
        values(folder) == {"app:spark.shop.password": VALUE, "app:spark.shop.url.password": OTHER}
    ) is True
    assert in_clear(folder) == []
    assert stat.S_IMODE((folder / "s.undo").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "jobs" / "run.conf").stat().st_mode) == 0o750
    # What a driver would make of it.
    assert main(["resolve", "--dry-run", "jobs/shop.conf"]) == 0
    new = (folder / "jobs" / "shop.conf").read_text()
    assert "spark.config.providers=sealed\n" in new

    code, text = migrate("jobs", "--apply", *TARGET)
    assert code == 0
    assert "0 secrets moved" in text
    assert (folder / "jobs" / "shop.conf").read_text() == new

    code, _ = migrate("--undo", *TARGET)
    assert code == 0
    assert ((folder / "jobs" / "shop.conf").read_text() == CONF) is True
    assert ((folder / "jobs" / "run.conf").read_text() == SCRIPT) is True
    assert stat.S_IMODE((folder / "jobs" / "run.conf").stat().st_mode) == 0o750
    assert migrate("--undo", *TARGET)[0] == ExitCode.NOT_FOUND


def test_a_file_of_a_folder_that_cannot_be_read_does_not_stop_the_others(
    folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    (folder / "jobs" / "dump.sql").write_text(f"-- {VALUE}\n" + "SELECT 1;\n" * 120_000)
    (folder / "jobs" / "wrong.yaml").write_text(f"a: [{VALUE}\n")
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.CONFIGURATION
    assert "not looked at, 2 files:" in text
    assert "dump.sql is longer than 1 MiB" in text
    assert "name the other files, and move the secrets of this one with 'sparkconfig seal set'" in text
    assert "3 secrets moved" in text
    assert in_clear(folder) == ["dump.sql", "wrong.yaml"]
    assert sorted(json.loads(migrate("jobs", "--json")[1])["unread"]) == ["jobs/dump.sql", "jobs/wrong.yaml"]
    # A file that is named is one that somebody relies on.
    code, text = migrate("jobs/dump.sql", "jobs/run.conf")
    assert (code, "longer than 1 MiB" in text, "secret" in text.splitlines()[-1]) == (3, True, True)


def test_a_second_migration_adds_to_the_first(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    migrate("jobs/shop.conf", "--apply", *TARGET, "--new-key")
    migrate("jobs/run.conf", "--apply", *TARGET)
    assert len(values(folder)) == 2
    assert "${sealed:app:spark.shop.password}" in (folder / "jobs" / "run.conf").read_text()
    migrate("--undo", *TARGET)
    assert in_clear(folder) == ["run.conf"]
    migrate("--undo", *TARGET)
    assert in_clear(folder) == ["run.conf", "shop.conf"]


def test_undo_refuses_what_was_changed_since(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    migrate("jobs", "--apply", *TARGET, "--new-key")
    script = folder / "jobs" / "run.conf"
    script.write_text("# more\n" + script.read_text())
    code, text = migrate("--undo", *TARGET)
    assert code == ExitCode.CONFIGURATION
    assert "run.conf was changed after the migration" in text
    assert in_clear(folder) == []


@pytest.mark.parametrize("end", ["", "\n"])
def test_undo_keeps_the_lines_of_init_that_were_appended(
    end: str, folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    conf = folder / "jobs" / "shop.conf"
    conf.write_text(CONF.rstrip("\n") + end)
    migrate("jobs", "--apply", *TARGET, "--new-key")
    with conf.open("a") as stream:
        stream.write("spark.plugins io.sparkconfig.ConfigPlugin\n")
    assert migrate("--undo", *TARGET)[0] == 0
    assert (conf.read_text() == CONF + "spark.plugins io.sparkconfig.ConfigPlugin\n") is True


def test_nothing_is_changed_if_a_file_would_mean_something_else(
    folder: Path, migrate: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sparkconfig.migrate import plan

    monkeypatch.setattr(plan.FilePlan, "rewritten", lambda self: self.document.content.replace("a=1", "a=2"))
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.CONFIGURATION
    assert "would not be the same" in text
    assert sorted(path.name for path in folder.iterdir()) == ["jobs"]


def test_equal_names_with_other_values(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    (folder / "jobs" / "z.conf").write_text(f"spark.shop.password {OTHER}x\n")
    migrate("jobs", "--apply", *TARGET, "--new-key")
    assert (values(folder)["app:spark.shop.password-2"] == f"{OTHER}x") is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["jobs", "--apply"], "--sealed-file"),
        (["jobs", "--apply", "--sealed-file", "s"], "--key-file"),
        ([], "name the files"),
    ],
)
def test_a_wrong_command_line(migrate: Callable[..., tuple[int, str]], words: list[str], said: str) -> None:
    code, text = migrate(*words)
    assert code == ExitCode.USAGE
    assert said in text


def test_a_folder_that_cannot_be_written_is_found_first(
    folder: Path, migrate: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "first.conf").write_text(CONF)
    (folder / "jobs").chmod(0o500)
    if os.geteuid() == 0:  # root may write everywhere
        access = os.access
        monkeypatch.setattr(
            os, "access", lambda path, *a, **k: path != folder / "jobs" and access(path, *a, **k)
        )
        monkeypatch.setattr(os, "supports_effective_ids", set())
    try:
        code, text = migrate("first.conf", "jobs", "--apply", *TARGET, "--new-key")
    finally:
        (folder / "jobs").chmod(0o700)
    assert code == ExitCode.DENIED
    assert "permission denied for its folder" in text
    assert sorted(path.name for path in folder.iterdir()) == ["first.conf", "jobs"], "nothing was changed"


def test_undo_after_everything_was_undone_leaves_nothing_in_the_way(
    folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    """Without the sealed file and its key, a user may start anew with another key."""
    migrate("jobs", "--apply", *TARGET, "--new-key")
    assert migrate("--undo", *TARGET)[0] == 0
    assert not (folder / "s.undo").exists()
    (folder / "s").unlink()
    (folder / "k").unlink()
    assert migrate("jobs", "--apply", *TARGET, "--new-key")[0] == 0
    assert in_clear(folder) == []


def test_a_backup_of_another_key_is_said_before_anything_is_made(
    folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    migrate("jobs/run.conf", "--apply", *TARGET, "--new-key")
    (folder / "s").unlink()
    (folder / "k").unlink()
    code, text = migrate("jobs/shop.conf", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.DENIED
    assert "s.undo" in text
    assert "the backup of an earlier migration: use its key, or move it away" in text
    assert not (folder / "s").exists()
    assert not (folder / "k").exists()


def test_the_key_of_a_backup_may_be_rotated(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    migrate("jobs", "--apply", *TARGET, "--new-key")
    rotate = ["seal", "rotate-key", "--file", "s", "--key-file", "k"]
    assert main([*rotate, "--drop-old-key"]) == 0
    assert main([*rotate, "--drop-old-key"]) == 0
    assert main(["seal", "new-key", "--key-file", "k2"]) == 0
    assert main([*rotate, "--new-key-file", "k2"]) == 0
    (folder / "k").unlink()
    assert migrate("--undo", "--sealed-file", "s", "--key-file", "k2")[0] == 0
    assert ((folder / "jobs" / "shop.conf").read_text() == CONF) is True


def test_undo_brings_back_a_file_that_was_removed(
    folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    migrate("jobs/run.conf", "--apply", *TARGET, "--new-key")
    migrate("jobs/shop.conf", "--apply", *TARGET)
    (folder / "jobs" / "shop.conf").unlink()
    code, text = migrate("--undo", *TARGET)
    assert code == 0
    assert "undoes the migration before: there is 1 more" in text
    assert ((folder / "jobs" / "shop.conf").read_text() == CONF) is True
    assert stat.S_IMODE((folder / "jobs" / "shop.conf").stat().st_mode) == 0o600


def test_a_hard_link_would_keep_the_secret(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    (folder / "other.conf").hardlink_to(folder / "jobs" / "shop.conf")
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.CONFIGURATION
    assert "shop.conf has hard links elsewhere" in text
    assert not (folder / "k").exists()
    assert migrate("jobs", "other.conf", "--apply", *TARGET, "--new-key")[0] == 0
    assert in_clear(folder) == []


def test_line_ends_stay_as_they_are(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    (folder / "dos.conf").write_bytes(CONF.replace("\n", "\r\n").encode())
    migrate("dos.conf", "--apply", *TARGET, "--new-key")
    new = (folder / "dos.conf").read_bytes()
    assert new.count(b"\n") == new.count(b"\r\n") == 6
    migrate("--undo", *TARGET)
    assert (folder / "dos.conf").read_bytes().count(b"\r\n") == 2


def test_two_migrations_at_once_do_not_share_a_name(
    folder: Path, migrate: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    create = applying.editor.create

    def another(path: Path, key: KeyFile) -> str:  # it seals its value after this one has chosen its names
        identity = create(path, key)
        if path.name == "s":
            applying.editor.put(path, key, {applying.EntryName("app", "spark.shop.password"): f"{OTHER}x"})
        return identity

    monkeypatch.setattr(applying.editor, "create", another)
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.CONFIGURATION
    assert "another value for app:spark.shop.password by now" in text
    assert len(in_clear(folder)) == 2
    assert (values(folder)["app:spark.shop.password"] == f"{OTHER}x") is True
    assert migrate("jobs", "--apply", *TARGET)[0] == 0


def test_a_file_named_twice(folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    (folder / "link.conf").symlink_to("jobs/shop.conf")
    code, _ = migrate("jobs", str(folder / "jobs"), "link.conf", "--apply", *TARGET, "--new-key")
    assert code == 0
    assert in_clear(folder) == []


def test_no_file_is_changed_without_a_backup_that_can_be_read(
    folder: Path, migrate: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / "jobs" / "shop.conf").open("a") as stream:
        stream.write("# a comment\n" * 1000)
    monkeypatch.setattr(files, "LARGEST", 8192)
    code, text = migrate("jobs", "--apply", *TARGET, "--new-key")
    assert code == ExitCode.CONFIGURATION
    assert "s.undo would have more than" in text
    assert len(in_clear(folder)) == 2

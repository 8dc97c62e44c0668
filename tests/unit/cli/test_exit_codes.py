"""What the exit codes of docs/cli.md say: the same of every command, also where nobody expected an error."""

from __future__ import annotations

import errno
import inspect
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkconfig import errors
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.cli.main import main

SECRET = "exit-codes-canary-19ac-value"


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that this user may not enter, also if that is root."""
    folder = tmp_path / "closed"
    folder.mkdir()

    def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **named: Any) -> Any:
            text = path if isinstance(path, int) else os.fsdecode(path)
            if isinstance(text, str) and f"{text}/".startswith(f"{folder}/"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), text)
            return real(path, *more, **named)

        return call

    for module, name in (
        (os, "stat"),
        (os, "lstat"),
        (os, "listdir"),
        (os, "scandir"),
        (os, "open"),
        (io, "open"),
    ):
        monkeypatch.setattr(module, name, refusing(getattr(module, name)))
    return folder


@pytest.mark.parametrize(
    "given",
    [
        "resolve --dry-run absent",
        "validate --properties-file absent",
        "validate --sql absent.sql",
        "validate --policy absent.json",
        "resolve --dry-run good.conf --operator-file absent",
        "providers test x --file absent",
        "seal list --file absent",
    ],
)
def test_a_file_that_is_not_there(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.conf").touch()
    assert main(given.split()) == ExitCode.NOT_FOUND
    assert "absent" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given",
    [
        "resolve --dry-run {}/mine",
        "jar --spark-home {}/spark",
        "install --spark-home {}/spark",
        "doctor --spark-home {}/spark",
        "SPARK_HOME={}/spark jar",
        "SPARK_HOME={}/spark doctor",
        "SPARK_CONF_DIR={} doctor",
        "migrate {}/x",
        "seal create --key-file {}/k --file {}/f",
        "seal create --new-key --key-file {}/k --file {}/f",
    ],
)
def test_a_folder_that_may_not_be_entered(
    given: str, closed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = given.replace("{}", str(closed)).split()
    while words[0].startswith("SPARK_"):
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    code = main(words)
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert f"ermission denied for user {os.geteuid()}" in text
    assert str(closed) in text
    # What else is missing on this machine may count for more with the doctor.
    assert code == ExitCode.DENIED or (words[0] == "doctor" and code == ExitCode.CONFIGURATION)


@pytest.mark.parametrize(
    "given", ["jar --spark-home {}", "install --spark-home {}", "migrate {}", "resolve --dry-run {}"]
)
def test_a_name_that_is_too_long(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It may be a secret in the wrong place, so it is not repeated."""
    assert main(given.format(SECRET * 30).split()) == ExitCode.CONFIGURATION
    captured = capsys.readouterr()
    text = captured.out + captured.err
    shown = text.count(SECRET)
    assert shown == 0, "the name was repeated"
    assert "File name too long" in text


def test_every_error_of_the_package_has_a_code_of_its_own_kind() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.SparkConfigError) and kind is not errors.SparkConfigError
    ]
    inner = {
        kind: code_for(kind(["x"]) if kind is errors.UnresolvedReferenceError else kind("x"))
        for kind in kinds
    }
    internal = {kind for kind, code in inner.items() if code is ExitCode.INTERNAL}
    assert internal == {errors.SecretExposureError}  # raised only where the package itself is wrong

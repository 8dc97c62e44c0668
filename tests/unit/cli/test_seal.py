"""The command 'sparkconfig seal', run as people run it."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sparkconfig
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main

VALUE = "seal-canary-5a1c-value"
KEY = ("--file", "s", "--key-file", "k")
Run = Callable[..., subprocess.CompletedProcess[str]]
ENVIRON = {**os.environ, "PYTHONPATH": str(Path(sparkconfig.__file__).parents[1])}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, text: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            for name, value in variables.items():
                patch.setenv(name, value)
            code = main(["seal", *arguments])
        done = subprocess.CompletedProcess(arguments, code, *capsys.readouterr())
        shown = (done.stdout + done.stderr).count(VALUE)
        assert shown == 0, "a value was printed"
        return done

    return run


@pytest.fixture
def sealed(run: Run) -> Run:
    assert run("create", "--new-key", *KEY).returncode == 0
    assert run("set", *KEY, "shop:password", text=VALUE).returncode == 0
    return run


def opened(folder: Path) -> dict[str, str]:
    from sparkconfig.sealed.keys import KeyFile
    from sparkconfig.sealed.opened import load

    file = load(folder / "s", KeyFile(folder / "k"))
    return {str(name): file.value(name) for name in file.names()}


def test_a_file_that_cannot_be_made_leaves_no_key_behind(run: Run, tmp_path: Path) -> None:
    """Without cryptography, here hidden, and in a folder that is not there: nothing is in the way afterwards."""
    hidden = tmp_path / "hidden" / "cryptography"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ModuleNotFoundError('hidden')")
    done = subprocess.run(
        [sys.executable, "-m", "sparkconfig", "seal", "create", "--new-key", *KEY], cwd=tmp_path, check=False,
        env={**ENVIRON, "PYTHONPATH": f"{hidden.parent}:{ENVIRON['PYTHONPATH']}"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == ExitCode.CONFIGURATION
    assert "pip install cryptography" in done.stderr
    assert not (tmp_path / "k").exists()
    assert run("create", "--new-key", "--file", "none/s", "--key-file", "k").returncode != 0
    assert not (tmp_path / "k").exists()
    assert run("create", "--new-key", *KEY).returncode == 0


def test_create_set_list_remove(sealed: Run, tmp_path: Path) -> None:
    assert opened(tmp_path) == {"shop:password": VALUE}
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    replaced = sealed("set", *KEY, "shop:password", "--json", text=f"{VALUE}-2")
    assert json.loads(replaced.stdout)["replaced"] is True
    assert sealed("set", *KEY, "shop:user", "--from-env", "V", V=VALUE).returncode == 0
    assert sealed("list", *KEY).stdout.split() == ["shop:password", "shop:user"]
    listed = json.loads(sealed("list", "--file", "s", "--json").stdout)
    assert listed["sections"] == {"shop": ["password", "user"]}
    assert listed["verified"] is False
    assert sealed("remove", *KEY, "shop:password").returncode == 0
    assert opened(tmp_path) == {"shop:user": VALUE}


@pytest.mark.parametrize(
    ("text", "options", "value"),
    [
        ("a\n", (), "a"), ("a\r\n", (), "a"), ("a\n\n", (), "a\n"), ("a\r", (), "a\r"), (" a ", (), " a "),
        ("a\n", ("--exact",), "a\n"), ("", ("--allow-empty",), ""), ("l1\nl2\n", (), "l1\nl2"), ("ünï\0", (), "ünï\0"),
    ],
)  # fmt: skip
def test_one_line_end_is_left_out(
    sealed: Run, tmp_path: Path, text: str, options: tuple[str, ...], value: str
) -> None:
    done = sealed("set", *KEY, "shop:password", *options, text=text)
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path)["shop:password"] == value


def test_an_empty_value_is_a_mistake_unless_meant(sealed: Run, tmp_path: Path) -> None:
    done = sealed("set", *KEY, "shop:password", text="\n")
    assert done.returncode == ExitCode.CONFIGURATION
    assert "--allow-empty" in done.stderr
    assert opened(tmp_path) == {"shop:password": VALUE}


def test_values_are_not_taken_from_the_command_line(sealed: Run) -> None:
    assert sealed("set", *KEY, "shop:password", "on-the-command-line").returncode == ExitCode.USAGE
    assert sealed("set", *KEY, "shop:password", "--value", "x").returncode == ExitCode.USAGE


def test_rotation_of_the_key(sealed: Run, tmp_path: Path) -> None:
    assert sealed("create", "--file", "other", "--key-file", "k").returncode == 0
    before = json.loads(sealed("list", *KEY, "--json").stdout)["key_id"]
    rotated = json.loads(sealed("rotate-key", *KEY, "--json").stdout)["files"][0]
    assert rotated["old_key_id"] == before != rotated["key_id"]
    assert sealed("list", "--file", "other", "--key-file", "k").returncode == 0, (
        "the old key stays for other files"
    )
    assert sealed("rotate-key", *KEY, "--file", "other", "--drop-old-key").returncode == 0
    assert len((tmp_path / "k").read_text().split()) == 1
    assert opened(tmp_path) == {"shop:password": VALUE}


def _key(number: int) -> str:
    return base64.b64encode(bytes([number]) * 32).decode()


def test_rotation_to_a_variable_and_back(sealed: Run, tmp_path: Path) -> None:
    phrase = {"P": _key(1)}
    assert sealed("rotate-key", *KEY, "--new-key-env", "P", **phrase).returncode == 0
    assert sealed("list", *KEY).returncode == ExitCode.DENIED
    there = ("--file", "s", "--key-env", "P")
    assert sealed("list", *there, **phrase).stdout.split() == ["shop:password"]
    assert sealed("list", *there, P=_key(2)).returncode == ExitCode.DENIED
    assert sealed("rotate-key", *there, "--new-key-file", "k", **phrase).returncode == 0
    assert opened(tmp_path) == {"shop:password": VALUE}


def test_a_rotation_that_ended_in_the_middle_is_gone_on_with(sealed: Run) -> None:
    """Two files, and the first has the new key already."""
    phrase = {"P": _key(1)}
    assert sealed("create", "--file", "s2", "--key-file", "k").returncode == 0
    to = ("--new-key-env", "P")
    assert sealed("rotate-key", *KEY, *to, **phrase).returncode == 0
    done = sealed("rotate-key", *KEY, "--file", "s2", *to, **phrase)
    assert done.returncode == 0, done.stderr
    assert "s: sealed with the new key already" in done.stdout
    assert sealed("list", "--file", "s2", "--key-env", "P", **phrase).returncode == 0
    refused = sealed("rotate-key", *KEY, *to, P=_key(2))
    assert refused.returncode == ExitCode.DENIED


def test_nothing_is_rotated_unless_everything_can_be_read(sealed: Run, tmp_path: Path) -> None:
    before = (tmp_path / "k").read_bytes(), (tmp_path / "s").read_bytes()
    assert sealed("rotate-key", *KEY, "--file", "absent").returncode == ExitCode.NOT_FOUND
    assert ((tmp_path / "k").read_bytes(), (tmp_path / "s").read_bytes()) == before


def test_nothing_that_exists_is_replaced(sealed: Run, tmp_path: Path) -> None:
    before = (tmp_path / "k").read_bytes(), (tmp_path / "s").read_bytes()
    for arguments in (
        ("create", *KEY), ("create", "--new-key", *KEY), ("new-key", "--key-file", "k"),
        ("create", "--new-key", "--file", "s2", "--key-file", "k"),
    ):  # fmt: skip
        done = sealed(*arguments)
        assert done.returncode == ExitCode.CONFIGURATION
        assert "exists already" in done.stderr
    assert ((tmp_path / "k").read_bytes(), (tmp_path / "s").read_bytes()) == before


class TestExitCodes:
    def test_not_found(self, sealed: Run) -> None:
        for arguments in (
            ("remove", *KEY, "shop:absent"),
            ("list", "--file", "s", "--key-file", "absent"),
            ("set", "--file", "s", "--key-env", "SPARKCONFIG_UNSET", "a:b"),
        ):
            assert sealed(*arguments).returncode == ExitCode.NOT_FOUND

    def test_denied(self, sealed: Run, tmp_path: Path) -> None:
        sealed("new-key", "--key-file", "other")
        assert sealed("list", "--file", "s", "--key-file", "other").returncode == ExitCode.DENIED
        (tmp_path / "k").chmod(0o644)
        done = sealed("list", *KEY)
        assert done.returncode == ExitCode.DENIED
        assert "chmod 600" in done.stderr

    def test_damaged(self, sealed: Run, tmp_path: Path) -> None:
        content = json.loads((tmp_path / "s").read_text())
        content["entries"]["shop"]["pass"] = content["entries"]["shop"].pop("password")
        (tmp_path / "s").write_text(json.dumps(content))
        done = sealed("list", *KEY, "--json")
        assert done.returncode == ExitCode.DAMAGED
        assert json.loads(done.stdout)["error"]["type"] == "TouchedFileError"
        assert "'shop:pass' was changed" in done.stderr

    def test_configuration_and_usage(self, sealed: Run) -> None:
        assert sealed("set", *KEY, "a}b", text="x").returncode == ExitCode.CONFIGURATION
        assert (
            sealed("set", *KEY, "a:b", "--from-env", "SPARKCONFIG_UNSET").returncode == ExitCode.CONFIGURATION
        )
        assert sealed("list").returncode == ExitCode.USAGE
        assert sealed("set", *KEY, "--key-env", "K", "a:b").returncode == ExitCode.USAGE

    def test_an_internal_error_has_no_traceback(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from sparkconfig.sealed import opened as module

        def broken(path: Path) -> None:
            raise RuntimeError(VALUE)

        monkeypatch.setattr(module, "names_in", broken)
        assert main(["seal", "list", "--file", "x"]) == ExitCode.INTERNAL
        assert (
            capsys.readouterr().err
            == "sparkconfig: internal error: RuntimeError; please report what you ran\n"
        )


@pytest.mark.parametrize(
    ("keys", "code", "said"),
    [
        ([f"{VALUE}\n", f"{VALUE}\n"], 0, ""),
        ([f"{VALUE}\n", "other\n"], ExitCode.CONFIGURATION, ""),
        (["\x04"], ExitCode.CONFIGURATION, "no value was typed; nothing was changed"),
        (["x\n", "\x04"], ExitCode.CONFIGURATION, "no value was typed; nothing was changed"),
    ],
    ids=["twice the same", "another one", "ctrl-d", "ctrl-d at the second time"],
)
def test_on_a_terminal_it_asks_twice_and_shows_nothing(sealed: Run, tmp_path: Path, keys, code, said) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sparkconfig", "seal", "set", *KEY, "shop:typed"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=ENVIRON, start_new_session=True
    ) as process:
        os.close(theirs)
        shown, waiting = b"", list(keys)
        with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
            while piece := os.read(ours, 4096):
                shown += piece
                if waiting and piece.rstrip().endswith((b"shop:typed:", b"again:")):
                    os.write(ours, waiting.pop(0).encode())
    os.close(ours)
    assert process.returncode == code
    assert (shown.count(VALUE.encode()), shown.count(b"internal error"), waiting) == (0, 0, [])
    assert said.encode() in shown
    assert opened(tmp_path).get("shop:typed") == (VALUE if code == 0 else None)

"""``sparkconfig run``: values reach the command and nothing else."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sparkconfig
from sparkconfig.checks.exit_codes import ExitCode

VALUE = "run-canary-77aa-value"
Started = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Started:
    (tmp_path / "job.conf").write_text(
        "spark.config.providers envvar\n"
        "spark.config.providers.envvar.param.allowlist.pattern SHOP_.*\n"
        "spark.ssl.keyPassword ${envvar:SHOP_PASSWORD}\n"
        "spark.shop.url jdbc:x://h?password=${envvar:SHOP_PASSWORD}\n"
        "spark.app.name a=b\\\\c\n"
    )
    source = str(Path(sparkconfig.__file__).parents[1])
    environ = {**os.environ, "PYTHONPATH": source, "SHOP_PASSWORD": VALUE}

    def start(
        *words: str, options: tuple[str, ...] = ("--properties-file", "job.conf"), **how: Any
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "sparkconfig", "run", *options, "--", *words],
            cwd=tmp_path, env=environ, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},
        )  # fmt: skip

    return start


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, error = process.communicate(timeout=60)
    text = (out + error).decode()
    assert text.count("canary") == 0, "a value was printed"
    return process.returncode, text


def test_the_command_takes_this_process_place_and_reads_values(start: Started) -> None:
    """Terminal, signals and exit code are its own."""
    script = (
        "import os, signal, stat, sys; path = sys.argv[1]; lines = open(path).read().splitlines();"
        "print(len([line for line in lines if line.endswith('-value')]), oct(os.stat(path).st_mode), path, flush=True);"
        "print(lines[-1], os.getpid(), sys.stdout.isatty(), flush=True); signal.pause()"
    )
    ours, terminal = pty.openpty()
    process = start(sys.executable, "-c", script, "{properties}", stdout=terminal)
    os.close(terminal)
    with os.fdopen(ours, "rb", buffering=0) as reader:
        shown = b""
        while shown.count(b"\n") < 2:
            shown += reader.read(4096)
        first, second = shown.decode().splitlines()
        process.send_signal(signal.SIGUSR1)
        assert process.wait(60) == -signal.SIGUSR1
    assert first.startswith(f"2 0o100400 /proc/{process.pid}/fd/")
    assert second == f"spark.app.name=a=b\\\\c {process.pid} True"
    assert process.stderr is not None
    process.stderr.close()


def test_only_what_spark_reads_early(start: Started) -> None:
    options = ("--properties-file", "job.conf", "--early-only")
    _, text = ended(start("sed", f"s/{VALUE}/(value)/", "{properties}", options=options))
    assert "spark.ssl.keyPassword=(value)" in text
    assert "spark.shop.url=jdbc:x://h?password=${envvar:SHOP_PASSWORD}" in text


def test_variables(start: Started) -> None:
    options = ("--properties-file", "job.conf", "--env", "PGPASSWORD=${envvar:SHOP_PASSWORD}")
    code, text = ended(
        start("sh", "-c", 'test "$PGPASSWORD" = "$SHOP_PASSWORD" && echo same', options=options)
    )
    assert (code, text) == (0, "same\n")


@pytest.mark.parametrize("key", ["nul", "lone"])
def test_a_value_that_no_variable_can_hold(start: Started, tmp_path: Path, key: str) -> None:
    (tmp_path / "shop.json").write_text(
        json.dumps({"nul": f"{VALUE}\0x", "lone": f"{VALUE}\ud800", "good": "g"})
    )
    (tmp_path / "files.conf").write_text(
        "spark.config.providers files\nspark.config.providers.files.class file\n"
    )
    words = [
        f"{name}=${{files:{tmp_path}/shop.json:{each}}}"
        for name, each in (("SHOP_A", key), ("SHOP_B", "good"))
    ]
    options = ("--properties-file", "files.conf", "--env", words[0], "--env", words[1])
    code, text = ended(start("true", "{properties}", options=options))
    assert code == ExitCode.CONFIGURATION
    assert "the variable SHOP_A cannot hold its value" in text
    assert "SHOP_B" not in text


def test_its_own_errors_as_json(start: Started) -> None:
    out, _ = start("true", options=("--json", "--env", "A=${nobody:x}")).communicate(timeout=60)
    assert json.loads(out)["error"]["type"] == "UnresolvedReferenceError"
    out, _ = start("echo", "theirs", options=("--json", "--env", "A=x")).communicate(timeout=60)
    assert out == b"theirs\n", "the command's own output alone"


def test_a_kill_leaves_no_file(start: Started, tmp_path: Path) -> None:
    process = start("sh", "-c", "echo {properties}; exec sleep 600")
    assert process.stdout is not None
    path = process.stdout.readline().decode().strip()
    assert VALUE in Path(path).read_text()
    process.kill()
    process.communicate(timeout=60)
    assert not Path(path).exists()
    left = [each for each in tmp_path.iterdir() if VALUE.encode() in each.read_bytes()]
    assert left == []


def test_nothing_starts_without_every_value(start: Started, tmp_path: Path) -> None:
    with (tmp_path / "job.conf").open("a") as stream:
        stream.write("spark.ssl.ui.keyPassword ${envvar:SHOP_MISSING}\n")
    code, text = ended(start("touch", "started", "{properties}"))
    assert code == ExitCode.UNRESOLVED
    assert "SHOP_MISSING" in text
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["true"], (), "nothing to resolve"),
        (["true"], ("--properties-file", "job.conf"), "write {properties}"),
        (
            ["no-such-command-at-all", "{properties}"],
            ("--properties-file", "job.conf"),
            "the command was not found",
        ),
        (["true"], ("--env", "A-B=x"), "--env takes NAME"),
        (["true"], ("--env", "NOT_SET_AT_ALL"), "a variable that is not set"),
        (["true"], ("--env", "A=${nobody:x}"), "unknown provider 'nobody'"),
    ],
)
def test_what_is_refused(start: Started, words: list[str], options: tuple[str, ...], said: str) -> None:
    code, text = ended(start(*words, options=options))
    assert code in (ExitCode.USAGE, ExitCode.UNRESOLVED)
    assert said in text
    assert "no-such" not in text


def test_a_command_ends_when_nobody_reads_its_output(start: Started) -> None:
    process = start("sh", "-c", ": {properties}; exec yes")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stderr:
        with process.stdout:
            assert process.stdout.readline() == b"y\n"
        assert process.wait(timeout=60) == -signal.SIGPIPE


def test_a_command_that_the_system_cannot_start(start: Started, tmp_path: Path) -> None:
    (tmp_path / "job").write_text("echo a\n")
    (tmp_path / "job").chmod(0o700)
    code, text = ended(start(str(tmp_path / "job"), "{properties}"))
    assert code == ExitCode.USAGE
    assert "the command cannot be started: Exec format error" in text

"""``sparkconfig run``: values reach the command and nothing else; output, signals and exit codes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sparkconfig
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.launch import process
from sparkconfig.redaction import Registry

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
    environ = {
        name: text for name, text in os.environ.items() if name not in ("SPARK_HOME", "SPARK_CONF_DIR")
    }
    environ |= {"PYTHONPATH": str(Path(sparkconfig.__file__).parents[1]), "SHOP_PASSWORD": VALUE}

    def start(
        *words: str, options: tuple[str, ...] = ("--properties-file", "job.conf"), **how: Any
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "sparkconfig", "run", *options, "--", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environ,
            **{"start_new_session": True, **how},
        )  # fmt: skip

    return start


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    out, error = process.communicate(timeout=60)
    text = (out + error).decode()
    assert text.count("canary") == 0, "a value was printed"
    return process.returncode, text


def test_the_command_reads_values_and_its_output_shows_masks(start: Started) -> None:
    code, text = ended(
        start(
            sys.executable, "-c",
            "import os, stat, sys; path = sys.argv[1]; lines = open(path).read().splitlines();"
            "print(len([line for line in lines if line.endswith('-value')]), oct(os.stat(path).st_mode));"
            "print(lines); sys.stderr.write('\\n'.join(lines)); print(sys.argv); sys.exit(7)",
            "{properties}",
        )
    )  # fmt: skip
    assert code == 7
    assert "2 0o100400\n" in text
    assert "spark.ssl.keyPassword=*********(redacted)" in text
    assert "spark.app.name=a=b\\\\c" in text
    assert "/proc/" in text


def test_a_value_that_is_printed_in_pieces(start: Started) -> None:
    script = "printf 'a run-canary-7'; printf '7aa-value b'; echo; : {properties}; echo ü"
    code, text = ended(start("sh", "-c", script))
    assert (code, text) == (0, "a *********(redacted) b\nü\n")


def test_only_what_spark_reads_early(start: Started) -> None:
    options = ("--properties-file", "job.conf", "--early-only")
    _, text = ended(start("cat", "{properties}", options=options))
    assert "spark.ssl.keyPassword=*********(redacted)" in text
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


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_pass(start: Started, sent: signal.Signals) -> None:
    script = (
        f"import os, signal; signal.signal({sent.value}, lambda *_: (print('got', flush=True), os._exit(9)));"
        " print('ready', flush=True); signal.pause()"
    )
    process = start(sys.executable, "-c", script, "{properties}")
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(sent)
    code, text = ended(process)
    assert (code, text.splitlines()[0]) == (9, "got")


def test_the_terminal_goes_away(start: Started, tmp_path: Path) -> None:
    """As with ``ssh -t HOST sparkconfig run ...``: the kernel tells the leader of the session alone."""
    ours, terminal = pty.openpty()
    os.mkfifo(tmp_path / "told")
    script = (
        "import os, signal; told = os.open('told', os.O_WRONLY);"
        " signal.signal(signal.SIGHUP, lambda *_: (os.write(told, b'got'), os._exit(9)));"
        " os.write(told, b'ready'); signal.pause()"
    )

    def lead() -> None:
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    how = {"stdin": terminal, "preexec_fn": lead, "start_new_session": False}
    process = start(sys.executable, "-c", script, options=("--env", "A=x"), **how)
    os.close(terminal)
    with (tmp_path / "told").open("rb", buffering=0) as reader:
        assert reader.read(5) == b"ready"
        os.close(ours)
        assert reader.read(3) == b"got", "the command was not told"
    assert ended(process)[0] == 9


def test_its_own_errors_as_json(start: Started) -> None:
    out, _ = start("true", options=("--json", "--env", "A=${nobody:x}")).communicate(timeout=60)
    assert json.loads(out)["error"]["type"] == "UnresolvedReferenceError"
    out, _ = start("echo", "theirs", options=("--json", "--env", "A=x")).communicate(timeout=60)
    assert out == b"theirs\n", "the command's own output alone"


def test_a_command_that_a_signal_ends(start: Started) -> None:
    assert ended(start("sh", "-c", "kill -KILL $$", "{properties}"))[0] == 128 + signal.SIGKILL


def test_a_kill_leaves_neither_file_nor_command(start: Started, tmp_path: Path) -> None:
    process = start("sh", "-c", "echo $$ {properties}; exec sleep 600")
    assert process.stdout is not None
    pid, path = process.stdout.readline().decode().split()
    watched = os.pidfd_open(int(pid))
    try:
        process.kill()
        process.communicate(timeout=60)
        import select

        assert select.select([watched], [], [], 30)[0], "the command still runs"
    finally:
        os.close(watched)
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
        assert process.wait(timeout=60) == 128 + signal.SIGPIPE


def test_a_slow_reader_loses_nothing_and_a_background_process_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "_OUTPUT_LEFT", 0.0)
    source, background = os.pipe()  # its other end stays open, as with 'sleep 600 &'
    slow, target = os.pipe()
    os.set_blocking(target, False)
    full = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            full += os.write(target, b"." * 4096)
    os.set_blocking(target, True)
    pump = process._Pump(os.fdopen(source, "rb", buffering=0), target, Registry())
    os.write(background, b"last words\n")
    finish = threading.Thread(target=pump.finish)
    finish.start()
    with os.fdopen(slow, "rb") as reader:
        assert reader.read(full).count(b".") == full
        assert reader.readline() == b"last words\n"
        finish.join(60)
        assert not finish.is_alive()
    with pytest.raises(BrokenPipeError):
        os.write(background, b"later\n")
    os.close(background)
    os.close(target)


_FULL = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, max(2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
for _ in range(1100):
    os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_a_caller_that_passes_a_thousand_descriptors(start: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the system's two ways to wait for output, one takes descriptors below 1024 alone."""
    real = subprocess.Popen

    def full(words: list[str], **how: Any) -> subprocess.Popen[bytes]:
        return real([words[0], "-c", _FULL, *words[1:]], **how)

    monkeypatch.setattr(subprocess, "Popen", full)
    assert ended(start("sh", "-c", ": {properties}; echo hello")) == (0, "hello\n")


def test_where_ended_children_are_ignored(start: Started) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        process = start("sh", "-c", ": {properties}; exit 3")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert ended(process)[0] == 3


def test_a_command_that_the_system_cannot_start(start: Started, tmp_path: Path) -> None:
    (tmp_path / "job").write_text("echo a\n")
    (tmp_path / "job").chmod(0o700)
    code, text = ended(start(str(tmp_path / "job"), "{properties}"))
    assert code == ExitCode.USAGE
    assert "the command cannot be started: Exec format error" in text

"""The control socket of an application, and its command."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkconfig.agent import control
from sparkconfig.agent.service import AgentService
from sparkconfig.cli import main
from sparkconfig.errors import AgentError, ConfigurationError

OTHER = 54321
"""A user who is neither root nor this process's."""


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime directory of this test alone."""
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def service(tmp_path: Path) -> Iterator[AgentService]:
    """A side process's brain with one secret, and the manual trigger."""
    secrets = tmp_path / "s.properties"
    secrets.write_text("password=first-value\n")
    made = AgentService()
    confs = {
        "spark.config.providers": "file",
        "spark.config.reload.trigger": "manual",
        "spark.shop.password": f"${{file:{secrets}:password}}",
    }
    assert json.loads(made.call("start", json.dumps({"confs": confs})))["ok"]
    assert json.loads(made.call("announce", json.dumps({"application_id": "app-1"})))["ok"]
    yield made
    made.close()


def test_applications_with_one_id_in_two_directories_are_told_apart(
    service: AgentService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One was started with a runtime directory, the other without: from a service, say, or by cron."""
    here, elsewhere, busy = control.sockets()["app-1"], tmp_path / "temporary", threading.Event()
    elsewhere.mkdir()
    with monkeypatch.context() as change:
        change.delenv("XDG_RUNTIME_DIR")
        change.setattr("tempfile.tempdir", str(elsewhere))
        status = {"generation": 17, "providers": [], "reload_trigger": "auto"}

        def told() -> dict[str, object]:
            if busy.is_set():
                raise AgentError("busy")
            return {"status": status}

        other = control.ControlServer("app-1", {"status": told})
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    try:
        assert control.sockets() == {"app-1": here, str(other.path): other.path}
        assert main(["refresh", "app-1"]) == 4
        said = capsys.readouterr().err
        assert str(here) in said
        assert str(other.path) in said
        assert main(["refresh", str(here), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["application"] == "app-1"
        assert main(["refresh", str(other.path), "--status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["status"]["generation"] == 17
        busy.set()
        assert main(["refresh", "app-1"]) == 4, "one that does not answer now may be the one that is meant"
        capsys.readouterr()
        assert main(["refresh", "--list"]) == 0
        assert re.search(rf"{other.path}\s+no answer", capsys.readouterr().out)
        assert main(["refresh", str(other.path), "--status"]) != 0
        assert main(["refresh", str(here), "--json"]) == 0
        busy.clear()
        # The first one dies.
        here.unlink()
        with socket.socket(socket.AF_UNIX) as dead:
            _bind(dead, here)
        capsys.readouterr()
        assert main(["refresh", "app-1", "--status", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["status"]["generation"] == 17
    finally:
        other.close()


def test_refresh_waits_for_executors_and_names_those_that_are_behind(
    service: AgentService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The driver's JVM tells which generation each executor has; here this test answers for it."""
    asked = 0
    reached = [
        {"generation": 1, "executors": {"1": 1, "2": 1}},
        {"generation": 2, "executors": {"1": 2, "2": 1}},
        {"generation": 2, "executors": {"1": 2, "2": 2}},
    ]

    def answer_for_jvm() -> None:
        nonlocal asked
        request: dict[str, object] = {"wait_ms": 10_000}
        while asked < 6:
            wanted = json.loads(service.call("jvm_request", json.dumps(request)))["jvm_request"]
            assert wanted["name"] == "executors"
            request["done"] = {"number": wanted["number"], "answer": reached[min(asked, 2)]}
            asked += 1
            if asked == 4:
                reached[2] = {"generation": 2, "executors": {"1": 2, "2": 1}}
        service.call("jvm_request", json.dumps({**request, "wait_ms": 0}))

    (tmp_path / "s.properties").write_text("password=second-value\n")
    thread = threading.Thread(target=answer_for_jvm)
    thread.start()
    assert main(["refresh", "--wait"]) == 0
    assert "all 3 have it" in capsys.readouterr().out
    assert asked == 3, "when the last one had it"
    assert main(["refresh", "--wait", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == []
    assert main(["refresh", "--wait", "0", "--json"]) == 6
    assert json.loads(capsys.readouterr().out)["missing"] == ["executor 2"]
    assert main(["refresh", "--wait", "0"]) == 6
    assert "1 of 3 do not have it: executor 2" in capsys.readouterr().out
    thread.join()


def test_refresh_publishes_what_changed_and_names_the_references_only(
    service: AgentService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.properties").write_text("password=second-value\n")
    assert main(["refresh"]) == 0
    out = capsys.readouterr().out
    assert "app-1: generation 1 -> 2, 1 changed" in out
    assert "s.properties:password}" in out
    assert "-value" not in out
    assert main(["refresh", "app-1"]) == 0
    assert "nothing has changed, generation 2 stays" in capsys.readouterr().out


def test_a_refresh_that_fails_the_check_changes_nothing(
    service: AgentService, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.properties").unlink()
    assert main(["refresh", "app-1"]) == 1
    assert "s.properties" in capsys.readouterr().err
    assert main(["refresh", "--status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"]["generation"] == 1


def test_only_this_user_can_reach_the_socket(service: AgentService, runtime: Path) -> None:
    path = control.sockets()["app-1"]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    service.close()
    assert list(runtime.iterdir()) == []


def _bind(listener: socket.socket, path: Path) -> None:
    with _short(path) as name:
        listener.bind(name)


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Paths of sockets are short, those of tests are not."""
    folder = os.open(path.parent, os.O_RDONLY)
    yield f"/proc/self/fd/{folder}/{path.name}"
    os.close(folder)


def _made_open(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def _given_away(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, OTHER, OTHER)


def _linked(folder: Path) -> None:
    own = folder.with_name("own")
    own.mkdir(mode=0o700)
    folder.symlink_to(own)


@pytest.mark.parametrize(
    "made",
    [
        _made_open,
        _linked,
        pytest.param(
            _given_away, marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
        ),
    ],
)
def test_a_folder_that_others_made_does_not_stop_a_refresh(
    runtime: Path, made: Callable[[Path], None]
) -> None:
    """Nothing in that folder is touched: neither to listen, nor to ask, nor to tidy."""
    trap = runtime / f"sparkconfig-{os.geteuid()}-0" / "app-9.sock"
    made(trap.parent)
    with socket.socket(socket.AF_UNIX) as foreign:
        _bind(foreign, trap)  # nobody listens: what does not answer is removed
        server = control.ControlServer("app-2", {"status": dict})
        assert server.path.parent.parent == runtime
        assert control.sockets() == {"app-2": server.path}
        assert control.ask(server.path, "status")["ok"]
        with pytest.raises(AgentError):
            control.ask(trap, "status")
        control.remove(trap)
        assert [each.name for each in trap.parent.iterdir()] == ["app-9.sock"]
        server.close()
    assert not server.path.parent.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start what belongs to others")
def test_root_leaves_the_folders_of_others_alone(runtime: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = runtime / f"sparkconfig-{OTHER}"
    others.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as foreign:
        _bind(foreign, others / "app-7.sock")
        os.chown(others, OTHER, OTHER)
        assert main(["refresh", "--list"]) == 0
    assert "app-7" not in capsys.readouterr().out
    assert (others / "app-7.sock").exists()


def test_what_applications_say_is_printed_without_control_characters(
    runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    title = "\x1b]0;gone\x07\u202e"
    path = {"path": title, "age_ms": 1, "error": f"no {title}"}
    status = {
        "generation": 1,
        "reload_trigger": title,
        "providers": [{"name": title, "up": False, "paths": [path]}],
    }
    server = control.ControlServer(
        f"app-{title}",
        {
            "status": lambda: {"status": status},
            "refresh": lambda: {"before": 1, "generation": 2, "changed": [f"${{{title}}}"]},
        },
    )
    for words in (["--list"], ["--status"], []):
        assert main(["refresh", *words]) == 0
    assert main(["refresh", "app-1"]) == 4
    shown = "".join(capsys.readouterr())
    assert shown.count("\\x1b]0;gone") >= 7
    assert [character for character in shown if not character.isprintable() and character != "\n"] == []
    server.close()


def test_a_path_that_is_too_long_for_a_socket_leaves_no_folder(runtime: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot listen on"):
        control.ControlServer("a" * 120, {})
    assert list(runtime.iterdir()) == []


def test_dead_sockets_are_removed_and_unknown_applications_are_named(
    service: AgentService, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = runtime / f"sparkconfig-{os.geteuid()}-0" / "app-0.sock"
    dead.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as gone:
        _bind(gone, dead)
    assert main(["refresh", "--list"]) == 0
    assert "app-1" in capsys.readouterr().out
    assert not dead.parent.exists()
    assert main(["refresh", "app-9"]) == 4
    assert "app-1" in capsys.readouterr().err


def test_an_application_that_answers_late_or_wrongly_keeps_its_socket(
    service: AgentService, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is alive: a later refresh must reach it."""
    monkeypatch.setattr(control, "_ANSWER_SECONDS", 0.01)
    paused = control.sockets()["app-1"].with_name("app-2.sock")
    failing = control.ControlServer("app-3", {"status": lambda: {"ok": False, "message": "not now"}})
    with socket.socket(socket.AF_UNIX) as listener:
        _bind(listener, paused)
        listener.listen(1)
        assert main(["refresh", "--list"]) == 0
    capsys.readouterr()
    assert paused.exists()
    assert failing.path.exists()
    failing.close()


def test_an_application_that_ends_meanwhile_hides_no_other(
    service: AgentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: ["app-0.sock", *listed(folder)])
    assert list(control.sockets()) == ["app-1"]


def test_nonsense_on_the_socket_ends_nothing(service: AgentService) -> None:
    path = control.sockets()["app-1"]
    for request in (b"", b"\n", b"[]\n", b'{"call": 7}\n', b"x" * 10_000 + b"\n"):
        with socket.socket(socket.AF_UNIX) as client, _short(path) as name:
            client.connect(name)
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            # A request that is too long is not read to its end, which resets the connection.
            with contextlib.suppress(ConnectionResetError):
                assert b"-value" not in client.recv(65536)
    assert control.ask(path, "status")["status"]["generation"] == 1


def test_a_client_that_says_nothing_holds_up_nobody(service: AgentService) -> None:
    path = control.sockets()["app-1"]
    with socket.socket(socket.AF_UNIX) as silent, _short(path) as name:
        silent.connect(name)
        began = time.monotonic()
        assert control.ask(path, "status")["status"]["generation"] == 1
        assert time.monotonic() - began < 5

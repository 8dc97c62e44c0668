"""The control socket of an application, its command, and Python workers outside Spark."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig import worker
from sparkconfig.agent import control
from sparkconfig.agent.service import AgentService
from sparkconfig.cli import main
from sparkconfig.errors import AgentError, ConfigurationError


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
    folder = runtime / "sparkconfig"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "app-1.sock").stat().st_mode) == 0o600
    other = control.ControlServer("app-2", {})
    service.close()
    assert [path.name for path in folder.iterdir()] == ["app-2.sock"]
    other.close()
    assert not folder.exists()


def test_one_application_may_begin_while_another_ends(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder goes away between being made and being used."""
    checked, gone = control._checked, []

    def just_then(folder: Path) -> bool:
        fine = checked(folder)
        if not gone:
            folder.rmdir()
            gone.append(folder)
        return fine

    monkeypatch.setattr(control, "_checked", just_then)
    server = control.ControlServer("app-1", {})
    assert gone == [runtime / "sparkconfig"]
    assert server.path.exists()
    server.close()


def test_a_folder_that_others_can_enter_is_refused_on_both_sides(runtime: Path) -> None:
    (runtime / "sparkconfig").mkdir()
    (runtime / "sparkconfig").chmod(0o755)
    with pytest.raises(ConfigurationError, match="0700"):
        control.ControlServer("app-2", {})
    (runtime / "sparkconfig" / "app-2.sock").touch()
    assert control.sockets() == {}


def test_a_path_that_is_too_long_for_a_socket_leaves_no_folder(runtime: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot listen on"):
        control.ControlServer("a" * 120, {})
    assert not (runtime / "sparkconfig").exists()


def test_dead_sockets_are_removed_and_unknown_applications_are_named(
    service: AgentService, runtime: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = runtime / "sparkconfig" / "app-0.sock"
    dead.touch()
    assert main(["refresh", "--list"]) == 0
    assert "app-1" in capsys.readouterr().out
    assert not dead.exists()
    assert main(["refresh", "app-9"]) == 4
    assert "app-1" in capsys.readouterr().err


def test_nonsense_on_the_socket_ends_nothing(service: AgentService) -> None:
    import socket

    path = control.sockets()["app-1"]
    for request in (b"", b"\n", b"[]\n", b'{"call": 7}\n', b"x" * 10_000 + b"\n"):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            # A request that is too long is not read to its end, which resets the connection.
            with contextlib.suppress(ConnectionResetError):
                assert b"-value" not in client.recv(65536)
    assert control.ask(path, "status")["status"]["generation"] == 1


def test_outside_spark_the_worker_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    with pytest.raises(AgentError, match=r"sparkconfig\.worker works in Python code that Spark runs"):
        worker.current("${a:b}")


def test_a_pointer_of_somebody_else_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any user can make a file of that name in a shared directory."""
    pointer = tmp_path / "sparkconfig-worker.json"
    pointer.write_text(json.dumps({"folder": str(tmp_path)}))
    pointer.chmod(0o644)
    (tmp_path / "token").write_text("x")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    with pytest.raises(AgentError, match="no executor with sparkconfig was found"):
        worker.current("${a:b}")


def test_the_worker_module_imports_neither_pyspark_nor_the_brain() -> None:
    code = (
        "import sys, sparkconfig.worker\n"
        "heavy = {'pyspark', 'py4j', 'cryptography', 'sparkconfig.resolution.resolver',"
        " 'sparkconfig.settings.schema'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")

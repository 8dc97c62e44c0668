"""What a long command shows of its way, and to whom."""

from __future__ import annotations

import threading

import pytest

from sparkconfig.cli import progress
from sparkconfig.cli.main import main


@pytest.fixture
def at_once(monkeypatch):
    """No command of a test takes two seconds."""
    monkeypatch.setattr(progress, "_AFTER", -1.0)
    monkeypatch.setattr(progress, "_EVERY", -1.0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("command", ["migrate", "scrub find"])
def test_only_a_terminal_sees_it_and_no_line_stays(command, terminal, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "job.properties").write_text("spark.shop.limit 3\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert main([*command.split(), str(tmp_path)]) == 0
    shown = capsys.readouterr()
    if terminal:
        assert " MB/s" in shown.err
        assert shown.err.endswith("\r\x1b[K")
    else:
        assert shown.err == ""
    assert "\x1b" not in shown.out


class Screen:
    """Standard error of a terminal, on which somebody looks."""

    def __init__(self) -> None:
        self.text = ""
        self.written = threading.Event()

    def write(self, text: str) -> None:
        self.text += text
        self.written.set()

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def test_what_takes_long_says_so_and_for_how_long(monkeypatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "_AFTER", 0.0)
    with progress.doing("asking the providers"):
        assert screen.written.wait(30)
    assert screen.text.startswith("\rasking the providers, 0 s\x1b[K")
    assert screen.text.endswith("\r\x1b[K")


def test_what_is_done_at_once_says_nothing(monkeypatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with progress.doing("asking the providers"):
        pass
    assert screen.text == ""


def test_a_file_gets_no_line_of_what_takes_long(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "_AFTER", 0.0)
    with progress.doing("asking the providers"):
        pass
    assert capsys.readouterr().err == ""

"""What a long command shows of its way, and to whom."""

from __future__ import annotations

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

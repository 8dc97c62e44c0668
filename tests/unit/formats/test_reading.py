"""Whole files are read: what has no end is refused, and no open pipe is waited for."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.formats.reading import read


def test_a_file_with_as_much_as_it_may_have(tmp_path: Path) -> None:
    path = tmp_path / "a.conf"
    path.write_bytes(b"12345")
    assert read(path, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes") as caught:
        read(path, 4)
    assert caught.value.errno == errno.EFBIG


def test_devices() -> None:
    assert read(Path("/dev/null")) == b""
    with pytest.raises(OSError, match="more than 16 MiB"):
        read(Path("/dev/zero"))


def test_a_pipe_by_its_name_is_refused_and_one_of_this_process_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="named pipe") as caught:
        read(tmp_path / "pipe")
    assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, str(tmp_path / "pipe"))
    reader, writer = os.pipe()
    os.write(writer, b"spark.a b")
    os.close(writer)
    for folder in ("/dev/fd", "/proc/self/fd"):
        assert read(Path(folder, str(reader))) == (b"spark.a b" if folder == "/dev/fd" else b"")
    os.close(reader)


def test_a_pipe_of_this_process_is_waited_for() -> None:
    """As with ``<(command)``, whose output comes when it comes."""
    script = "import sys; from pathlib import Path; from sparkconfig.formats.reading import read;"
    script += "print('ready', flush=True); print(read(Path('/dev/stdin')).decode())"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.write(b"spark.a b")
        process.stdin.close()
        assert process.stdout.read() == b"spark.a b\n"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "given",
    [
        "resolve --dry-run {}",
        "resolve --dry-run good.conf --operator-file {}",
        "policy test {}",
        "validate --sql {}",
        "validate --policy {}.json",
        "migrate {}",
        "migrate --kind properties {}",
        "run --properties-file {} -- cat {{properties}}",
    ],
)
@pytest.mark.parametrize("what", ["pipe", "endless"])
def test_no_command_waits_or_reads_for_ever(
    given: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.conf").touch()
    for name in (what, f"{what}.json"):
        if what == "pipe":
            os.mkfifo(name)
        else:
            Path(name).symlink_to("/dev/zero")
    assert main(given.format(what).split()) == ExitCode.CONFIGURATION
    text = capsys.readouterr().err
    assert "named pipe" in text if what == "pipe" else "MiB" in text
    assert what in text

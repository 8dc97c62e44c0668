"""A disk that takes no byte more, where files for Python workers and sealed files are written.

The limit of a process on the size of files stands in for the full disk: creating works, writing does not.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm

pytestmark = pytest.mark.spark
KEEP = resource.RLIM_INFINITY


def test_an_executors_files_for_workers_are_all_there_or_none_is(tmp_path: Path) -> None:
    with bare_jvm(f"-Djava.io.tmpdir={tmp_path}") as gateway:
        jvm = gateway.jvm
        pid = jvm.java.lang.ProcessHandle.current().pid()
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, KEEP))
        with pytest.raises(Py4JJavaError, match="IOException"):
            jvm.io.sparkconfig.executor.workers.WorkerServer(None, False)
        assert [*tmp_path.iterdir()] == []
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (KEEP, KEEP))
        server = jvm.io.sparkconfig.executor.workers.WorkerServer(None, False)
        (folder,) = tmp_path.iterdir()
        assert "sparkconfig" not in folder.name
        assert {each.name for each in folder.iterdir()} == {".lock", "version"}, (
            "the token is nowhere on disk"
        )
        server.close()
        assert [*tmp_path.iterdir()] == []


def test_a_sealed_file_stays_as_it_was(tmp_path: Path) -> None:
    def seal(*arguments: str, value: str = "", full: bool = False) -> subprocess.CompletedProcess[str]:
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); " if full else ""
        code = f"{limit}from sparkconfig.cli import main; raise SystemExit(main())"
        command = [sys.executable, "-c", code, "seal", *arguments]
        return subprocess.run(command, input=value, check=False, capture_output=True, text=True, cwd=tmp_path)

    files = ("--key-file", "shop.key", "--file", "shop.sealed")
    assert seal("create", "--new-key", *files).returncode == 0
    assert seal("set", *files, "shop:password", value="first-value\n").returncode == 0
    names, before = sorted(tmp_path.iterdir()), (tmp_path / "shop.sealed").read_bytes()
    refused = seal("set", *files, "shop:password", value="second-value\n", full=True)
    assert refused.returncode != 0
    assert "shop.sealed" in refused.stderr
    assert "second-value" not in refused.stderr
    assert (tmp_path / "shop.sealed").read_bytes() == before
    assert [path for path in sorted(tmp_path.iterdir()) if not path.name.endswith(".lock")] == [
        path for path in names if not path.name.endswith(".lock")
    ]
    assert seal("set", *files, "shop:password", value="second-value\n").returncode == 0

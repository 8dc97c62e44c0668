"""Python workers outside Spark, and what their module brings with it."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sparkconfig import worker
from sparkconfig.errors import AgentError
from sparkconfig.secret import Secret


def test_outside_spark_the_worker_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARKCONFIG_WORKER", raising=False)
    with pytest.raises(AgentError, match=r"sparkconfig\.worker works in Python code that Spark runs"):
        worker.current("${a:b}")


def test_what_is_not_an_executors_folder_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may be left from before, and another user may have made the folder since."""
    tmp_path.chmod(0o755)
    folder = str(tmp_path)
    for text in (
        "",
        "{}",
        "[]",
        "7",
        json.dumps({"folder": folder}),
        json.dumps({"folder": folder, "token": "x"}),
    ):
        monkeypatch.setenv("SPARKCONFIG_WORKER", text)
        with pytest.raises(AgentError, match="no executor with sparkconfig was found"):
            worker.current("${a:b}")


def test_no_thread_waits_for_the_answer_that_another_one_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store hangs: other values, a new generation and other references are there."""
    asked, go_on, made = threading.Event(), threading.Event(), []

    class Link:
        version, is_open = memoryview(struct.pack(">q", 1)), True

        def snapshot(self):
            return 1, {"${fast:a}": Secret("known")}

        def resolve(self, texts, siblings):
            if "slow" in texts[0]:
                asked.set()
                go_on.wait(30)
            return 1, {text: Secret(f"of {text}") for text in texts}, list(texts), frozenset()

        def abandon(self):
            pass

        close = abandon

    monkeypatch.setattr(worker, "_held", None)
    monkeypatch.setattr(worker, "_idle", [])
    monkeypatch.setattr(worker, "connect", lambda: made.append(Link()) or made[-1])
    thread = threading.Thread(target=worker.current, args=("${slow:a}",))
    thread.start()
    assert asked.wait(30)
    try:
        assert worker.current("${fast:a}").reveal() == "known"
        monkeypatch.setattr(worker, "_held", None)
        assert worker.current("${fast:a}").reveal() == "known", "a new generation"
        assert worker.current("${fast:b}").reveal() == "of ${fast:b}"
        assert len(made) == 2
    finally:
        go_on.set()
        thread.join()
    assert len(worker._idle) == 2
    worker._forget()
    assert worker._idle == []


def test_a_connection_whose_other_end_has_gone_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        is_open = True

        def snapshot(self):
            self.close()
            raise AgentError("the executor does not answer")

        def close(self):
            self.is_open = False

    class Link(Gone):
        version = memoryview(struct.pack(">q", 7))

        def snapshot(self):
            return 7, {}

    monkeypatch.setattr(worker, "_held", None)
    monkeypatch.setattr(worker, "_idle", [Gone(), Gone()])
    monkeypatch.setattr(worker, "connect", Link)
    assert worker.generation() == 7
    assert [type(link) for link in worker._idle] == [Link]
    monkeypatch.setattr(worker, "_idle", [])
    monkeypatch.setattr(worker, "_held", None)
    monkeypatch.setattr(worker, "connect", Gone)
    with pytest.raises(AgentError, match="does not answer"):
        worker.generation()
    assert worker._idle == []


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

"""The watch over all processes sees each program that a process executes, once, with its environment."""

from __future__ import annotations

import subprocess

from support.processes import wait_until
from support.surfaces import ProcessWatch


def test_a_process_that_executes_another_program() -> None:
    watch = ProcessWatch()
    with subprocess.Popen(
        ["/bin/sh", "-c", "read line; exec env LATER=second cat"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env={"EARLIER": "first", "PATH": "/usr/bin:/bin"},
    ) as process:  # fmt: skip
        assert process.stdin is not None

        def seen() -> dict[str, bytes]:
            return {
                key: line for key, line in watch.command_lines.items() if key.startswith(f"{process.pid} ")
            }

        def lines() -> set[bytes]:
            watch.look()
            return set(seen().values())

        wait_until("the shell", lambda: any(b"read line" in line for line in lines()), timeout=30)
        process.stdin.write(b"go\n")
        process.stdin.flush()
        wait_until("the other program", lambda: b"cat\0" in lines(), timeout=30)
        before = seen()
        assert lines() == set(before.values())
        assert seen() == before
        process.stdin.close()
    # Before its first program it is a copy of this process.
    programs = [key for key, line in before.items() if b"read line" in line or b"cat\0" in line]
    environments = [watch.environments[key] for key in programs]
    assert all(b"EARLIER=first\0" in each for each in environments)
    assert any(b"LATER=second\0" in each for each in environments)

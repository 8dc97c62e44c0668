"""Streams and logs that several threads write at once, with finalizers in the middle."""

import os
import subprocess
import sys

import pytest

from sparkconfig.redaction import MASK

_PROGRAM = """
import faulthandler, logging, sys, threading
faulthandler.dump_traceback_later(20, exit=True)
handler = logging.StreamHandler()
handler.setFormatter(logging.Formatter("LOG %(message)s"))
logging.basicConfig(handlers=[handler], level="INFO", force=True)

from sparkconfig.redaction import registry
from sparkconfig.redaction.sinks import logging as log_sink, streams

streams.install()
log_sink.install()
registry.REGISTRY.declare(["Canary-7315-value"])

searching, logging_now = threading.Event(), threading.Event()
split = registry.Registry.split


class Finalized:
    def __del__(self):
        WORK


def slow_split(self, text):
    if threading.current_thread().name == "printer" and not searching.is_set():
        # The printer holds the stream, the other thread the handler.
        searching.set()
        logging_now.wait(10)
        Finalized()
    return split(self, text)


registry.Registry.split = slow_split
emit = logging.StreamHandler.emit


def emitting(self, record):
    logging_now.set()
    emit(self, record)


logging.StreamHandler.emit = emitting


def log():
    searching.wait(10)
    logging.info("from the other thread: Canary-7315-value")


threads = [
    threading.Thread(target=lambda: sys.stderr.write("in pieces"), name="printer"),
    threading.Thread(target=log),
]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(" end", file=sys.stderr)
"""


def _run(work: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("WORK", work)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_finalizer_that_logs_while_its_thread_writes_waits_for_nobody() -> None:
    done = _run('logging.info("from a finalizer: Canary-7315-value")')
    assert done.returncode == 0, done.stderr
    assert "LOG from a finalizer: *********(redacted)\n" in done.stderr
    assert "LOG from the other thread: *********(redacted)\n" in done.stderr
    assert "in pieces" in done.stderr
    assert "Canary-7315" not in done.stderr


def test_what_a_finalizer_prints_while_its_thread_writes_comes_afterwards() -> None:
    done = _run('print("printed at last: Canary-7315-value", file=sys.stdout, flush=True)')
    assert done.returncode == 0, done.stderr
    assert done.stdout == "printed at last: *********(redacted)\n"
    assert "LOG from the other thread: *********(redacted)\n" in done.stderr


def test_all_that_a_finalizer_logs_comes_in_its_order() -> None:
    done = _run('[logging.info(f"line {number}") for number in range(400)]')
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "LOG line" in line]
    assert [line.rpartition(" ")[2] for line in lines] == [str(number) for number in range(400)]


def test_what_a_finalizer_logs_while_another_ones_record_is_searched_comes_too() -> None:
    done = _run(
        "Late = type('Late', (), {'__del__': lambda _: logging.info('the second one')}); "
        "Message = type('Message', (), {'__str__': lambda _: Late() and 'the first one'}); "
        "logging.info(Message())"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("LOG the first one\n") == 1
    assert done.stderr.count("LOG the second one\n") == 2, "in the search and in the handler"


def test_a_process_that_forks_while_a_record_waits_shows_it_once() -> None:
    done = _run('import os; logging.info("once"); child = os.fork(); child and os.waitpid(child, 0)')
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("LOG once\n") == 1


def test_a_process_that_forks_while_another_thread_makes_needles_masks() -> None:
    program = """
import faulthandler, os, threading
from sparkconfig.redaction import registry
from sparkconfig.redaction.sinks import streams

streams.install()
registry.REGISTRY.declare(["Canary-7315-value"])
making, forked = threading.Event(), threading.Event()
needles = registry.needles


def slow(text):
    if threading.current_thread() is not threading.main_thread() and not making.is_set():
        making.set()
        forked.wait(30)
    return needles(text)


registry.needles = slow
thread = threading.Thread(target=registry.REGISTRY.redact, args=["text"])
thread.start()
making.wait(30)
if child := os.fork():
    forked.set()
    thread.join()
    os.waitpid(child, 0)
else:
    faulthandler.dump_traceback_later(15, exit=True)
    print("child: Canary-7315-value", flush=True)
    os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "child: *********(redacted)\n"


_TOGETHER = """
import logging, sys, threading
from sparkconfig.redaction import registry
from sparkconfig.redaction.sinks import logging as log_sink, streams

logging.basicConfig(stream=sys.stdout, level="INFO", format="LOG %(message)s")
streams.install()
log_sink.install()
registry.REGISTRY.declare(["Canary-7315-value"])
searching, written = threading.Event(), threading.Event()
search = registry.Registry.METHOD


def slow(self, text):
    if threading.current_thread().name == "slow" and not searching.is_set():
        searching.set()
        assert written.wait(20), "another thread waits for this search"
    return search(self, text)


def others():
    searching.wait(20)
    for text in ("a line of Canary-7315-value\\n", "a part Can", "ary-7315-value\\n"):
        sys.stdout.write(text)
        sys.stdout.flush()
    logging.info("of Canary-7315-value")
    written.set()


registry.Registry.METHOD = slow
slow_one = threading.Thread(target=lambda: print("TEXT", end="", flush=True), name="slow")
slow_one.start()
others()
slow_one.join()
"""


@pytest.mark.parametrize(
    ("method", "text"), [("split", "slow Canary-7315-value, Can"), ("redact", "slow Canary-7315-value\\n")]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_others_write_and_log_while_a_text_is_searched(method: str, text: str, unbuffered: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TOGETHER.replace("METHOD", method).replace("TEXT", text)],
        capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = [f"a line of {MASK}\n", f"a part {MASK}\n", f"LOG of {MASK}\n"]
    assert done.stdout == "".join(lines) + text.replace("Canary-7315-value", MASK).replace("\\n", "\n")


def _printed(program: str, **environ: str) -> bytes:
    """What is on the standard output of a program with a masked value."""
    before = (
        "import base64, multiprocessing, os, sys\n"
        "from sparkconfig.redaction.registry import REGISTRY\n"
        "from sparkconfig.redaction.sinks import streams\n"
        "value = 'pä5swörd-Qz71'\n"
        "REGISTRY.declare([value, value * 20])\n"
        "streams.install()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", before + program],
        capture_output=True, timeout=60, check=True, env={**os.environ, **environ},
    ).stdout  # fmt: skip


@pytest.mark.parametrize("flush", [True, False])
def test_the_end_of_what_a_child_of_multiprocessing_prints_is_not_lost(flush: bool) -> None:
    work = f"print('part p\u00e45sw', end='', flush={flush})"
    program = (
        f"def work():\n    {work}\n"
        "child = multiprocessing.get_context('fork').Process(target=work)\n"
        "child.start()\nchild.join()\nprint('|', end='')\n"
    )
    assert _printed(program, PYTHONUTF8="1").decode() == "part pä5sw|"


def test_what_waits_is_written_when_a_stream_is_closed() -> None:
    assert _printed("print('part p', end=''); sys.stdout.close()", PYTHONUTF8="1") == b"part p"


def test_an_encoding_that_waits_for_its_end_is_masked_at_the_end_of_python() -> None:
    program = "print('say', base64.b64encode((value * 20).encode()).decode(), end='')"
    assert _printed(program, PYTHONUTF8="1").decode().replace("=", "") == f"say {MASK}"


@pytest.mark.parametrize("before", ["latin-1", "utf-8", "utf-16-le"])
@pytest.mark.parametrize("after", ["latin-1", "utf-8", "utf-16-le", "cp037"])
def test_a_stream_that_changes_its_encoding_is_masked(before: str, after: str) -> None:
    program = (
        "print('first', value)\n"
        f"sys.stdout.reconfigure(encoding='{after}')\n"
        "print('then p', end='', flush=True)\nprint('ä5swörd-Qz71', value)"
    )
    first, then = f"first {MASK}\n".encode(before), f"then {MASK} {MASK}\n".encode(after)
    assert _printed(program, PYTHONIOENCODING=before, PYTHONUTF8="0") == first + then

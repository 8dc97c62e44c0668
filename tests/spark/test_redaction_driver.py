"""``python app.py``: what the driver's own Python, its errors and its workers show, without a call of the job."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.redaction import MASK
from support.shim import shim_jar

pytestmark = pytest.mark.spark

APPS = Path(__file__).parent / "apps"
SECRETS = {
    "token": "Canary-in-place-7d&<1>",
    "revealed": "Canary-revealed-81/x+y",
    "other": "Canary-never-asked-for-5",
    "ca": "Canary-content-of-a-file-4",
    "late": "Canary-resolved-last-9",
}


Finished = tuple[Path, subprocess.CompletedProcess[bytes]]


def run(app: str, folder: Path, *options: str) -> Finished:
    (folder / "shop.properties").write_text("".join(f"{key}={value}\n" for key, value in SECRETS.items()))
    plain = {key: text for key, text in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    done = subprocess.run(
        [sys.executable, *options, str(APPS / app), str(folder), str(shim_jar())],
        capture_output=True, timeout=240, check=False, cwd=folder,
        env={**plain, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    for name, value in SECRETS.items():
        text = text.replace(value, f"({name})")
    assert (folder / "errors.txt").exists(), text[-4000:]
    assert "\nTimeout (" not in text, text[text.index("\nTimeout (") :][:8000]
    return folder, done


@pytest.fixture(scope="module")
def application(tmp_path_factory) -> Finished:
    return run("driver_shows.py", tmp_path_factory.mktemp("driver"))


@pytest.fixture(scope="module")
def unaware(tmp_path_factory) -> Finished:
    """A program that never imports sparkconfig, unbuffered, so that each write shows at once."""
    return run("never_imports.py", tmp_path_factory.mktemp("unaware"), "-u")


def test_nothing_that_is_printed_shows_a_value(application):
    _, done = application
    out, err = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "surrogateescape")
    for name, value in SECRETS.items():
        assert value not in out, name
        assert value not in err, name
    for head in ("printed", "written", "lines", "bytes"):
        assert out.count(f"{head} {MASK}") == 2, head
    assert f"printed in place {MASK}" in out
    for head in ("on stderr", "warned", "LOG logged"):
        assert err.count(f"{head} {MASK}") >= 2, head
    assert "untouched line äöü \N{SNOWMAN}" in out
    assert b"\xff\xfe raw bytes\n" in done.stdout
    assert "LOG the last line of the log" in err
    assert "== Physical Plan ==" in out


def test_values_are_masked_that_this_process_has_not_asked_for(application):
    """They came when a call into the JVM returned."""
    folder, done = application
    assert json.loads((folder / "reach.json").read_text())["other"] == len(SECRETS["other"])
    out = done.stdout.decode("utf-8", "surrogateescape")
    assert f"an unknown value {MASK}" in out
    assert out.count(f"in pieces {MASK}.\n") == len(SECRETS["other"]) - 1


@pytest.mark.parametrize("where", ["in a forked child", "after the JVM's end"])
def test_where_there_is_no_jvm_the_known_values_are_masked(application, where):
    _, done = application
    assert f"{where}\nvalue {MASK} there\n" in done.stdout.decode("utf-8", "surrogateescape")


def test_tracebacks_show_no_value(application):
    _, done = application
    err = done.stderr.decode("utf-8", "replace")
    assert f"RuntimeError: thread {MASK}" in err
    assert f"OSError: unraisable {MASK}" in err
    assert f"uncaught {MASK}" in err
    assert done.returncode == 1


def test_what_workers_print_is_masked(application):
    _, done = application
    err = done.stderr.decode("utf-8", "replace")
    assert f"worker prints {MASK}" in err
    assert f"worker complains {MASK}" in err


def test_errors_hold_no_value_even_before_they_are_printed(application):
    folder, _ = application
    text = (folder / "errors.txt").read_text(encoding="utf-8")
    for name, value in SECRETS.items():
        assert value not in text, name
    assert f"it is {MASK}" in text
    assert f"in a worker {MASK}" in text
    assert f'For input string: "{MASK}"' in text
    assert "nothing" in text


def test_the_job_itself_gets_its_values(application):
    folder, _ = application
    assert (folder / "token-is-real").exists()


def test_a_program_that_never_imports_it_shows_no_value(unaware):
    folder, done = unaware
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    files = "".join((folder / name).read_text() for name in ("errors.txt", "driver.log", "worker.log"))
    for name, value in SECRETS.items():
        assert value not in out, name
        assert value not in err, name
        assert value not in files, name
    assert f"file {MASK}" in out, "the content of a file, which prints at once"
    assert f"in place {MASK}" in out
    assert f"after stop {MASK}" in out
    assert f"composed in place https://shop:{MASK}@mail.example/?from={MASK}!" in out
    if importlib.util.find_spec("yaml"):
        assert f"from yaml: {MASK}\n" in out
    assert f"|{MASK}" in out, "a table, which cuts it"
    assert out.count(f"|[{MASK}]|") == 2, "a column of bytes, as Python and as the JVM print it"
    assert out.count(f"/no/such/{MASK}") >= 1
    assert f"into a file {MASK}" in files
    assert f"worker warns {MASK}" in files
    assert f"uncaught {MASK}" in err
    assert done.returncode == 1
    assert "the job failed: " in err
    for text in (f"/no/such/{MASK}", f"it is {MASK}", "The above exception was the direct cause"):
        assert text in files, text
    if importlib.util.find_spec("IPython"):
        for text in ("IPython shows ", "/no/such/IPython-", "IPython raises "):
            assert f"{text}{MASK}" in out, text


def test_the_log_shows_no_lines_that_spark_alone_would_not_show(unaware):
    """Spark's own default: warnings in a program, and INFO lines only of loggers that somebody has configured."""
    _, done = unaware
    assert [line for line in done.stderr.decode("utf-8", "replace").splitlines() if " INFO " in line] == []


@pytest.mark.sparks(since="4.1")
def test_the_logs_of_workers_as_a_table_show_no_value(unaware):
    folder, _ = unaware
    found = json.loads((folder / "never.json").read_text())
    assert "LEAKED" not in found["logs"]
    for text in ("worker warns", "worker prints"):
        assert f"{text} {MASK}" in found["logs"]


def test_accumulators_of_such_a_program_count(unaware):
    folder, _ = unaware
    assert json.loads((folder / "never.json").read_text())["total"] == 3
    assert (folder / "second").read_text() == "3 True"

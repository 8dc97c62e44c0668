"""``sparkconfig scrub --spark`` on a local cluster: executors search and replace logs, and no value stays anywhere."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest

from sparkconfig.cli.main import main
from sparkconfig.redaction import MASK
from sparkconfig.scrub import codecs
from support.leaks import LeakFinder
from support.rpc import protected_rpc
from support.session import QUIET, end_jvm
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # Spark 3.5 and 4.0 leave the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
VALUE, OLD = "Canary-scrubbed-6611", "Canary-old-6612"
CHANGED = 1_700_000_000_456_000_000
EVENT = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.shop.password": VALUE}}
REFERENCE = "${{files:{}/store.properties:password}}"
TEXT = json.dumps(EVENT) + "\n" + json.dumps({"Event": "SparkListenerApplicationEnd", "Timestamp": 7}) + "\n"
#: Those that this Python can write and read as well; executors use Spark's own.
CODECS = [
    name for name, module in (("zstd", "zstandard"), ("lz4", "lz4")) if importlib.util.find_spec(module)
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scrub")
    (folder / "store.properties").write_text(f"password={VALUE}\n")
    conf = {
        **QUIET,
        "spark.master": "local-cluster[1,2,700]",
        "spark.executor.memory": "700m",
        **protected_rpc(),
        "spark.ui.enabled": "false",
        "spark.jars": str(shim_jar()),
        "spark.local.dir": str(folder / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "own").as_uri(),
    }
    (folder / "own").mkdir()
    (folder / "conf").mkdir()
    (folder / "conf" / "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in conf.items()))
    (folder / "job.conf").write_text(
        "spark.config.providers files\nspark.config.providers.files.class file\n"
        f"spark.shop.password {REFERENCE.format(folder)}\nspark.home ${{sys:user.home}}\n"
    )
    return folder


def make_logs(folder: Path) -> dict[Path, str]:
    """Logs with that in clear, and what each is to hold afterwards."""
    rolling = folder / "eventlog_v2_app-3"
    rolling.mkdir(parents=True)
    cleaned = TEXT.replace(VALUE, MASK)
    found = {
        folder / "app 1": cleaned,
        rolling / "events_1_app-3": cleaned,
        **{folder / f"app-2.{name}": cleaned for name in CODECS},
        folder / "driver.log.gz": f"it was {MASK}\n",
        folder / "none": "nothing\n",
    }
    for path, text in found.items():
        value = OLD if path.suffix == ".gz" else VALUE
        with path.open("wb") as raw, codecs.writing(raw, codecs.codec_of(path)) as stream:
            stream.write(text.replace(MASK, value).encode())
        path.chmod(0o640)
        os.utime(path, ns=(1_700_000_000_123_000_000, CHANGED))
    (rolling / "appstatus_app-3").touch()
    (folder / "app-9.inprogress").write_text(VALUE)
    (folder / "cut.gz").write_bytes((folder / "driver.log.gz").read_bytes()[:-9])
    return found


def text_of(path: Path) -> str:
    with codecs.reading(path) as stream:
        return b"".join(iter(lambda: stream.read(1 << 16), b"")).decode("utf-8", "surrogateescape")


def test_executors_find_and_clean_and_show_no_value(
    site: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(site / "conf"))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("SPARK_WORKER_DIR", str(site / "work"))
    old = site / "old"
    old.write_text(f"{OLD}\nword\n")
    made = make_logs(site / "logs")
    unread = {site / "logs" / "app-9.inprogress", site / "logs" / "cut.gz"}

    def scrub(action: str, *words: str) -> dict:
        try:
            with old.open() as lines:
                monkeypatch.setattr("sys.stdin", lines)
                code = main(
                    ["scrub", action, "--spark", str(site / "logs"), "--conf-file", str(site / "job.conf"),
                     "--stdin", "--json", *words]
                )  # fmt: skip
        finally:
            end_jvm()  # a command has a JVM of its own
        captured = capfd.readouterr()
        shown = LeakFinder([VALUE, OLD]).count((captured.out + captured.err).encode())
        assert shown == 0, "a value was printed"
        assert code == 6, captured.err[-6000:]
        said = json.loads(captured.out)
        assert {Path(each["file"]) for each in said["not_searched"]} == unread
        return said

    before = {path: path.read_bytes() for path in made}
    found = scrub("find", "--no-shapes")
    assert found["values"] == {REFERENCE.format(site): 2 + len(CODECS), "line 1 of standard input": 1}
    assert found["values_not_searched"] == ["line 2 of standard input"]
    assert {path: path.read_bytes() for path in made} == before
    cleaned = scrub("clean")
    assert cleaned["values"] == found["values"]
    assert {Path(path) for path in cleaned["rewritten"]} == {path for path in made if path.name != "none"}
    for path, text in made.items():
        assert text_of(path) == text
        assert (path.stat().st_mtime_ns, path.stat().st_mode & 0o777) == (CHANGED, 0o640)
    assert not list((site / "logs").rglob(".*"))
    # What is left of both applications: their event logs, executors' logs, blocks and plans.
    for path in (*unread, site / "store.properties", old):
        path.unlink()
    assert len(list((site / "own").iterdir())) == 2
    assert REFERENCE.format(site) in "".join(
        path.read_text() for path in (site / "own").rglob("*") if path.is_file()
    )
    leaks = LeakFinder([VALUE, OLD])
    left = [path for path in site.rglob("*") if path.is_file()]
    assert [path for path in left if leaks.count(path.read_bytes())] == []

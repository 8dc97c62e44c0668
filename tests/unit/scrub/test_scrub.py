"""The command 'sparkconfig scrub' on one machine: what is found, what is masked, and that logs stay logs."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.redaction import MASK
from sparkconfig.scrub import codecs, logs, values
from sparkconfig.scrub.engine import Engine
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName

VALUE = 'scrub-canary"77\\aa'
EVENTS = [
    {"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"},
    {
        "Event": "SparkListenerEnvironmentUpdate",
        "Spark Properties": {"spark.shop.password": VALUE, "spark.a": "1"},
    },
    {"Event": "SparkListenerJobStart", "Job ID": 58273640, "description": f"é jdbc:x://h?password={VALUE}"},
]
TEXT = "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in EVENTS)
Scrub = Callable[..., tuple[int, dict]]


@pytest.fixture
def scrub(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Scrub:
    monkeypatch.setenv("SHOP_PASSWORD", VALUE)
    conf = tmp_path / "job.conf"
    conf.write_text(
        "spark.config.providers envvar\nspark.config.providers.envvar.param.allowlist.pattern SHOP_.*\n"
        "spark.shop.password ${envvar:SHOP_PASSWORD}\nspark.home ${sys:user.home}\n"
    )

    def scrub(action: str, *words: object) -> tuple[int, dict]:
        code = main(["scrub", action, *map(str, words), "--conf-file", str(conf), "--json"])
        captured = capsys.readouterr()
        shown = (captured.out + captured.err).count("canary")
        assert shown == 0, "a value was printed"
        return code, json.loads(captured.out)

    return scrub


def packed(path: Path, text: str) -> None:
    with path.open("wb") as raw, codecs.writing(raw, codecs.codec_of(path)) as stream:
        stream.write(text.encode("utf-8", "surrogateescape"))


def unpacked(path: Path) -> str:
    with path.open("rb") as raw, codecs.reading(raw, codecs.codec_of(path)) as stream:
        return b"".join(iter(lambda: stream.read(1 << 16), b"")).decode("utf-8", "surrogateescape")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A history directory: plain, compressed, rolling, and what else stands beside them."""
    folder = tmp_path / "events"
    rolling = folder / "eventlog_v2_app-4"
    rolling.mkdir(parents=True)
    events = [folder / "app-1", folder / "app-2.zstd", rolling / "events_1_app-4.zstd"]
    for path in events:
        packed(path, TEXT)
        path.chmod(0o640)
        os.utime(path, (1_600_000_000, 1_600_000_000.5))
    (rolling / "appstatus_app-4").touch()
    packed(folder / "stderr.log.gz", f"25/11/22 WARN Shop: {VALUE}\n")
    packed(folder / "clean.log", "nothing here\n")
    (folder / "x.parquet").write_bytes(b"PAR1")
    (folder / "core").write_bytes(b"\x7fELF\0\0")
    return folder


def test_find_counts_and_changes_nothing(scrub: Scrub, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    code, report = scrub("find", folder)
    assert code == 0
    assert report["values"] == {"${envvar:SHOP_PASSWORD}": 7}
    assert len(report["found"]) == 4
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_clean_keeps_everything_but_the_value(scrub: Scrub, folder: Path) -> None:
    code, report = scrub("clean", folder, "--dry-run")
    assert (code, report["rewritten"]) == (0, [])
    untouched = (folder / "clean.log").stat().st_ino
    code, report = scrub("clean", folder)
    assert (code, len(report["rewritten"]), report["withheld_lines"]) == (0, 4, 0)
    for path in [*folder.glob("app-*"), *folder.rglob("events_1_*")]:
        events = [json.loads(line) for line in unpacked(path).splitlines()]
        assert events[0] == EVENTS[0]
        assert events[1]["Spark Properties"] == {"spark.shop.password": MASK, "spark.a": "1"}
        assert events[2] == {**EVENTS[2], "description": f"é jdbc:x://h?password={MASK}"}
        status = path.stat()
        assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, 1_600_000_000_500_000_000)
    assert unpacked(folder / "stderr.log.gz") == f"25/11/22 WARN Shop: {MASK}\n"
    assert (folder / "clean.log").stat().st_ino == untouched
    assert not list(folder.rglob(".*"))
    code, report = scrub("clean", folder)
    assert (code, report["rewritten"], report["values"]) == (0, [], {})


def test_shapes_are_counted_and_masked_on_demand(scrub: Scrub, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("opened jdbc:x://u:other-pw-1@h\nAKIA" + "A1" * 8 + "\n")
    assert scrub("find", log)[1]["shapes"] == {"password in an address": 1, "AWS access key id": 1}
    assert scrub("find", log, "--no-shapes")[1]["shapes"] == {}
    assert scrub("clean", log)[1]["rewritten"] == []
    assert scrub("clean", log, "--shapes")[1]["rewritten"] == [str(log)]
    assert log.read_text() == f"opened jdbc:x://u:{MASK}@h\n{MASK}\n"
    assert scrub("find", log)[1]["shapes"] == {}


def test_since(scrub: Scrub, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scrub("find", folder, "--since", "2d")[1]["files"] == 5
    assert scrub("find", folder, "--since", "2020-01-01")[1]["files"] == 8
    assert main(["scrub", "find", str(folder), "--since", "soon"]) == ExitCode.USAGE
    assert "--since needs a time" in capsys.readouterr().err


def seal(folder: Path, **entries: str) -> KeyFile:
    key = KeyFile(folder / "k")
    key.create()
    editor.create(folder / "s", key)
    editor.put(folder / "s", key, {EntryName("shop", name): text for name, text in entries.items()})
    return key


def test_values_on_standard_input_and_in_a_sealed_file(
    scrub: Scrub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(tmp_path, old="older-pw-1")
    log = tmp_path / "app.log"
    log.write_text("a older-pw-1 b oldest-pw-2\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"oldest-pw-2\nshort\n")))
    _, report = scrub("clean", log, "--stdin", "--sealed-file", tmp_path / "s", "--key-file", tmp_path / "k")
    assert report["values"] == {"${sealed:shop:old}": 1, "line 1 of standard input": 1}
    assert report["values_not_searched"] == ["line 2 of standard input"]
    assert log.read_text() == f"a {MASK} b {MASK}\n"


def test_what_is_not_a_secret_is_not_searched_for(tmp_path: Path) -> None:
    key = seal(tmp_path, user="shop_user", pw="shop-pw-1")
    assert list(values.of_sealed_file(tmp_path / "s", key, "sealed")) == ["${sealed:shop:pw}"]
    confs = {
        "spark.config.providers": "sealed",
        "spark.config.providers.sealed.param.file": str(tmp_path / "s"),
        "spark.config.providers.sealed.param.key.file": str(tmp_path / "k"),
    }
    wanted = values.named_in(
        ["jdbc:x?user=${sealed:shop:user}&p=${sealed:shop:pw}", "${sealed:shop:pw} ${env:HOME}"]
    )
    assert list(values.of_references(wanted, confs)) == ["${sealed:shop:pw}"]


def test_a_value_that_is_a_word_of_the_format(tmp_path: Path) -> None:
    """The mask must not make an event unreadable, nor another event."""
    names = {"a": "SparkListenerJobStart", "b": "description", "c": "58273640"}
    log = tmp_path / "app-1"
    log.write_text(TEXT.replace(json.dumps(VALUE)[1:-1], "say description or 58273640"))
    (found,) = logs.logs_in([log])
    result = logs.clean(found, Engine(names))
    assert result.changed
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert result.counts.withheld == 1, "its event's name is the value"
    assert [line["Event"] for line in lines] == ["SparkListenerLogStart", "SparkListenerEnvironmentUpdate"]
    assert lines[1]["Spark Properties"]["spark.shop.password"] == f"say {MASK} or {MASK}"


@pytest.mark.parametrize("suffix", [".zstd", ".gz"])
def test_a_damaged_log_is_reported_and_left(scrub: Scrub, tmp_path: Path, suffix: str) -> None:
    good, bad = tmp_path / f"good{suffix}", tmp_path / f"bad{suffix}"
    for path in (good, bad):
        packed(path, TEXT * 50)
    content = bytearray(bad.read_bytes())
    content[len(content) // 2] ^= 0x55
    bad.write_bytes(content)
    code, report = scrub("clean", good, bad)
    assert code == ExitCode.UNAVAILABLE
    assert report["rewritten"] == [str(good)]
    assert report["not_searched"] == [{"file": str(bad), "why": "it is cut off or damaged"}]
    assert bad.read_bytes() == content


def test_a_log_in_progress_is_named(scrub: Scrub, tmp_path: Path) -> None:
    log = tmp_path / "app-1.inprogress"
    log.write_text(TEXT)
    code, report = scrub("clean", log)
    assert code == ExitCode.UNAVAILABLE
    assert "still writing it" in report["not_searched"][0]["why"]


def test_hard_links_elsewhere_keep_the_old_content_and_are_named(scrub: Scrub, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    log, elsewhere = tmp_path / "logs" / "app.log", tmp_path / "elsewhere.log"
    log.write_text(TEXT)
    elsewhere.hardlink_to(log)
    _, report = scrub("clean", tmp_path / "logs")
    assert report["other_names"] == [{"file": str(log), "names": 1}]
    assert (elsewhere.read_text() == TEXT) is True
    elsewhere.unlink()
    log.write_text(TEXT)
    (log.parent / "also.log").hardlink_to(log)
    _, report = scrub("clean", tmp_path / "logs")
    assert len(report["rewritten"]) == 2
    assert report["other_names"] == []


def test_a_log_that_grows_meanwhile_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "app.log"
    log.write_text("the value-1234 here\n")
    engine = Engine({"a": "value-1234"})
    clean = Engine.clean

    def grows(self: Engine, block: str) -> object:
        if "more" not in log.read_text():
            with log.open("a") as stream:
                stream.write("more\n")
        return clean(self, block)

    monkeypatch.setattr(Engine, "clean", grows)
    (found,) = logs.logs_in([log])
    result = logs.clean(found, engine)
    assert (result.changed, result.unread) == (False, True)
    assert log.read_text() == "the value-1234 here\nmore\n"
    assert [path.name for path in tmp_path.iterdir()] == ["app.log"]


def test_hadoops_checksum_of_the_old_content_goes(tmp_path: Path) -> None:
    log, checksum = tmp_path / "events_1_app", tmp_path / ".events_1_app.crc"
    log.write_text("the value-1234 here\n")
    checksum.write_bytes(b"crc")
    (found,) = logs.logs_in([log])
    assert logs.clean(found, Engine({"a": "value-1234"})).changed
    assert not checksum.exists()


def test_bytes_that_are_not_utf8_stay(tmp_path: Path) -> None:
    log = tmp_path / "stdout"
    log.write_bytes(b"\xff\xfe value-1234 \x80\nno line end")
    (found,) = logs.logs_in([log])
    logs.clean(found, Engine({"a": "value-1234"}))
    assert log.read_bytes() == b"\xff\xfe " + MASK.encode() + b" \x80\nno line end"


def test_cleaning_needs_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "clean", "x"]) == ExitCode.USAGE
    assert "say whose values to mask" in capsys.readouterr().err


def _cleaned(folder: Path, value: str = "scrub-canary-77aa") -> list[logs.Result]:
    return [logs.clean(log, Engine({"v": value}, by_shape=False)) for log in logs.logs_in([folder])]


def test_behind_a_link_the_log_itself_is_cleaned(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("a scrub-canary-77aa b\n")
    (tmp_path / "current.log").symlink_to("app.log")
    [result] = _cleaned(tmp_path / "current.log")
    assert result.changed
    assert (tmp_path / "app.log").read_text() == f"a {MASK} b\n"
    assert (tmp_path / "current.log").is_symlink()


@pytest.mark.parametrize("zeros", [9, 3 << 20])
def test_a_log_that_begins_with_zeros_is_searched(tmp_path: Path, zeros: int) -> None:
    (tmp_path / "app.log").write_bytes(b"\0" * zeros + b"a scrub-canary-77aa\n")
    [result] = _cleaned(tmp_path)
    assert result.changed
    assert (tmp_path / "app.log").read_bytes() == b"\0" * zeros + f"a {MASK}\n".encode()


@pytest.mark.parametrize("depth", [300, 900, 3000])
def test_an_event_nested_deeply(tmp_path: Path, depth: int) -> None:
    (tmp_path / "app").write_text('{"a":' + "[" * depth + '"scrub-canary-77aa"' + "]" * depth + "}\n")
    [result] = _cleaned(tmp_path)
    assert result.changed
    assert (tmp_path / "app").read_text().count("canary") == 0


def test_half_a_surrogate_pair_in_an_event_that_is_rebuilt(tmp_path: Path) -> None:
    (tmp_path / "app").write_text('{"Event":"scrub-canary-77aa","x":"\\ud800"}\n')
    [result] = _cleaned(tmp_path)
    assert result.changed
    assert json.loads((tmp_path / "app").read_text()) == {"Event": MASK, "x": "\ud800"}


def test_a_partial_file_of_a_killed_run_with_the_same_id(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("scrub-canary-77aa\n")
    (tmp_path / f".app.log.{os.getpid()}.sparkconfig-scrub").touch()
    [result] = _cleaned(tmp_path)
    assert result.changed


def test_a_log_that_a_program_has_open_is_left(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    with path.open("a") as writer:
        writer.write("scrub-canary-77aa\n")
        writer.flush()
        [result] = _cleaned(tmp_path)
        assert result.unread
        writer.write("later\n")
    assert path.read_text().endswith("later\n")
    [result] = _cleaned(tmp_path)
    assert path.read_text() == f"{MASK}\nlater\n"


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    [result] = _cleaned(tmp_path / "pipe")
    assert result.unread


def test_a_folder_that_cannot_be_read_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def denied(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(PermissionError):
        logs.logs_in([tmp_path])


@pytest.mark.parametrize("action", ["find", "clean"])
def test_a_sealed_file_is_left_as_it_is(
    scrub: Scrub, tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ciphertexts stand beside names such as password: a mask in their places would destroy the values."""
    sealed, key = tmp_path / "conf" / "shop.sealed", tmp_path / "shop.key"
    sealed.parent.mkdir()
    where = ["--file", str(sealed), "--key-file", str(key)]
    assert main(["seal", "create", "--new-key", *where]) == 0
    assert main(["seal", "set", *where, "shop:password", "--from-env", "SHOP_PASSWORD"]) == 0
    before = sealed.read_bytes()
    capsys.readouterr()
    code, answer = scrub(action, sealed.parent, *(["--shapes"] if action == "clean" else []))
    assert (code, answer["shapes"], answer["not_searched"]) == (0, {}, [])
    assert sealed.read_bytes() == before


def test_places_are_named_by_line_column_and_key(scrub: Scrub, tmp_path: Path) -> None:
    log = tmp_path / "app-1"
    log.write_text(TEXT)
    places = scrub("find", log)[1]["found"][0]["places"]
    assert [(place["line"], place["key"]) for place in places] == [
        (2, "spark.shop.password"),
        (3, "description"),
    ]
    column = TEXT.splitlines()[1].index(json.dumps(VALUE)[1:-1]) + 1
    assert places[0]["column"] == column
    other = tmp_path / "driver.log"
    other.write_text(f"first\n\npassword={VALUE} token: {VALUE}\n{VALUE}\n")
    places = scrub("find", other)[1]["found"][0]["places"]
    assert [(place["line"], place["key"]) for place in places] == [(3, "password"), (3, "token"), (4, "")]

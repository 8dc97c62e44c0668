"""Files that change under a running application: by rename, by link, in place; and watches that do not work."""

from __future__ import annotations

import contextlib
import errno
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path

import pytest

from sparkconfig.agent.application import Application
from sparkconfig.agent.factory import make_application
from sparkconfig.errors import SecretNotFoundError
from sparkconfig.providers._kit import watch as _watch
from sparkconfig.providers.base import ConfigData
from sparkconfig.providers.file import FileConfigProvider
from sparkconfig.resolution import cache_read
from support.processes import wait_until


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    path = tmp_path / "s.properties"
    path.write_text("user=0\npassword=0\n")
    return path


@pytest.fixture
def application(secrets: Path) -> Iterator[Application]:
    """Polls once an hour: what is seen in time was pushed."""
    confs = {
        "spark.config.providers": "file",
        "spark.config.poll.interval": "1h",
        "spark.a": f"${{file:{secrets}:user}}",
        "spark.b": f"${{file:{secrets}:password}}",
    }
    made = make_application(confs, system_properties={}, operator_file=None)
    made.resolve_confs()
    made.keeper.start()
    yield made
    made.close()


def values(application: Application) -> list[str]:
    return sorted(entry.value for entry in application.keeper.snapshot.entries.values())


def _seen(application: Application, value: str) -> bool:
    return wait_until(
        "the new value", lambda: values(application) == [value, value], timeout=15, interval=0.005
    )


def test_a_file_written_in_place_never_takes_its_values_away(
    application: Application, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is empty for a moment, in which a reader may come."""
    lost: set[int] = set()
    stop = threading.Event()
    # On a busy machine the writer's moment can take longer than the half second that a file may be empty.
    monkeypatch.setattr(cache_read, "_SETTLE_READS", 600)

    def watch() -> None:
        while not stop.wait(0.001):
            if len(values(application)) != 2:
                lost.add(application.keeper.snapshot.generation)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        for turn in range(1, 20):
            with secrets.open("w") as file:  # truncates at once
                time.sleep(0.02)
                file.write(f"user={turn}\npassword={turn}\n")
            time.sleep(0.03)
        assert _seen(application, "19")
    finally:
        stop.set()
        watching.join()
    assert lost == set()


def test_a_file_that_was_deleted_is_a_revocation(application: Application, secrets: Path) -> None:
    secrets.unlink()
    application.keeper.wake()
    assert wait_until("no values", lambda: values(application) == [], timeout=10)


def test_rotations_every_few_milliseconds_end_with_the_newest(
    application: Application, secrets: Path
) -> None:
    partial, pairs = secrets.with_suffix(".new"), []

    def many_were_seen() -> bool:
        turn = len(pairs)
        partial.write_text(f"user={turn}\npassword={turn}\n")
        partial.replace(secrets)
        pairs.append(values(application))
        return turn >= 300 and len({pair[0] for pair in pairs}) > 20

    # They come through though there is never a quiet moment; how many of them, the machine decides.
    assert wait_until("many rotations", many_were_seen, timeout=60, interval=0.005)
    assert _seen(application, str(len(pairs) - 1))
    assert all(len(set(pair)) == 1 for pair in pairs)


class _Counting(FileConfigProvider):
    """Its users, as they were pushed, and how often it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.users: list[str] = []
        self.arrived = threading.Event()

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.reads += 1
        return super().get(path, keys)

    def push(self, _path: str, data: ConfigData) -> None:
        self.users += data.data.values()
        self.arrived.set()


@contextlib.contextmanager
def watching(path: Path | str, kind: type[_Counting] = _Counting, **params: str) -> Iterator[_Counting]:
    provider = kind()
    provider.configure({name.replace("_", "."): text for name, text in params.items()})
    with provider:
        provider.subscribe(str(path), {"user"}, provider.push)
        yield provider


def seen(provider: _Counting) -> bool:
    """The thread that waits for events has looked once."""
    return wait_until("the first look", lambda: provider.reads == 2, timeout=10)


def test_a_folder_above_that_is_a_link_and_swapped_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As deployment tools do it: ``current`` leads to the newest of several releases."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.properties").write_text(f"user={name}\n")
    current = tmp_path / "current"
    current.symlink_to("one")
    with watching(current / "s.properties") as provider:
        for name in ("two", "three"):
            (tmp_path / "next").symlink_to(name)
            (tmp_path / "next").replace(current)
            assert wait_until("a push", lambda name=name: provider.users[-1:] == [name], timeout=10)


def test_a_log_that_grows_beside_a_file_wakes_nobody(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an application's folder there may be both, and a log has thousands of lines a second."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)
    log = secrets.with_name("driver.log")
    log.write_text("a line\n")
    with watching(secrets) as provider, log.open("a") as held:
        assert seen(provider)
        for turn in range(20):
            for file in (held, log.open("a")):
                file.write(f"line {turn}\n")
                file.flush()
                if file is not held:
                    file.close()
            time.sleep(0.02)  # longer than changes settle
        secrets.write_text("user=1\n")
        assert provider.arrived.wait(10)
        assert provider.reads <= 5


def _replaced(folder: Path, _provider: _Counting) -> None:
    folder.rename(folder.with_name("old"))
    folder.mkdir()


def _made_again(folder: Path, _provider: _Counting) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _below_a_link_whose_target_comes_later(folder: Path, provider: _Counting) -> None:
    folder.rename(folder.with_name("old"))
    folder.symlink_to("new")
    before = provider.reads
    wait_until("two looks in vain", lambda: provider.reads >= before + 2, timeout=10)
    folder.with_name("new").mkdir()


@pytest.mark.parametrize("change", [_replaced, _made_again, _below_a_link_whose_target_comes_later])
def test_another_directory_of_that_name_is_watched_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, _Counting], None]
) -> None:
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 0.05)
    folder = tmp_path / "secrets"
    folder.mkdir()
    secrets = folder / "s.properties"
    secrets.write_text("user=one\n")
    with watching(secrets) as provider:
        change(folder, provider)
        secrets.write_text("user=two\n")
        assert wait_until("it is looked at", lambda: provider.users == ["two"], timeout=10)
        monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)
        before = provider.reads
        # The last look before the long wait.
        provider._events.set()
        wait_until("another look", lambda: provider.reads > before, timeout=10)
        secrets.write_text("user=three\n")
        assert wait_until("a push", lambda: provider.users == ["two", "three"], timeout=10)


def test_an_absolute_path_is_watched_without_a_working_directory(
    secrets: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    with watching(secrets) as provider:
        assert seen(provider)
        gone.rmdir()
        secrets.write_text("user=1\n")
        assert provider.arrived.wait(10)


def test_what_is_allowed_is_watched_where_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``allowed.paths`` a path is normalised first, so that ``link/..`` is where the link is."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)
    base, far = tmp_path / "base", tmp_path / "far"
    for each in (base, far):
        each.mkdir()
    (far / "below").mkdir()
    (base / "link").symlink_to("../far/below")
    secrets = base / "s.properties"
    secrets.write_text("user=0\n")
    with watching(f"{base}/link/../s.properties", allowed_paths=str(base)) as provider:
        assert seen(provider)
        secrets.write_text("user=1\n")
        assert provider.arrived.wait(10)


def test_watches_on_what_links_led_to_before_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes leads ``..data`` to a new directory each time, and removes the one before."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 0.05)
    (tmp_path / "s.properties").symlink_to("..data/s.properties")

    def swap(number: int) -> None:
        folder = tmp_path / f"..{number}"
        folder.mkdir()
        (folder / "s.properties").write_text(f"user={number}\n")
        (tmp_path / "..next").symlink_to(folder.name)
        (tmp_path / "..next").replace(tmp_path / "..data")
        if number:
            shutil.rmtree(tmp_path / f"..{number - 1}")

    swap(0)
    with watching(tmp_path / "s.properties") as provider:
        for number in range(1, 11):
            swap(number)
            assert wait_until(
                "a push", lambda number=number: provider.users[-1:] == [str(number)], timeout=10
            )
        mine = lambda: [each for each in _watch._OBSERVED._handlers if each.startswith(str(tmp_path))]  # noqa: E731
        assert wait_until("the end of the others", lambda: len(mine()) == 2, timeout=10)
        with pytest.raises(SecretNotFoundError):
            provider.subscribe(f"{tmp_path}/..10/absent", {"user"}, lambda *_: None)
        assert len(mine()) == 2


@pytest.mark.parametrize("error", [ValueError, RuntimeError])
def test_a_path_that_cannot_be_followed_keeps_no_watches_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """And the thread that looks goes on: without it nothing would be pushed any more."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 0.05)
    broken: set[str] = set()

    class Provider(_Counting):
        def _files(self, path: str) -> Sequence[str]:
            if path in broken:
                raise error
            return super()._files(path)

    for name in ("old", "new", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.properties").write_text(f"user={name}\n")
    link, other = tmp_path / "s.properties", tmp_path / "other" / "s.properties"
    link.symlink_to("old/s.properties")
    with watching(link, Provider) as provider:
        provider.subscribe(str(other), {"user"}, lambda *_: None)
        broken.add(str(other))
        (tmp_path / "next").symlink_to("new/s.properties")
        (tmp_path / "next").replace(link)
        old = str(tmp_path / "old")
        assert wait_until(
            "the end of the old one's", lambda: old not in _watch._OBSERVED._handlers, timeout=10
        )
        (tmp_path / "new" / "s.properties").write_text("user=newest\n")
        assert wait_until("a push", lambda: provider.users[-1:] == ["newest"], timeout=10)


def test_a_path_that_cannot_be_read_leaves_no_watch(tmp_path: Path) -> None:
    provider, before = FileConfigProvider(), set(threading.enumerate())
    provider.configure({})
    with pytest.raises(SecretNotFoundError):
        provider.subscribe(str(tmp_path / "absent"), {"user"}, lambda *_: None)
    assert wait_until("no thread left", lambda: not set(threading.enumerate()) - before, timeout=5)
    provider.close()


def test_without_inotify_watches_files_are_looked_at(
    secrets: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from watchdog.observers.api import BaseObserver

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(BaseObserver, "schedule", full)
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 0.05)
    with watching(secrets) as provider:
        secrets.write_text("user=1\n")
        assert provider.arrived.wait(10)
    assert "cannot be watched" in caplog.text


def test_closing_ends_the_threads(secrets: Path) -> None:
    before = set(threading.enumerate())
    with watching(secrets):
        assert set(threading.enumerate()) - before
    assert wait_until("no thread left", lambda: not set(threading.enumerate()) - before, timeout=5)


def test_many_providers_need_one_watch_of_the_system(tmp_path: Path) -> None:
    """inotify's instances are few, and all processes of a user share them."""
    before, providers, arrived = _inotify_instances(), [], []
    try:
        for number in range(20):
            file = tmp_path / f"{number}.properties"
            file.write_text("user=0\n")
            provider = FileConfigProvider()
            provider.configure({})
            providers.append(provider)
            provider.subscribe(str(file), {"user"}, lambda path, _: arrived.append(path))
        assert _inotify_instances() <= before + 1  # one may be left from before
        for number in range(0, 20, 2):
            providers[number].close()
        for number in range(20):
            (tmp_path / f"{number}.properties").write_text("user=1\n")
        wait_until("the open half's pushes", lambda: len(set(arrived)) == 10, timeout=10)
        assert {Path(path).stem for path in arrived} == {str(number) for number in range(1, 20, 2)}
    finally:
        for provider in providers:
            provider.close()
    assert _inotify_instances() == before


def _inotify_instances() -> int:
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found += str(each.readlink()) == "anon_inode:inotify"
    return found

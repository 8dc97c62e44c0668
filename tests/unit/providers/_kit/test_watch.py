"""Files that change under a running application: by rename, by link, in place, and where a look tells nothing."""

from __future__ import annotations

import contextlib
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
from sparkconfig.providers.directory import DirectoryConfigProvider
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
    """Its users, as they were pushed, and how often it was read and looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.looks = 0
        self.users: list[str] = []

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.reads += 1
        return super().get(path, keys)

    def look(self) -> None:
        super().look()
        self.looks += 1

    def push(self, _path: str, data: ConfigData) -> None:
        self.users += data.data.values()


@contextlib.contextmanager
def watching(path: Path | str, kind: type[_Counting] = _Counting, **params: str) -> Iterator[_Counting]:
    provider = kind()
    provider.configure({name.replace("_", "."): text for name, text in params.items()})
    with provider:
        provider.subscribe(str(path), {"user"}, provider.push)
        yield provider


@pytest.fixture
def pushes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is seen in time was seen by a look, and not by the read every two seconds."""
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 60.0)


def pushed(provider: _Counting, user: str) -> bool:
    return wait_until("a push", lambda: provider.users[-1:] == [user], timeout=10)


def looked_at(provider: _Counting) -> bool:
    """Wait for a look that began after this call."""
    before = provider.looks
    return wait_until("two looks", lambda: provider.looks >= before + 2, timeout=10)


@pytest.mark.usefixtures("pushes_alone")
def test_a_folder_above_that_is_a_link_and_swapped_twice(tmp_path: Path) -> None:
    """As deployment tools do it: ``current`` leads to the newest of several releases."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.properties").write_text(f"user={name}\n")
    current = tmp_path / "current"
    current.symlink_to("one")
    with watching(current / "s.properties") as provider:
        for name in ("two", "three"):
            (tmp_path / "next").symlink_to(name)
            (tmp_path / "next").replace(current)
            assert pushed(provider, name)


@pytest.mark.usefixtures("pushes_alone")
def test_files_that_are_written_in_other_ways(secrets: Path) -> None:
    """By a program that keeps them open, under their other name, and with as many bytes as before."""
    other = secrets.with_name("other")
    other.hardlink_to(secrets)
    with watching(secrets) as provider, secrets.open("r+") as held:
        held.write("user=1")
        held.flush()
        assert pushed(provider, "1")
        other.write_text("user=2\npassword=2\n")
        assert pushed(provider, "2")
        before = provider.reads
        secrets.with_name("driver.log").write_text("a line beside them\n")
        assert looked_at(provider)
        assert provider.reads == before


def _replaced(folder: Path, _: _Counting) -> None:
    folder.rename(folder.with_name("old"))
    folder.mkdir()


def _made_again(folder: Path, _: _Counting) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _below_a_link_whose_target_comes_later(folder: Path, provider: _Counting) -> None:
    folder.rename(folder.with_name("old"))
    folder.symlink_to("new")
    assert looked_at(provider)
    folder.with_name("new").mkdir()


@pytest.mark.parametrize("change", [_replaced, _made_again, _below_a_link_whose_target_comes_later])
@pytest.mark.usefixtures("pushes_alone")
def test_another_directory_of_that_name_is_looked_at_from_then_on(
    tmp_path: Path, change: Callable[[Path, _Counting], None]
) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    secrets = folder / "s.properties"
    secrets.write_text("user=one\n")
    with watching(secrets) as provider:
        change(folder, provider)
        for name in ("two", "three"):
            secrets.write_text(f"user={name}\n")
            assert pushed(provider, name)


@pytest.mark.usefixtures("pushes_alone")
def test_what_is_allowed_is_looked_at_where_it_is_read(tmp_path: Path) -> None:
    """With ``allowed.paths`` a path is normalised first, so that ``link/..`` is where the link is."""
    base, far = tmp_path / "base", tmp_path / "far"
    for each in (base, far):
        each.mkdir()
    (far / "below").mkdir()
    (base / "link").symlink_to("../far/below")
    secrets = base / "s.properties"
    secrets.write_text("user=0\n")
    with watching(f"{base}/link/../s.properties", allowed_paths=str(base)) as provider:
        secrets.write_text("user=1\n")
        assert pushed(provider, "1")


@pytest.mark.parametrize("fields", ["false", "true"])
@pytest.mark.usefixtures("pushes_alone")
def test_a_mounted_secret_of_kubernetes(tmp_path: Path, fields: str) -> None:
    """``..data`` leads to a new directory each time, and the one before is removed."""
    (tmp_path / "user.json").symlink_to("..data/user.json")
    key = "user.json.name" if fields == "true" else "user.json"

    def swap(number: int) -> str:
        folder = tmp_path / f"..{number}"
        folder.mkdir()
        (folder / "user.json").write_text(f'{{"name": "{number}"}}')
        (tmp_path / "..next").symlink_to(folder.name)
        (tmp_path / "..next").replace(tmp_path / "..data")
        if number:
            shutil.rmtree(tmp_path / f"..{number - 1}")
        return str(number) if fields == "true" else f'{{"name": "{number}"}}'

    swap(0)
    pushed_data: list[str] = []
    with DirectoryConfigProvider() as provider:
        provider.configure({"json.fields": fields})
        provider.subscribe(str(tmp_path), {key}, lambda _, data: pushed_data.extend(data.data.values()))
        for number in range(1, 11):
            text = swap(number)
            assert wait_until("a push", lambda text=text: pushed_data[-1:] == [text], timeout=10)


def test_a_path_that_cannot_be_named_ends_no_looks_at_others(secrets: Path) -> None:
    """Without the thread that looks nothing would be pushed any more."""
    broken: set[str] = set()

    class Provider(_Counting):
        def _files(self, path: str, keys: Set[str]) -> Sequence[str]:
            if path in broken:
                raise RuntimeError
            return super()._files(path, keys)

    other = secrets.with_name("other.properties")
    other.write_text("user=other\n")
    with watching(secrets, Provider) as provider:
        provider.subscribe(str(other), {"user"}, lambda *_: None)
        broken.add(str(other))
        secrets.write_text("user=newest\n")
        assert pushed(provider, "newest")


def test_a_path_that_cannot_be_read_leaves_no_thread(tmp_path: Path) -> None:
    provider, before = FileConfigProvider(), set(threading.enumerate())
    provider.configure({})
    with pytest.raises(SecretNotFoundError):
        provider.subscribe(str(tmp_path / "absent"), {"user"}, lambda *_: None)
    assert not set(threading.enumerate()) - before
    provider.close()


def test_where_a_look_tells_nothing_files_are_read(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network file system answers from memory until the file is opened."""
    monkeypatch.setattr(_watch, "_state_of", lambda _: "as before")
    monkeypatch.setattr(_watch, "_POLL_SECONDS", 0.1)
    with watching(secrets) as provider:
        secrets.write_text("user=1\n")
        assert pushed(provider, "1")


def test_threads_end_with_the_last_subscription_and_come_back(secrets: Path) -> None:
    before = set(threading.enumerate())
    with watching(secrets) as provider:
        assert set(threading.enumerate()) - before
        provider.unsubscribe(str(secrets), {"user"}, provider.push)
        assert wait_until("no thread left", lambda: not set(threading.enumerate()) - before, timeout=5)
        provider.subscribe(str(secrets), {"user"}, provider.push)
        secrets.write_text("user=1\n")
        assert pushed(provider, "1")
    assert wait_until("no thread left", lambda: not set(threading.enumerate()) - before, timeout=5)

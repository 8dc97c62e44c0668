"""Atomic writes, locks, and readers while writers are killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sparkconfig.errors import SealedFileError
from sparkconfig.sealed import editor, files
from sparkconfig.sealed.failures import FileAccessError, FileMissingError
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.sealed.opened import SealedReader, load

PASSWORD = EntryName("shop", "password")
USER = EntryName("shop", "user")

WRITER = """
import sys
from pathlib import Path
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
file, key, name, count = Path(sys.argv[1]), KeyFile(Path(sys.argv[2])), sys.argv[3], int(sys.argv[4])
print("ready", flush=True)
for number in range(count):
    value = f"{name}-{number}"
    editor.put(file, key, {EntryName("shop", "user"): value, EntryName("shop", "password"): value,
                           EntryName("own", f"{name}-{number % 50}"): value})
"""


def writer(file: Path, key: KeyFile, name: str, count: int) -> subprocess.Popen[str]:
    source = Path(files.__file__).parents[2]
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), str(key.path), name, str(count)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(source)},
    )  # fmt: skip
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def finish(process: subprocess.Popen[str]) -> int:
    with process:
        return process.wait(60)


def test_concurrent_seals_lose_nothing(file: Path, key: KeyFile) -> None:
    writers = [writer(file, key, name, 15) for name in ("a", "b", "c")]
    assert [finish(process) for process in writers] == [0, 0, 0]
    assert set(load(file, key).section("own")) == {f"{name}-{n}" for name in "abc" for n in range(15)}


def test_killed_writers_leave_a_good_file_and_no_lock(file: Path, key: KeyFile) -> None:
    for attempt in range(8):
        process = writer(file, key, f"w{attempt}", 10_000)
        reader = SealedReader(file, key)
        for _ in range(5 + attempt):
            values = reader.current().section("shop") if PASSWORD in reader.current().document.entries else {}
            assert len(set(values.values())) <= 1, "one read mixes two writes"
        process.send_signal(signal.SIGKILL)
        assert finish(process) == -signal.SIGKILL
        load(file, key)
    editor.put(file, key, {USER: "still works"})
    assert load(file, key).value(USER) == "still works"
    assert not list(file.parent.glob(".*.partial")), "leftovers of killed writers are removed"


def test_a_held_lock_is_waited_for_and_then_reported(file: Path, key: KeyFile) -> None:
    with files.locked(file), pytest.raises(FileAccessError, match="another process"), files.locked(file, 0.1):
        pass
    released = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with files.locked(file):
            held.set()
            released.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    threading.Timer(0.1, released.set).start()
    editor.put(file, key, {USER: "after the wait"})
    thread.join()
    assert load(file, key).value(USER) == "after the wait"


def test_new_files_are_private_and_chosen_permissions_stay(file: Path, key: KeyFile) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    editor.put(file, key, {USER: "v"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_stays(file: Path, key: KeyFile) -> None:
    os.chown(file, 12345, 12345)
    editor.put(file, key, {USER: "v"})
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12345)


def test_a_symbolic_link_stays_one(file: Path, key: KeyFile, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    editor.put(link, key, {USER: "v"})
    assert link.is_symlink()
    assert load(file, key).value(USER) == "v"


def test_missing_files_and_folders_are_named(tmp_path: Path, key: KeyFile) -> None:
    with pytest.raises(FileMissingError, match="absent"):
        load(tmp_path / "absent", key)
    with pytest.raises(FileMissingError, match="no-folder does not exist"):
        editor.create(tmp_path / "no-folder" / "file", key)


class TestReader:
    def test_a_replaced_file_is_seen_at_the_next_get(self, file: Path, key: KeyFile) -> None:
        reader = SealedReader(file, key)
        for number in range(30):
            editor.put(file, key, {USER: f"v{number}"})
            assert reader.current().value(USER) == f"v{number}"

    def test_a_same_sized_change_in_place_is_seen(self, file: Path, key: KeyFile) -> None:
        editor.put(file, key, {USER: "old"})
        old = file.read_bytes()
        editor.put(file, key, {USER: "new"})
        new = file.read_bytes()
        reader = SealedReader(file, key)
        for content, value in ((old, "old"), (new, "new")) * 20:
            file.write_bytes(content)
            assert reader.current().value(USER) == value

    def test_an_unchanged_file_is_read_once(self, file: Path, key: KeyFile) -> None:
        os.utime(file)
        threading.Event().wait(0.15)  # younger files are read each time, on purpose
        reader = SealedReader(file, key)
        assert reader.current() is reader.current()

    def test_what_was_opened_stays_one_state(self, file: Path, key: KeyFile) -> None:
        editor.put(file, key, {USER: "1", PASSWORD: "1"})
        opened = SealedReader(file, key).current()
        editor.put(file, key, {USER: "2", PASSWORD: "2"})
        assert opened.section("shop") == {"user": "1", "password": "1"}

    def test_nothing_is_served_once_file_or_key_fail(self, file: Path, key: KeyFile) -> None:
        editor.put(file, key, {USER: "v"})
        threading.Event().wait(0.15)
        reader = SealedReader(file, key)
        reader.current()
        key.path.chmod(0o644)
        with pytest.raises(SealedFileError):
            reader.current()
        key.path.chmod(0o600)
        assert reader.current().value(USER) == "v"
        key.path.unlink()
        with pytest.raises(SealedFileError):
            reader.current()

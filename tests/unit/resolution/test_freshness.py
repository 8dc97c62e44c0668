"""Freshness: who compares the states of files at each use always has the newest value, however fast it changes."""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkconfig.language.expression import Expression
from sparkconfig.providers.directory import DirectoryConfigProvider
from sparkconfig.providers.envvar import EnvVarConfigProvider
from sparkconfig.providers.file import FileConfigProvider
from sparkconfig.resolution import freshness
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.freshness import ChangeCounter, FileState
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.proofs import Proof
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings.schema import Settings
from support.keepers import Store, build, expressions, values
from support.processes import wait_until

ROUNDS = int(os.environ.get("FRESHNESS_ROUNDS", "300"))
"""Of each way to change a file; 10,000 take six minutes."""


class Holder:
    """What the driver's JVM does at each use (`ProvenUses`), in Python."""

    def __init__(self, keeper: SnapshotKeeper, changes: ChangeCounter) -> None:
        self._keeper = keeper
        self._changes = changes
        self._held = Snapshot(0, {})
        self._proofs: dict[str, tuple[Proof, int]] = {}
        self.asked = 0

    def use(self, text: str) -> str:
        found = self._proofs.get(text)
        if found is None or found[1] != self._changes.count or not all(map(still, found[0].files)):
            self.asked += 1
            answer = self._keeper.answer({text: Expression(text)})
            self._held = answer.snapshot
            self._proofs.pop(text, None)
            self._proofs.update((id_, (proof, answer.count)) for id_, proof in answer.proofs.items())
        return self._held.entries[text].value


def still(state: FileState) -> bool:
    path, *identity = state
    try:
        now = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    return identity == [now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns]


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "disk":
        yield tmp_path
        return
    memory = Path("/dev/shm")
    if not memory.is_dir():
        pytest.skip("no file system in memory")
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


def files(
    provider: type[FileConfigProvider] | type[DirectoryConfigProvider],
) -> tuple[Holder, SnapshotKeeper]:
    configured = provider()
    configured.configure({})
    cache = CachingProvider(configured, "f", poll_ms=60_000, stale_expiry_ms=60_000)
    changes = ChangeCounter()
    keeper = SnapshotKeeper(Resolver({"f": cache}, Settings()), poll_ms=60_000, changes=changes)
    return Holder(keeper, changes), keeper


def by_rename(file: Path, value: str) -> None:
    partial = file.with_suffix(".new")
    partial.write_text(f"key={value}\n")
    partial.replace(file)


def in_place(file: Path, value: str) -> None:
    with file.open("r+") as out:
        out.write(f"key={value}\n")


def in_place_with_its_time_set_back(file: Path, value: str) -> None:
    before = file.stat()
    in_place(file, value)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def by_link(file: Path, value: str) -> None:
    target = file.with_name(f"{value}.target")
    if not target.exists():
        target.write_text(f"key={value}\n")
        os.utime(target, (1, 1))
    link = file.with_suffix(".link")
    link.symlink_to(target)
    link.replace(file)


@pytest.mark.parametrize("change", [by_rename, in_place, in_place_with_its_time_set_back, by_link])
def test_a_use_right_after_a_change_has_the_new_value(
    folder: Path, change: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of equal length, in the same tick of the clock. Half of the uses come when nothing has changed."""
    # Long enough for what the kernel's clock lags, short enough that proofs are given between the changes.
    monkeypatch.setattr(freshness, "_GRACE_NS", 12_000_000)
    file = folder / "s.properties"
    change(file if change is by_link else _made(file), "00000")
    holder, keeper = files(FileConfigProvider)
    text = f"${{f:{file}:key}}"
    try:
        for number in range(ROUNDS):
            value = f"{number % 97:05d}"
            change(file, value)
            assert holder.use(text) == value
            if number % 16 == 0:  # old enough for a proof
                wait_until("a proof", lambda: _held(holder, text), timeout=10)
            assert holder.use(text) == value
    finally:
        keeper.close()


def _made(file: Path) -> Path:
    file.write_text("key=00000\n")
    return file


def _held(holder: Holder, text: str) -> bool:
    before = holder.asked
    holder.use(text)
    return holder.asked == before


def test_what_does_not_change_is_asked_for_once(tmp_path: Path) -> None:
    file = _made(tmp_path / "s.properties")
    holder, keeper = files(FileConfigProvider)
    text = f"${{f:{file}:key}}"
    try:
        wait_until("a proof", lambda: _held(holder, text), timeout=10)
        asked, rounds = holder.asked, keeper.rounds
        assert {holder.use(text) for _ in range(100)} == {"00000"}
        assert (holder.asked, keeper.rounds) == (asked, rounds)
        file.chmod(0o640)  # nothing of the content, but who may read it
        holder.use(text)
        assert holder.asked == asked + 1
    finally:
        keeper.close()


def test_a_young_file_an_unknown_name_and_an_unknown_file_system_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _made(tmp_path / "s")
    assert freshness.identify([str(file)]) is None
    monkeypatch.setattr(freshness, "_GRACE_NS", 0)
    assert freshness.identify([str(file)]) is not None
    assert freshness.identify([str(_made(tmp_path / "schlüssel"))]) is None
    assert freshness.identify([str(tmp_path / "gone")]) is None
    assert freshness.identify(None) is None
    assert freshness.identify([]) == ()
    monkeypatch.setattr(freshness, "_kinds", {})
    monkeypatch.setattr(freshness, "_TRUSTED", frozenset(("nfs4",)))
    assert freshness.identify([str(file)]) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/key", "ext4"),
        ("/data/share/key", "nfs4"),
        ("/data/share", "nfs4"),
        ("/data/shared/key", "ext4"),
        ("/data/hidden/key", "fuse.s3"),
        ("/etc/key", "overlay"),
    ],
)
def test_a_file_is_on_the_file_system_that_is_mounted_nearest(
    path: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = [("/", "overlay"), ("/data", "ext4"), ("/data/share", "nfs4"),
              ("/data/hidden", "ext4"), ("/data/hidden", "fuse.s3")]  # fmt: skip
    table = tmp_path / "mountinfo"
    table.write_text("".join(f"1 2 0:3 / {point} rw shared:1 - {kind} dev rw\n" for point, kind in mounts))

    def opened(asked: str, **options: str) -> object:
        assert asked == "/proc/self/mountinfo"
        return table.open(**options)  # type: ignore[call-overload]

    monkeypatch.setattr(freshness, "open", opened, raising=False)
    monkeypatch.setattr(freshness.os.path, "realpath", lambda path: path)
    assert freshness._kind_of(path) == kind


def test_a_file_system_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(freshness, "_kinds", {})
    monkeypatch.setattr(freshness, "_kind_of", lambda path: asked.append(path) or "nfs4")
    assert not freshness._tells_changes(1, "/a")
    assert not freshness._tells_changes(1, "/b")
    monkeypatch.setattr(freshness, "_kind_of", lambda path: asked.append(path) or "ext4")
    assert freshness._tells_changes(2, "/c")
    assert asked == ["/a", "/c"]


def test_a_directory_is_proven_by_itself_and_the_files_of_the_keys(tmp_path: Path) -> None:
    """As Kubernetes swaps secrets: the names are links into `..data`, a link itself."""
    for name, value in (("..1", "one"), ("..2", "two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "password").write_text(value)
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "password").symlink_to("..data/password")
    holder, keeper = files(DirectoryConfigProvider)
    text = f"${{f:{tmp_path}:password}}"
    try:
        wait_until("a proof", lambda: _held(holder, text), timeout=10)
        (tmp_path / "..new").symlink_to("..2")
        (tmp_path / "..new").replace(tmp_path / "..data")
        assert holder.use(text) == "two"
    finally:
        keeper.close()


def test_a_variable_never_changes_and_a_store_holds_until_it_is_due() -> None:
    variables = EnvVarConfigProvider()
    assert variables.depends_on("", {"HOME"}) == ()
    keeper, _ = build(Store({"p": {"user": "u"}}, ttl=60_000), poll_ms=60_000)
    answer = keeper.answer(expressions("${a:p:user}"))
    good_ms = answer.proofs["${a:p:user}"].good_ms
    assert good_ms is not None
    assert 30_000 < good_ms <= 45_000, "three quarters of its ttl, less some jitter"
    keeper, _ = build(Store({"p": {"user": "u"}}, ttl=0), poll_ms=60_000)
    assert not keeper.answer(expressions("${a:p:user}")).proofs, "read at each use"


def test_a_change_that_the_driver_did_not_ask_for_is_counted_before_it_is_told() -> None:
    store = Store({"p": {"user": "u1", "password": "p1"}})
    changes = ChangeCounter()
    keeper, caches = build(store, poll_ms=60_000, changes=changes)
    first = keeper.answer(expressions("${a:p:user}"))
    assert (first.count, changes.count) == (0, 0), "what is new was held by nobody"
    store.data = {"p": {"user": "u2", "password": "p2"}}
    caches[0].expire()
    keeper.refresh()
    assert changes.count == 1
    # What an answer itself brings is in it.
    store.data = {"p": {"user": "u3", "password": "p3"}}
    answer = keeper.answer(expressions("${a:p:password}"))
    assert values(answer.snapshot) == {"${a:p:user}": "u3", "${a:p:password}": "p3"}, "one read of one path"
    assert answer.count == changes.count == 2


def test_a_use_reads_its_own_paths_and_what_shares_a_changed_one() -> None:
    left, right = Store({"p": {"k": "1"}, "q": {"k": "1"}}), Store({"p": {"k": "1"}})
    keeper, caches = build(left, right, poll_ms=60_000)
    both, alone, other = "${a:p:k}-${b:p:k}", "${a:q:k}", "${b:p:k}"
    keeper.answer(expressions(both, alone, other))
    reads = left.reads, right.reads
    for cache in caches:
        cache.expire()
    keeper.answer(expressions(alone))
    assert (left.reads, right.reads) == (reads[0] + 1, reads[1]), "one path, and nothing else"
    right.data = {"p": {"k": "2"}}
    assert values(keeper.answer(expressions(other)).snapshot) == {both: "1-2", alone: "1", other: "2"}


def test_only_what_differs_travels() -> None:
    store = Store({"p": {"a": "1", "b": "1"}})
    keeper, caches = build(store, poll_ms=60_000)
    keeper.answer(expressions("${a:p:a}"))
    known = keeper.answer(expressions("${a:p:b}")).snapshot
    assert keeper.changed_since(1, known) == {"${a:p:b}"}
    store.data = {"p": {"a": "2"}}
    caches[0].expire()
    fresh = keeper.refresh()
    changed = keeper.changed_since(known.generation, fresh)
    assert changed == {"${a:p:a}", "${a:p:b}"}
    told = fresh.changes_json(known.generation, sorted(changed))
    assert told["removed"] == ["${a:p:b}"]
    assert told["values"] == {"${a:p:a}": {"value": "2", "secret": True, "redact": ["2"]}}
    assert keeper.changed_since(-5, fresh) is None, "so long ago that nobody knows"


def test_the_count_is_shared_with_who_maps_the_file(tmp_path: Path) -> None:
    file = tmp_path / "count"
    file.write_bytes(bytes(8))
    changes = ChangeCounter(str(file))
    assert changes.shared
    changes.add()
    changes.add()
    assert struct.unpack("=q", file.read_bytes()) == (changes.count,) == (2,)
    assert not ChangeCounter(str(tmp_path / "gone")).shared
    assert not ChangeCounter().shared


def test_a_provider_that_does_not_say_what_it_depends_on_is_asked_at_each_use() -> None:
    class Local(Store):
        @property
        def local(self) -> bool:
            return True

    keeper, _ = build(Local({"p": {"user": "u"}}))
    assert not keeper.answer(expressions("${a:p:user}")).proofs

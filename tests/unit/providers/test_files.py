"""The file and directory providers: formats, allowlists on real paths, consistent reads, and the contract."""

from __future__ import annotations

import base64
import errno
import itertools
import os
import threading
from pathlib import Path

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
    SparkConfigError,
)
from sparkconfig.providers import directory
from sparkconfig.providers._kit import paths
from sparkconfig.providers.directory import DirectoryConfigProvider
from sparkconfig.providers.file import FileConfigProvider


def _file(**params: str) -> FileConfigProvider:
    provider = FileConfigProvider()
    provider.configure({name.replace("_", "."): value for name, value in params.items()})
    return provider


def _directory(**params: str) -> DirectoryConfigProvider:
    provider = DirectoryConfigProvider()
    provider.configure({name.replace("_", "."): value for name, value in params.items()})
    return provider


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.properties", "db.user=u\nhosts.0=h\n"),
        ("a.conf", "db.user=u\nhosts.0=h\n"),
        ("a.json", '{"db": {"user": "u"}, "hosts": ["h"], "gone": null}'),
        ("a.yaml", "db:\n  user: u\nhosts:\n- h\ngone: null\n"),
        ("a.YML", "{db: {user: u}, hosts: [h]}"),
    ],
)
def test_formats_by_suffix_with_dotted_names(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert _file().get(str(tmp_path / name)).data == {"db.user": "u", "hosts.0": "h"}


@pytest.mark.parametrize("name", ["a.toml", "a.env", ".env"])
def test_a_suffix_of_a_format_that_is_gone_is_an_error_that_names_others(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a=secret\n")
    with pytest.raises(ConfigurationError, match="JSON, YAML or Java properties") as caught:
        _file().get(str(tmp_path / name))
    assert "secret" not in str(caught.value)
    assert _file(format="properties").get(str(tmp_path / name)).data == {"a": "secret"}


def test_the_param_format_wins_over_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('{"a": 0.10, "b": true}')
    assert _file(format="json").get(str(tmp_path / "a.txt")).data == {"a": "0.10", "b": "true"}
    with pytest.raises(ConfigurationError, match="format must be one of"):
        _file(format="xml")


@pytest.mark.parametrize("kind", ["properties", "json", "yaml"])
@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\xa0secret", b"{secret", b"secret: [", b"a = 'secret", b"\\uZZsecret=1", b"[" * 100_000],
)
def test_garbage_is_an_error_that_shows_none_of_it(tmp_path: Path, kind: str, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    if kind == "properties" and not content.startswith((b"\xff", b"\\u")):  # it reads almost anything
        assert _file(format=kind).get(str(path)).data
        return
    with pytest.raises(ProviderUnavailableError, match=f"cannot be read as {kind}") as caught:
        _file(format=kind).get(str(path))
    assert "secret" not in str(caught.value)


def test_fields_of_json_values(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text('db={"user": "u", "deep": {"x": 1}}\ndb.user=direct\nplain=text\n')
    path = str(tmp_path / "a.properties")
    provider = _file(json_fields="true")
    keys = {"db.user", "db.deep.x", "db.none", "plain", "db"}
    found = provider.get(path, keys).data
    assert found == {
        "db.user": "direct",
        "db.deep.x": "1",
        "plain": "text",
        "db": '{"user": "u", "deep": {"x": 1}}',
    }
    assert _file().get(path, {"db.deep.x"}).data == {}
    with pytest.raises(SparkConfigError, match="value of 'plain' is not a JSON object"):
        provider.get(path, {"plain.x"})
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "db").write_text('{"user": "u"}')
    assert _directory(json_fields="true").get(str(tmp_path / "d"), {"db.user"}).data == {"db.user": "u"}
    assert "db.user" in _directory(json_fields="true").get(str(tmp_path / "d")).data


def test_a_link_does_not_lead_out_of_allowed_paths(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "f").write_text("k=v")
    (inside / "f").write_text("k=v")
    (inside / "link").symlink_to(outside / "f")
    (inside / "dirlink").symlink_to(outside)
    (inside / "good").symlink_to(inside / "f")
    (outside / "back").symlink_to(inside / "f")
    provider = _file(allowed_paths=str(inside))
    for path in ("link", "dirlink/f", "../out/f", "dirlink/../../out/f"):
        with pytest.raises(AccessDeniedError, match=r"not in allowed\.paths"):
            provider.get(f"{inside}/{path}")
    with pytest.raises(AccessDeniedError):
        provider.get(f"{outside}/back")  # the name itself must be inside, too
    assert provider.get(f"{inside}/good").data == {"k": "v"}
    names = _directory(allowed_paths=str(inside))
    assert set(names.get(str(inside)).data) == {"f", "good"}
    with pytest.raises(AccessDeniedError, match="leads out"):
        names.get(str(inside), {"link"})


def test_an_allowed_path_may_be_a_link_itself_and_move(tmp_path: Path) -> None:
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "f").write_text(f"k={version}")
    (tmp_path / "current").symlink_to("v1")
    provider = _file(allowed_paths=str(tmp_path / "current"))
    assert provider.get(f"{tmp_path}/current/f").data == {"k": "v1"}
    (tmp_path / "next").symlink_to("v2")
    (tmp_path / "next").rename(tmp_path / "current")
    assert provider.get(f"{tmp_path}/current/f").data == {"k": "v2"}


def test_a_prefix_is_not_a_parent(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "pq").write_text("k=v")
    with pytest.raises(AccessDeniedError):
        _file(allowed_paths=str(tmp_path / "p")).get(str(tmp_path / "pq"))


@pytest.mark.parametrize("path", ["", "none", "\0", "\ud800", "x" * 5000, "~/x", "/dev/null/x"])
def test_paths_that_lead_nowhere_are_not_there(tmp_path: Path, path: str, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for provider in (_file(), _directory()):
        with pytest.raises(SecretNotFoundError) as caught:
            provider.get(path, {"k"})
        assert len(str(caught.value)) < 300
        assert str(caught.value).encode()


def test_pipes_devices_and_directories_are_not_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(SecretNotFoundError):
            _file().get(str(path))
    (tmp_path / "real").write_text("x")
    assert _directory().get(str(tmp_path)).data == {"real": "x"}


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(paths.MAX_BYTES + 1)
    with pytest.raises(ProviderUnavailableError, match="more than 32 MiB"):
        _file().get(str(tmp_path / "big"))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (errno.EACCES, AccessDeniedError),
        (errno.EPERM, AccessDeniedError),
        (errno.ELOOP, AccessDeniedError),
        (errno.ENOENT, SecretNotFoundError),
        (errno.EIO, ProviderUnavailableError),
        (errno.ESTALE, ProviderUnavailableError),
        (errno.EMFILE, ProviderUnavailableError),
    ],
)
def test_what_the_systems_errors_mean(code: int, kind: type[Exception]) -> None:
    """Only "not reachable" lets a last good value serve: EIO and ESTALE are outages, EACCES is none."""
    error = paths.failure(OSError(code, os.strerror(code), "/x"), "/x")
    assert type(error) is kind
    assert os.strerror(code) in str(error)


def test_keys_of_a_directory_never_lead_out(tmp_path: Path) -> None:
    (tmp_path / "d" / "sub").mkdir(parents=True)
    (tmp_path / "top").write_text("TOP")
    (tmp_path / "d" / "sub" / "inner").write_text("INNER")
    (tmp_path / "d" / "k").write_text("v\n")
    keys = {"../top", "sub/inner", "sub", ".", "..", str(tmp_path / "top"), "k", "k/", "", "\0", "\ud800"}
    assert _directory().get(f"{tmp_path}/d", keys).data == {"k": "v\n"}


def test_a_link_that_leads_to_itself_is_not_a_key(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("a")
    (tmp_path / "loop").symlink_to("loop")
    assert _directory().get(str(tmp_path)).data == {"password": "a"}


def test_binary_files_are_base64_where_asked(tmp_path: Path) -> None:
    raw = bytes(range(256)) + b"\n"
    (tmp_path / "store.p12").write_bytes(raw)
    (tmp_path / "password").write_bytes(b"s3cret\n")
    with DirectoryConfigProvider() as provider:
        provider.configure({"base64.keys": "*.p12, *.jks", "strip.newline": "true"})
        data = provider.get(str(tmp_path)).data
    assert base64.b64decode(data["store.p12"]) == raw
    assert data["password"] == "s3cret"


def test_strip_newline(tmp_path: Path) -> None:
    for name, content in {
        "a": b"v\n",
        "b": b"v\r\n",
        "c": b"v\n\n",
        "d": b"v",
        "e": b"",
        "f": b" v ",
    }.items():
        (tmp_path / name).write_bytes(content)
    data = _directory(strip_newline="true").get(str(tmp_path)).data
    assert data == {"a": "v", "b": "v", "c": "v\n", "d": "v", "e": "", "f": " v "}


def test_a_directory_that_changes_often_is_not_one_without_its_files(tmp_path, monkeypatch) -> None:
    """A slow reader may find each file that was listed gone: the new one is there by then."""
    (tmp_path / "key").write_text("value")
    gone = iter([True] * 60)
    read = directory.read_file

    def racing(path: str, allowed: paths.AllowedPaths) -> bytes:
        if next(gone, False):
            raise SecretNotFoundError("it went away")
        return read(path, allowed)

    monkeypatch.setattr(directory, "read_file", racing)
    monkeypatch.setattr(directory, "_SECONDS", 60)  # a busy machine is slow, too
    assert _directory().get(str(tmp_path)).data == {"key": "value"}
    gone = itertools.repeat(True)
    monkeypatch.setattr(directory, "_SECONDS", 0.05)
    with pytest.raises(ProviderUnavailableError, match="changes while it is read"):
        _directory().get(str(tmp_path))


def test_kubernetes_mounts_are_read_as_one_generation_while_they_are_swapped(tmp_path: Path) -> None:
    keys = [f"key{index}" for index in range(8)]

    def publish(generation: int) -> None:
        """What the kubelet does: a new directory, then one rename of ..data, then the old one goes."""
        fresh = tmp_path / f"..2026_{generation}"
        fresh.mkdir()
        for key in keys:
            (fresh / key).write_text(str(generation))
        old = (tmp_path / "..data").resolve() if (tmp_path / "..data").exists() else None
        (tmp_path / "..data_tmp").symlink_to(fresh.name)
        (tmp_path / "..data_tmp").rename(tmp_path / "..data")
        if old is not None:
            for file in old.iterdir():
                file.unlink()
            old.rmdir()

    publish(0)
    for key in keys:
        (tmp_path / key).symlink_to(f"..data/{key}")
    stop = threading.Event()

    def swap() -> None:
        for generation in itertools.count(1):
            if stop.is_set():
                return
            publish(generation)
            stop.wait(0.002)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen: set[str] = set()
    try:
        for provider in (_directory(), _directory(allowed_paths=str(tmp_path))):
            for _ in range(150):
                data = provider.get(str(tmp_path), frozenset(keys)).data
                assert sorted(data) == keys
                assert len(set(data.values())) == 1
                seen |= set(data.values())
    finally:
        stop.set()
        swapper.join()
    assert len(seen) > 3


def test_use_before_configure() -> None:
    for provider in (FileConfigProvider(), DirectoryConfigProvider()):
        with pytest.raises(ConfigurationError, match="before configure"):
            provider.get("/x", {"k"})


@pytest.mark.parametrize("wrong", ["relative", "/no/such/path/anywhere", "/tmp,,/usr", " /tmp"])
def test_wrong_allowed_paths(wrong: str) -> None:
    with pytest.raises(ConfigurationError):
        _file(allowed_paths=wrong)

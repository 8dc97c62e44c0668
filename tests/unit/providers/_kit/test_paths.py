"""Directories below ``allowed.paths`` that are swapped for links, at each moment of a read."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.errors import AccessDeniedError, ConfigurationError, ProviderError, ProviderUnavailableError
from sparkconfig.kafka import providers as kafka
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.providers.directory import DirectoryConfigProvider
from sparkconfig.providers.file import FileConfigProvider

_Read = Callable[[Path], str | None]


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    """Two directories of the same form: one is allowed, a link in it leads to the other."""
    for name, value in {"allowed/sub": "inside", "outside": "OUTSIDE"}.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "db.properties").write_text(f"password={value}")
    (tmp_path / "outside" / "other").write_text("OUTSIDE")
    (tmp_path / "allowed" / "link").symlink_to(tmp_path / "outside")
    return tmp_path.resolve() / "allowed"


def _provider(kind: type[ConfigProvider], allowed: Path) -> ConfigProvider:
    provider = kind()
    provider.configure({"allowed.paths": str(allowed)})
    return provider


def _file(allowed: Path) -> str | None:
    data = _provider(FileConfigProvider, allowed).get(f"{allowed}/sub/db.properties", {"password"}).data
    return data.get("password")


def _directory(allowed: Path) -> str | None:
    return str(dict(_provider(DirectoryConfigProvider, allowed).get(f"{allowed}/sub").data))


def _exchange(allowed: Path) -> None:
    (allowed / "sub").rename(allowed / "away")
    (allowed / "link").rename(allowed / "sub")
    (allowed / "away").rename(allowed / "link")


def _at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, do: Callable[[int], None]) -> list[int]:
    """Call ``do`` with 1, 2, ... before each call of a function of the system."""
    original = getattr(owner, name)
    calls: list[int] = []

    def observed(*args: Any, **named: Any) -> Any:
        calls.append(len(calls) + 1)
        do(calls[-1])
        return original(*args, **named)

    monkeypatch.setattr(owner, name, observed)
    return calls


@pytest.mark.parametrize("read", [_file, _directory])
@pytest.mark.parametrize(
    ("owner", "name"), [(os.path, "realpath"), (os, "open"), (os, "scandir"), (os, "stat")]
)
@pytest.mark.parametrize("moment", range(1, 13))
def test_a_directory_that_is_swapped_for_a_link_leads_nowhere(
    allowed: Path, monkeypatch: pytest.MonkeyPatch, read: _Read, owner: Any, name: str, moment: int
) -> None:
    with monkeypatch.context() as patch, contextlib.suppress(ProviderError):
        _at(patch, owner, name, lambda call: _exchange(allowed) if call == moment else None)
        assert "OUTSIDE" not in str(read(allowed))


@pytest.mark.parametrize("read", [_file, _directory])
def test_a_directory_that_is_a_link_for_a_moment_is_read_all_the_same(
    allowed: Path, monkeypatch: pytest.MonkeyPatch, read: _Read
) -> None:
    """At its first opening it is a link; before and after, the path is what it was."""
    original, links = os.open, []

    def opened(path: Any, flags: int, **named: Any) -> int:
        if path != "sub" or links:
            return original(path, flags, **named)
        links.append(path)
        _exchange(allowed)
        try:
            return original(path, flags, **named)
        finally:
            _exchange(allowed)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", opened)
        assert "inside" in str(read(allowed))
    assert links


@pytest.mark.parametrize("read", [_file, _directory])
def test_a_link_that_is_none_any_more_is_an_error_of_the_provider(
    allowed: Path, monkeypatch: pytest.MonkeyPatch, read: _Read
) -> None:
    """``realpath`` sees a link, and by the time that it follows it, a directory stands there."""
    _exchange(allowed)
    (allowed / "link").rename(allowed / "target")
    (allowed / "sub").unlink()
    (allowed / "sub").symlink_to("target")
    failures: list[str] = []

    def gone(path: str, **_: object) -> str:
        failures.append(path)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    with monkeypatch.context() as patch:
        patch.setattr(os, "readlink", gone)
        with pytest.raises(ProviderUnavailableError, match="changes while"):
            read(allowed)
    assert failures
    with monkeypatch.context() as patch:
        follow = os.readlink

        def gone_once(path: str, **named: Any) -> str:
            return gone(path) if len(failures) == before else follow(path, **named)

        before = len(failures)
        patch.setattr(os, "readlink", gone_once)
        assert "inside" in str(read(allowed))


def test_a_link_that_may_not_be_followed_is_denied(allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``/proc/1/exe`` for anybody but root."""

    def denied(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "readlink", denied)
    with pytest.raises(AccessDeniedError):
        _provider(FileConfigProvider, allowed).get(f"{allowed}/link/db.properties")
    with pytest.raises(ConfigurationError, match="Could not read"):
        _provider(kafka.FileConfigProvider, allowed).get(f"{allowed}/link/db.properties")


@pytest.mark.skipif(
    not hasattr(os, "O_PATH"), reason="elsewhere a directory must be readable to be walked through"
)
@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every directory")
def test_directories_on_the_way_need_not_be_readable(allowed: Path) -> None:
    (allowed / "sub").chmod(0o311)
    assert _file(allowed) == "inside"
    (allowed / "sub").chmod(0o755)


def test_an_allowed_path_may_be_a_file_or_the_root(allowed: Path) -> None:
    file = allowed / "sub" / "db.properties"
    for root in (file, Path("/")):
        assert _provider(FileConfigProvider, root).get(str(file)).data == {"password": "inside"}
    assert "db.properties" in _provider(DirectoryConfigProvider, Path("/")).get(str(file.parent)).data

"""The provider 'sealed': the contract, its params, and which failure is which."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.language.expression import Expression
from sparkconfig.providers._kit import watch
from sparkconfig.providers.sealed import SealedConfigProvider
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from sparkconfig.testing.contract import ContractCase, ProviderContract

VALUES = {"user": "shop-user-0001", "password": "shop-pass-0001"}


@pytest.fixture
def key(tmp_path: Path) -> KeyFile:
    source = KeyFile(tmp_path / "k")
    source.create()
    editor.create(tmp_path / "shop.sealed", source)
    return source


@pytest.fixture
def file(tmp_path: Path, key: KeyFile) -> Path:
    path = tmp_path / "shop.sealed"
    entries = {EntryName("shop", name): value for name, value in VALUES.items()}
    editor.put(path, key, entries | {EntryName("", "alone"): "alone-value-0001"})
    return path


@pytest.fixture
def provider(file: Path, key: KeyFile) -> Iterator[SealedConfigProvider]:
    with SealedConfigProvider() as made:
        made.configure({"file": str(file), "key.file": str(key.path)})
        yield made


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self, file: Path, key: KeyFile) -> ContractCase:
        return ContractCase(
            SealedConfigProvider,
            {"file": str(file), "key.file": str(key.path)},
            path="shop",
            data=VALUES,
            change=lambda fresh: editor.put(file, key, {EntryName("shop", k): v for k, v in fresh.items()}),
        )


def test_through_the_alias_and_the_resolver(file: Path, key: KeyFile) -> None:
    confs = {
        "spark.config.providers": "sealed",
        "spark.config.providers.sealed.class": "sealed",
        "spark.config.providers.sealed.param.file": str(file),
        "spark.config.providers.sealed.param.key.file": str(key.path),
    }
    text = Expression("${sealed:shop:user}/${sealed:alone}", "k")
    with Resolver.from_confs(confs) as resolver:
        assert resolver.resolve([text]).values[text].reveal() == "shop-user-0001/alone-value-0001"


class TestParams:
    def test_exactly_one_key_is_needed(self, file: Path, key: KeyFile) -> None:
        for params in ({}, {"key.file": str(key.path), "key.env": "K"}):
            with pytest.raises(ConfigurationError, match="exactly one of"):
                SealedConfigProvider().configure({"file": str(file), **params})

    def test_problems_stop_the_start(self, file: Path, key: KeyFile, tmp_path: Path) -> None:
        other = KeyFile(tmp_path / "other")
        other.create()
        for params, message in (
            ({"file": str(tmp_path / "absent"), "key.file": str(key.path)}, "absent does not exist"),
            ({"file": str(file), "key.file": str(other.path)}, "sealed with key"),
            ({"file": str(file), "key.env": "SPARKCONFIG_TEST_UNSET"}, "SPARKCONFIG_TEST_UNSET is not set"),
            ({"file": str(file), "key-file": str(key.path)}, "did you mean key.file"),
            ({"key.file": str(key.path)}, "param file is not set"),
            ({"file": "shop.sealed", "key.file": str(key.path)}, "param file must be an absolute path"),
            ({"file": str(file), "key.file": "k"}, "param key.file must be an absolute path"),
        ):
            with pytest.raises(ConfigurationError, match=message):
                SealedConfigProvider().configure(params)

    def test_keys_from_the_environment(
        self, file: Path, key: KeyFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SEALED_TEST_KEY", key.path.read_text())
        with SealedConfigProvider() as made:
            made.configure({"file": str(file), "key.env": "SEALED_TEST_KEY"})
            assert made.get("shop", {"user"}).data == {"user": "shop-user-0001"}


class TestFailures:
    """Only an outage lets a last good value serve on; see ProviderUnavailableError."""

    def test_a_missing_section_or_file_is_not_there(self, provider: SealedConfigProvider, file: Path) -> None:
        with pytest.raises(SecretNotFoundError, match="no section 'stop'"):
            provider.get("stop", {"user"})
        file.unlink()
        with pytest.raises(SecretNotFoundError, match="does not exist"):
            provider.get("shop", {"user"})

    def test_a_key_that_is_gone_open_or_other_is_denied(
        self, provider: SealedConfigProvider, key: KeyFile
    ) -> None:
        key.path.chmod(0o644)
        with pytest.raises(AccessDeniedError, match="chmod 600"):
            provider.get("shop", {"user"})
        key.path.chmod(0o600)
        key.add()
        key.drop_older()
        with pytest.raises(AccessDeniedError, match="sealed with key"):
            provider.get("shop", {"user"})
        key.path.unlink()
        with pytest.raises(AccessDeniedError, match="does not exist"):
            provider.get("shop", {"user"})

    def test_touched_bytes_are_denied(self, provider: SealedConfigProvider, file: Path) -> None:
        content = json.loads(file.read_text())
        del content["entries"][""]
        file.write_text(json.dumps(content))
        with pytest.raises(AccessDeniedError, match="removed"):
            provider.get("shop", {"user"})

    def test_a_half_copied_file_is_an_outage(self, provider: SealedConfigProvider, file: Path) -> None:
        whole = file.read_bytes()
        file.write_bytes(whole[:100])
        with pytest.raises(ProviderUnavailableError, match="cut off"):
            provider.get("shop", {"user"})
        file.write_bytes(whole)
        assert provider.get("shop", {"user"}).data == {"user": "shop-user-0001"}


def test_a_new_key_that_is_written_in_place_is_noticed_at_once(
    provider: SealedConfigProvider, file: Path, key: KeyFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sealed file comes first: until the key is there too, it cannot be read."""
    monkeypatch.setattr(watch, "_POLL_SECONDS", 60.0)
    newer, fresh = KeyFile(tmp_path / "newer.key"), tmp_path / "newer.sealed"
    newer.create()
    editor.create(fresh, newer)
    editor.put(fresh, newer, {EntryName("shop", name): "rotated-value-0002" for name in VALUES})
    content, arrived = newer.path.read_bytes(), threading.Event()
    newer.path.unlink()
    provider.subscribe("shop", VALUES.keys(), lambda _, news: arrived.set() if news.data else None)
    fresh.replace(file)
    with key.path.open("r+b") as stream:
        assert not arrived.wait(0.3)
        stream.write(content)
        stream.truncate()
    assert arrived.wait(10)

"""A provider whose params are references to another: no secret of the store is in a conf."""

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.resolution.declared import load_providers
from sparkconfig.resolution.transformer import ConfigTransformer
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.sealed.names import EntryName
from support.fakes.vault import FakeVault

ROOT = "spark.config.providers"


@pytest.fixture
def vault(monkeypatch):
    for name in ("VAULT_ADDR", "VAULT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with FakeVault() as fake:
        fake.put("db/prod", {"password": "s3cret-value-77"})
        yield fake


@pytest.fixture
def confs(vault, tmp_path):
    key = KeyFile(tmp_path / "key")
    key.create()
    editor.create(tmp_path / "shop.sealed", key)
    editor.put(tmp_path / "shop.sealed", key, {EntryName("vault", "token"): vault.ROOT})
    return {
        ROOT: "sealed,vault",
        f"{ROOT}.sealed.class": "sealed",
        f"{ROOT}.sealed.param.file": str(tmp_path / "shop.sealed"),
        f"{ROOT}.sealed.param.key.file": str(tmp_path / "key"),
        f"{ROOT}.vault.param.address": vault.url,
        f"{ROOT}.vault.param.token": "${sealed:vault:token}",
    }


def test_a_vault_token_from_a_sealed_file(confs):
    with load_providers(confs) as providers:
        transformer = ConfigTransformer(providers)
        answer = transformer.transform({"url": "jdbc:x?password=${vault:db/prod:password}"}).reveal()
        transformer.close()
    assert answer == {"url": "jdbc:x?password=s3cret-value-77"}


def test_a_token_that_is_not_there_stops_the_start_by_name(confs, vault):
    confs[f"{ROOT}.vault.param.token"] = "${sealed:vault:tokem}"
    with pytest.raises(ConfigurationError, match=r"vault\.param\.token"):
        load_providers(confs)
    assert not vault.requests


def test_a_thousand_references_in_ten_paths_are_ten_calls(confs, vault):
    for number in range(10):
        vault.put(f"many/{number}", {f"key-{index}": f"value-{index}" for index in range(100)})
    with load_providers(confs) as providers:
        transformer = ConfigTransformer(providers)
        asked = {f"{n}.{i}": f"${{vault:many/{n}:key-{i}}}" for n in range(10) for i in range(100)}
        assert len(transformer.transform(asked).reveal()) == 1000
        transformer.close()
    assert len(vault.requests) == 10

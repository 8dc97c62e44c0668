"""The blocks of docs/quickstart.md: their providers can be configured, and their references name them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkconfig.formats import properties
from sparkconfig.language.references import scan
from sparkconfig.resolution.declared import load_providers
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.settings.schema import parse

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "quickstart.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```properties\n(.*?)```", PAGE, re.DOTALL)


def test_every_store_has_one() -> None:
    assert len(BLOCKS) == 8
    assert len(re.findall("^## ", PAGE, re.MULTILINE)) == 7


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_its_providers_can_be_configured(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in re.findall(r"class +(aws|gcp|azure|kubernetes|databricks)", BLOCKS[number]):
        client = {"aws": "boto3", "gcp": "google.cloud.secretmanager", "azure": "azure.keyvault.secrets",
                  "kubernetes": "kubernetes", "databricks": "databricks.sdk"}[module]  # fmt: skip
        pytest.importorskip(client)
    (tmp_path / "secret-id").write_text("x")
    (tmp_path / "config").write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: a, user: {token: x}}]\n"
    )
    if "gcp-secretmanager" in BLOCKS[number]:  # this machine has no identity
        auth = pytest.importorskip("google.auth")
        anonymous = pytest.importorskip("google.auth.credentials").AnonymousCredentials()
        monkeypatch.setattr(auth, "default", lambda *_, **__: (anonymous, "shop-prod-1234"))
    monkeypatch.setenv("DATABRICKS_TOKEN", "x")
    key = KeyFile(tmp_path / "shop.key")
    key.create()
    editor.create(tmp_path / "shop.sealed", key)
    confs = properties.loads(
        BLOCKS[number].replace("/etc/shop/s", f"{tmp_path}/s").replace("/etc/shop", str(tmp_path))
    )
    parse(confs)
    if "spark.config.providers.k8s.class" in confs:  # nor is it a pod
        confs["spark.config.providers.k8s.param.kubeconfig"] = str(tmp_path / "config")
    with load_providers(confs) as providers:
        used = {each.provider for text in confs.values() for each in scan(text)}
        assert used
        assert used == set(providers)

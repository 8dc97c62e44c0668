"""What the errors of references advise."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig import Resolver
from sparkconfig.cli.main import main
from sparkconfig.errors import ConfigurationError, UnresolvedReferenceError
from sparkconfig.providers.registry import BUILT_IN, find_class


def said(confs: dict[str, str], text: str) -> str:
    with Resolver.from_confs(confs) as resolver, pytest.raises(UnresolvedReferenceError) as caught:
        resolver.resolve_map({"spark.x": text})
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(("name", "content"), [("a.yaml", "a: [1"), ("a.json", "{"), ("a.yaml", "- 1\n")])
def test_content_that_is_malformed_is_not_an_outage(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    text = said({"spark.config.providers": "file"}, f"${{file:{tmp_path}/{name}:password}}")
    assert "correct the content" in text
    assert "store is up" not in text


@pytest.fixture
def sealed(tmp_path: Path) -> dict[str, str]:
    key, file = str(tmp_path / "k"), str(tmp_path / "s")
    assert main(["seal", "create", "--new-key", "--key-file", key, "--file", file]) == 0
    root = "spark.config.providers.sealed"
    return {
        "spark.config.providers": "sealed",
        f"{root}.class": "sealed",
        f"{root}.param.file": file,
        f"{root}.param.key.file": key,
    }


def test_a_slash_in_the_place_of_a_colon(sealed: dict[str, str]) -> None:
    text = said(sealed, "${sealed:shop/password}")
    assert text.endswith(
        "a colon is missing between path and key: write ${sealed:shop:password}, or"
        " ${sealed:shop/password:KEY} if the key is missing"
    )
    assert "''" not in text
    text = said({"spark.config.providers": "envvar"}, "${envvar:shop/db/password}")
    assert "write ${envvar:shop/db:password}, or" in text


def test_no_section(sealed: dict[str, str]) -> None:
    assert "names no section, as in ${NAME:SECTION:KEY}" in said(sealed, "${sealed:password}")
    assert "has no section 'shop'" in said(sealed, "${sealed:shop:password}")


def test_a_file_without_a_key() -> None:
    text = said({"spark.config.providers": "file"}, "${file:/etc/shop.properties}")
    assert "${NAME:/path/to/file.properties:key}" in text
    assert "a colon is missing" not in text


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("org.apache.kafka.common.config.provider.FileConfigProvider", "file"),
        ("org.apache.kafka.common.config.provider.DirectoryConfigProvider", "directory"),
        ("org.apache.kafka.common.config.provider.EnvVarConfigProvider", "envvar"),
        ("com.github.jcustenborder.kafka.config.vault.VaultConfigProvider", "vault"),
        ("io.strimzi.kafka.KubernetesSecretConfigProvider", "kubernetes"),
        ("org.apache.kafka.common.config.provider.ConfigProvider", "one of aws-rds-iam, aws-secretsmanager,"),
    ],
)
def test_a_java_class(name: str, alias: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        find_class(name)
    assert f"'{name}' is a Java class, and providers here are Python classes; write {alias}" in str(
        caught.value
    )
    assert alias in BUILT_IN.all or alias.startswith("one of")

"""'sparkconfig migrate' into AWS Secrets Manager, by moto: other fields stay as they were, and no change is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.cli.main import main
from sparkconfig.errors import AccessDeniedError, ConfigurationError
from sparkconfig.providers.aws.secretsmanager import AwsSecretsManagerConfigProvider
from support.fakes.moto_server import REGION, Moto, moto_server

VALUE, OTHER = "migrate-canary-77aa", "migrate-canary-88bb"
CONF = f"spark.shop.password {VALUE}\nspark.shop.url jdbc:x://h?password={OTHER}&a=1\n"
BACKUP = ("--sealed-file", "s", "--key-file", "k", "--new-key")
STORE = ("--store-conf", "aws.conf", "--provider", "aws-secretsmanager", "--section", "shop/prod")


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with moto_server() as server:
        yield server


@pytest.fixture
def client(moto: Moto) -> Iterator[Any]:
    client = moto.client("secretsmanager")
    yield client
    for secret in client.list_secrets()["SecretList"]:
        client.delete_secret(SecretId=secret["Name"], ForceDeleteWithoutRecovery=True)


@pytest.fixture
def folder(moto: Moto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    keys = moto.keys["migrator"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access.key.id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret.access.key"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.conf").write_text(CONF)
    (tmp_path / "aws.conf").write_text(
        "spark.config.providers aws-secretsmanager\n"
        f"spark.config.providers.aws-secretsmanager.param.endpoint.url {moto.url}\n"
        f"spark.config.providers.aws-secretsmanager.param.region {REGION}\n"
    )
    return tmp_path


@pytest.fixture
def migrate(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def migrate(*words: str) -> tuple[int, str]:
        code = main(["migrate", *words])
        captured = capsys.readouterr()
        shown = sum((captured.out + captured.err).count(value) for value in (VALUE, OTHER))
        assert shown == 0, "a value was printed"
        return code, captured.out + captured.err

    return migrate


@pytest.fixture
def provider(moto: Moto) -> Iterator[AwsSecretsManagerConfigProvider]:
    made = AwsSecretsManagerConfigProvider()
    made.configure(moto.params("migrator"))
    yield made
    made.close()


def test_fields_are_added_and_others_stay_as_they_are_written(
    client: Any, folder: Path, migrate: Callable[..., tuple[int, str]]
) -> None:
    written = '{ "limit": 1.50, "nested": {"a": ["x"]},\n "spark.shop.password": "someone-elses" }\n'
    client.create_secret(Name="shop/prod", SecretString=written)
    code, text = migrate("job.conf", "--apply", *STORE, *BACKUP)
    assert code == 0, text
    assert "${aws-secretsmanager:shop/prod:spark.shop.password-2}" in (folder / "job.conf").read_text()
    assert "canary" not in (folder / "job.conf").read_text()
    answer = client.get_secret_value(SecretId="shop/prod")
    assert answer["SecretString"].startswith(written.rstrip().removesuffix("}").rstrip()), (
        "the old text, as it was"
    )
    same = sorted(json.loads(answer["SecretString"]).items(), key=str) == sorted(
        {
            **json.loads(written), "spark.shop.password-2": VALUE, "spark.shop.url.password": OTHER
        }.items(), key=str,
    )  # fmt: skip
    assert same
    assert answer["VersionStages"] == ["AWSCURRENT"], "no label of ours is left"
    previous = client.get_secret_value(SecretId="shop/prod", VersionStage="AWSPREVIOUS")
    assert previous["SecretString"] == written
    assert not (folder / "s").exists(), "only the sealed backup is a file"
    assert migrate("job.conf", "--apply", *STORE, *BACKUP)[0] == 0
    again = client.get_secret_value(SecretId="shop/prod")["VersionId"]
    assert again == answer["VersionId"], "a second run changes nothing"
    code, text = migrate("--undo", *BACKUP[:4])
    assert code == 0, text
    assert (folder / "job.conf").read_text() == CONF


def test_a_new_secret_is_made(client: Any, folder: Path, migrate: Callable[..., tuple[int, str]]) -> None:
    code, text = migrate("job.conf", "--apply", *STORE, *BACKUP)
    assert code == 0, text
    assert len(json.loads(client.get_secret_value(SecretId="shop/prod")["SecretString"])) == 2


def test_a_change_by_somebody_else_is_never_lost(
    client: Any, provider: AwsSecretsManagerConfigProvider
) -> None:
    client.create_secret(Name="shop/prod", SecretString="{}")
    put = provider._client.put_secret_value

    def put_after_somebody(**arguments: Any) -> Any:
        client.put_secret_value(SecretId="shop/prod", SecretString='{"theirs": "x"}')
        return put(**arguments)

    provider._client.put_secret_value = put_after_somebody
    with pytest.raises(ConfigurationError, match="it was written meanwhile"):
        provider.add("shop/prod", {"ours": VALUE})
    assert json.loads(client.get_secret_value(SecretId="shop/prod")["SecretString"]) == {"theirs": "x"}
    provider._client.put_secret_value = put
    provider.add("shop/prod", {"ours": VALUE})
    assert set(json.loads(client.get_secret_value(SecretId="shop/prod")["SecretString"])) == {
        "theirs",
        "ours",
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"SecretString": "not-json-canary"}, "not a JSON object"),
        ({"SecretString": '["canary"]'}, "not a JSON object"),
        ({"SecretBinary": b"{}"}, "not a JSON object"),
        ({"SecretString": '{"ours": "canary"}'}, "another value for ours"),
    ],
)
def test_what_is_there_is_never_replaced(
    client: Any, provider: AwsSecretsManagerConfigProvider, content: dict[str, Any], said: str
) -> None:
    client.create_secret(Name="shop/prod", **content)
    before = client.get_secret_value(SecretId="shop/prod")["VersionId"]
    with pytest.raises(ConfigurationError, match=said) as caught:
        provider.add("shop/prod", {"ours": VALUE})
    assert "canary" not in str(caught.value)
    assert client.get_secret_value(SecretId="shop/prod")["VersionId"] == before


def test_where_nothing_can_be_written(moto: Moto, client: Any) -> None:
    for params, path in (({"layout": "whole"}, "shop"), ({}, ""), ({}, "shop?stage=AWSPREVIOUS")):
        made = AwsSecretsManagerConfigProvider()
        made.configure({**moto.params("migrator"), **params})
        with pytest.raises(ConfigurationError):
            made.add(path, {"ours": VALUE})
        made.close()
    made = AwsSecretsManagerConfigProvider()
    made.configure(moto.params("reader"))
    with pytest.raises(AccessDeniedError):
        made.add("shop/prod", {"ours": VALUE})
    made.close()
    assert client.list_secrets()["SecretList"] == []

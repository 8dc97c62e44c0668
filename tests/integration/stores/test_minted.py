"""Credentials that are made on demand: keys of AWS against moto, tokens against a server of ours."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import boto3
import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from sparkconfig.providers.aws.rds_iam import AwsRdsIamConfigProvider
from sparkconfig.providers.aws.sts import AwsStsConfigProvider
from sparkconfig.providers.oauth2 import OAuth2ConfigProvider
from support.fakes.http_server import BODY_MARK, FakeHttpServer, Fault, Request, Response
from support.fakes.moto_server import REGION, ROLE, Moto


def sts(moto: Moto, user: str = "admin", **params: str) -> AwsStsConfigProvider:
    made = AwsStsConfigProvider()
    made.configure(
        {**moto.params(user), "role": ROLE, **{key.replace("_", "."): v for key, v in params.items()}}
    )
    return made


def test_keys_of_a_role(moto: Moto) -> None:
    moto.make_role("spark-writer")
    made = sts(moto, duration="20m", session_tags="team=shop,user=ann", session_name="nightly")
    answer = made.get("", {"AccessKeyId", "SecretAccessKey", "SessionToken"})
    assert answer.ttl is not None
    # Three quarters of twenty minutes, by the server's clock, whose Date has whole seconds.
    assert abs(answer.ttl - 900_000) <= 5_000
    keys = answer.data
    client = boto3.client(
        "sts", endpoint_url=moto.url, region_name=REGION, aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"], aws_session_token=keys["SessionToken"],
    )  # fmt: skip
    assert client.get_caller_identity()["Arn"].endswith("assumed-role/spark/nightly")
    assert made.get("", {"AccessKeyId"}).data != {"AccessKeyId": keys["AccessKeyId"]}
    other = made.get("spark-writer", {"AccessKeyId", "SecretAccessKey", "SessionToken"}).data
    assert other.keys() == keys.keys()
    made.close()


def test_who_may_not_assume_the_role(moto: Moto) -> None:
    with pytest.raises(AccessDeniedError):
        sts(moto, "nobody").get("", {"AccessKeyId"})


def test_passwords_of_rds_are_signed_here(moto: Moto) -> None:
    made = AwsRdsIamConfigProvider()
    made.configure(moto.params("admin"))
    answer = made.get("db.shop.example", {"ann", "3306:bob"})
    assert answer.ttl == 675_000
    assert answer.data["ann"].startswith("db.shop.example:5432/?Action=connect&DBUser=ann&")
    assert answer.data["3306:bob"].startswith("db.shop.example:3306/?Action=connect&DBUser=bob&")
    for path, keys in (("", {"ann"}), ("db/x", {"ann"}), ("db", {"a:b:c"}), ("db", None)):
        with pytest.raises(ProviderError):
            made.get(path, keys)
    made.close()


class TokenServer(FakeHttpServer):
    """Ours, after RFC 6749 and 8693: no server of others runs in this test."""

    def __init__(self) -> None:
        super().__init__()
        self.made = 0
        self.life: object = 60
        self.refresh = "refresh-0"

    def answer(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        told = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
        if told != "shop%3A1:s%2Fcret" and form.get("client_secret") != "s/cret":
            return Response.of({"error": "invalid_client", "error_description": BODY_MARK}, 401)
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] != self.refresh:
                return Response.of({"error": "invalid_grant", "error_description": BODY_MARK}, 400)
            self.refresh = f"refresh-{self.made + 1}"
        if form["grant_type"].endswith("token-exchange") and form["subject_token"] != "of-the-pod":
            return Response.of({"error": "invalid_request", "error_description": BODY_MARK}, 400)
        self.made += 1
        answer = {
            "access_token": f"token-{self.made}-{form.get('scope')}",
            "token_type": "bearer",
            "expires_in": self.life,
        }
        if form["grant_type"] == "refresh_token":
            answer["refresh_token"] = self.refresh
        return Response.of(answer)


@pytest.fixture
def tokens() -> Iterator[TokenServer]:
    with TokenServer() as server:
        yield server


def oauth2(server: TokenServer, **params: str) -> OAuth2ConfigProvider:
    made = OAuth2ConfigProvider()
    given = {
        "token.url": f"{server.url}/token", "client.id": "shop:1", "client.secret": "s/cret", "attempts": "1",
        "timeout": "2s", **{key.replace("_", "."): value for key, value in params.items()},
    }  # fmt: skip
    made.configure(given)
    return made


@pytest.mark.parametrize("auth", ["basic", "post"])
def test_tokens_of_a_client(tokens: TokenServer, auth: str) -> None:
    made = oauth2(tokens, client_auth=auth, scope="read")
    answer = made.get("", {"access_token", "authorization", "nothing"})
    assert dict(answer.data) == {"access_token": "token-1-read", "authorization": "Bearer token-1-read"}
    assert answer.ttl == 45_000
    assert made.get("write", {"access_token"}).data["access_token"] == "token-2-write"


def test_refresh_tokens_are_replaced_and_never_shown(tokens: TokenServer) -> None:
    made = oauth2(tokens, grant="refresh_token", refresh_token="refresh-0")
    for number in (1, 2, 3):
        assert made.get("").data["access_token"] == f"token-{number}-None"
    assert "refresh_token" not in made.get("").data


def test_a_token_for_the_token_of_a_pod(tokens: TokenServer, tmp_path: Path) -> None:
    mounted = tmp_path / "token"
    mounted.write_text("of-the-pod\n")
    made = oauth2(tokens, grant="token_exchange", subject_token_file=str(mounted))
    assert made.get("", {"access_token"}).data
    mounted.write_text("of-somebody")
    with pytest.raises(AccessDeniedError, match="invalid_request"):
        made.get("", {"access_token"})
    mounted.unlink()
    with pytest.raises(AccessDeniedError, match=r"subject\.token\.file"):
        made.get("", {"access_token"})


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault(silent=True), ProviderTimeoutError, "in time"),
        (Fault(status=503), ProviderUnavailableError, "HTTP 503"),
        (Fault(status=302), ProviderError, "HTTP 302"),
    ],
)
def test_token_endpoints_that_misbehave(tokens: TokenServer, fault: Fault, kind: type, said: str) -> None:
    made = oauth2(tokens)
    tokens.fault(fault)
    with pytest.raises(kind, match=said) as error:
        made.get("", {"access_token"})
    assert BODY_MARK not in str(error.value)
    assert made.get("", {"access_token"}).data


@pytest.mark.parametrize("life", [0, -5, "soon", float("inf")])
def test_tokens_without_a_life(tokens: TokenServer, life: object) -> None:
    tokens.life = life
    with pytest.raises(ProviderUnavailableError, match="without a time to live"):
        oauth2(tokens).get("", {"access_token"})
    tokens.life = None
    assert oauth2(tokens, default_life="8s").get("", {"access_token"}).ttl == 6_000


@pytest.mark.parametrize(
    "url", ["http://login.example/token", "ftp://x", "https://u:p@login.example", "https://", ":"]
)
def test_urls_that_would_show_the_secret(tokens: TokenServer, url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"token\.url") as error:
        oauth2(tokens, token_url=url)
    assert "u:p" not in str(error.value)

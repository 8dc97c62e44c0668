"""What aws-sts tells AWS of a session: whose it is, and by which token. AWS is moto, behind a forwarder of ours."""

from __future__ import annotations

import os
import pwd
import traceback
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from sparkconfig.errors import AccessDeniedError, ConfigurationError
from sparkconfig.providers.aws import sts
from sparkconfig.providers.aws.sts import AwsStsConfigProvider
from support.aws_environment import without_identity
from support.fakes.moto_server import REGION, ROLE, Moto
from support.fakes.sts import Sts

KEYS = {"AccessKeyId", "SecretAccessKey", "SessionToken"}
USER = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(monkeypatch, tmp_path):
    without_identity(monkeypatch, tmp_path)


@pytest.fixture
def aws(moto: Moto) -> Iterator[Sts]:
    with Sts(moto.url) as server:
        yield server


@pytest.fixture
def token(moto: Moto, tmp_path: Path) -> Iterator[Path]:
    """The file of a pod's token. Requests with one are not signed, which moto's checks do not expect."""
    moto.reset_auth(10)
    yield tmp_path / "token"
    moto.reset_auth(0)


def made(aws: Sts, **params: str) -> AwsStsConfigProvider:
    """A provider; without a user's keys it has no identity of AWS."""
    provider = AwsStsConfigProvider()
    given = {"endpoint.url": aws.url, "region": REGION, "role": ROLE, "attempts": "1"}
    provider.configure({**given, **{name.replace("_", "."): text for name, text in params.items()}})
    return provider


def test_a_token_in_a_file_is_all_the_identity_and_the_next_one_is_read(
    aws: Sts, moto: Moto, token: Path
) -> None:
    with made(aws, web_identity_token_file=str(token), session_name="nightly") as provider:
        found = []
        for text in ("first-token-0001", "second-token-0002"):
            token.write_text(f"{text}\n")
            found.append(provider.get("", KEYS))
    assert [each["WebIdentityToken"] for each in aws.asked()] == ["first-token-0001", "second-token-0002"]
    assert {each["Action"] for each in aws.asked()} == {"AssumeRoleWithWebIdentity"}
    assert {each["RoleArn"] for each in aws.asked()} == {ROLE}
    assert not any("authorization" in request.headers for request in aws.requests)
    assert all(abs((each.ttl or 0) - 2_700_000) <= 3_000 for each in found)
    moto.reset_auth(0)
    first, second = (each.data for each in found)
    assert first["SecretAccessKey"] != second["SecretAccessKey"]
    client = boto3.client(
        "sts", endpoint_url=moto.url, region_name=REGION, aws_access_key_id=second["AccessKeyId"],
        aws_secret_access_key=second["SecretAccessKey"], aws_session_token=second["SessionToken"],
    )  # fmt: skip
    assert client.get_caller_identity()["Arn"].endswith("assumed-role/spark/nightly")


@pytest.mark.parametrize("text", [None, " \n"], ids=["missing", "empty"])
def test_without_a_token_nobody_is_asked(aws: Sts, token: Path, text: str | None) -> None:
    if text is not None:
        token.write_text(text)
    with made(aws, web_identity_token_file=str(token)) as provider:
        with pytest.raises(AccessDeniedError, match=r"web\.identity\.token\.file names a"):
            provider.get("", KEYS)
        assert not aws.requests
        token.write_text("token-0001")
        assert provider.get("", KEYS).data.keys() == KEYS


@pytest.mark.parametrize("code", ["ExpiredTokenException", "InvalidIdentityToken", "IDPRejectedClaim"])
def test_a_token_that_aws_refuses_is_named_and_not_shown(aws: Sts, token: Path, code: str) -> None:
    token.write_text("old-token-0001")
    with made(aws, web_identity_token_file=str(token)) as provider:
        aws.refusal = code
        with pytest.raises(AccessDeniedError, match=rf"web\.identity\.token\.file \({code}\)") as caught:
            provider.get("", KEYS)
        assert "old-token-0001" not in "".join(traceback.format_exception(caught.value))
        assert len(aws.requests) == 1
        aws.refusal = None
        token.write_text("new-token-0002")
        assert provider.get("", KEYS).data.keys() == KEYS


def test_tags_and_the_name_of_a_session_tell_whose_it_is(aws: Sts, moto: Moto) -> None:
    tags = "team=shop, user={user},who={user}@shop"
    with made(aws, **moto.keys["admin"], session_tags=tags, session_name="spark-{user}") as provider:
        found = provider.get("", KEYS).data
    (asked,) = aws.asked()
    sent = [
        (asked[f"Tags.member.{number}.Key"], asked[f"Tags.member.{number}.Value"]) for number in (1, 2, 3)
    ]
    assert sent == [("team", "shop"), ("user", USER), ("who", f"{USER}@shop")]
    assert asked["RoleSessionName"] == f"spark-{USER}"
    client = boto3.client(
        "sts", endpoint_url=moto.url, region_name=REGION, aws_access_key_id=found["AccessKeyId"],
        aws_secret_access_key=found["SecretAccessKey"], aws_session_token=found["SessionToken"],
    )  # fmt: skip
    assert client.get_caller_identity()["Arn"].endswith(f"assumed-role/spark/spark-{USER}")


@pytest.mark.parametrize(
    ("params", "user", "said"),
    [
        ({"role": "shop"}, USER, "ARN"),
        ({"duration": "1m"}, USER, "15m"),
        ({"session_tags": "user={usr}"}, USER, r"session\.tags has characters .*usr"),
        ({"session_tags": "user={user}"}, "CORP\\ann", r"session\.tags has characters .*ann"),
        ({"session_tags": "user={user}"}, "", r"session\.tags has \{user\}, but"),
        ({"session_tags": "=ann"}, USER, "NAME=VALUE"),
        ({"session_name": "{user}"}, "ann of shop", r"session\.name must be"),
        ({"session_name": "a"}, USER, r"session\.name must be"),
        ({"session_tags": "a=b", "web_identity_token_file": "/t"}, USER, r"session\.tags does not go with"),
        ({"external_id": "x", "web_identity_token_file": "/t"}, USER, r"external\.id does not go with"),
    ],
)
def test_sessions_that_aws_would_not_make(
    aws: Sts, monkeypatch, params: dict[str, str], user: str, said: str
) -> None:
    monkeypatch.setattr(sts, "os_user", lambda: user)
    with pytest.raises(ConfigurationError, match=said):
        made(aws, **params)
    assert not aws.requests

"""What goes wrong with every provider that makes credentials on demand: each case for each provider.

Keys of AWS come from moto through a forwarder of ours, tokens from endpoints of ours.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderUnavailableError,
    SparkConfigError,
)
from sparkconfig.providers.aws.rds_iam import AwsRdsIamConfigProvider
from sparkconfig.providers.aws.sts import AwsStsConfigProvider
from sparkconfig.providers.azure_token import AzureTokenConfigProvider
from sparkconfig.providers.gcp_token import GcpTokenConfigProvider
from sparkconfig.providers.oauth2 import OAuth2ConfigProvider
from support.aws_environment import without_identity
from support.fakes.http_server import BODY_MARK, FakeHttpServer
from support.fakes.moto_server import ROLE, Moto
from support.fakes.sts import Sts
from support.fakes.token_endpoints import EntraTokens, GoogleTokens, TokenEndpoint

SKEW = 300
WRONG = "wrong-credential-0001"


class Clients(TokenEndpoint):
    """RFC 6749's client credentials: ours."""

    def answer(self, request):
        if self.refusal or b"client_secret=right-0001" not in request.body:
            return self.refused(self.refusal or "invalid_client", 401)
        return self.granted("shop")


@dataclass
class Minted:
    """A server, what configures a provider that asks it, and what the provider then says.

    Attributes:
        wrong: params with a wrong credential.
        refusals: what the server says of credentials that have ended and of those that were revoked.
        life: the ttl of what is made, in milliseconds.
        signs: whether this machine's clock is part of what is sent.
    """

    fake: FakeHttpServer
    kind: type
    params: dict[str, str] = field(repr=False)
    wrong: dict[str, str] = field(repr=False)
    path: str
    key: str
    refusals: tuple[str, str]
    life: int = 2_700_000

    def make(self, **more: str) -> Any:
        provider = self.kind()
        provider.configure({**self.params, **{name.replace("_", "."): text for name, text in more.items()}})
        return provider

    def refuse(self, code: str | None) -> None:
        self.fake.refusal = code

    def value(self, provider: Any) -> str:
        return provider.get(self.path, {self.key}).data[self.key]

    def failure(self, provider: Any, kind: type[SparkConfigError]) -> str:
        """What a read fails with: it names the path, and shows nothing of an answer or a credential."""
        with pytest.raises(kind) as caught:
            provider.get(self.path, {self.key})
        text = "".join(traceback.format_exception(caught.value))
        for hidden in (BODY_MARK, WRONG, *self._secrets()):
            assert hidden not in text
        assert caught.value.__context__ is None
        assert repr(self.path) in str(caught.value)
        return str(caught.value)

    def _secrets(self) -> list[str]:
        return [
            self.params[name]
            for name in ("secret.access.key", "client.secret")
            if len(self.params.get(name, "")) > 3
        ]


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(monkeypatch, tmp_path):
    without_identity(monkeypatch, tmp_path)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)


def _aws(moto: Moto, fake: Sts, kind: type, path: str, key: str, **params: str) -> Minted:
    given = {
        **moto.params("reader", fake.url),
        **{name.replace("_", "."): text for name, text in params.items()},
    }
    codes = ("ExpiredToken", "InvalidClientTokenId")
    return Minted(fake, kind, given, {"secret.access.key": WRONG}, path, key, codes)


@pytest.fixture(params=["aws-sts", "aws-rds-iam", "oauth2", "gcp-token", "azure-token"])
def minted(request, tmp_path) -> Iterator[Minted]:
    codes = ("invalid_grant", "unauthorized_client")
    if request.param.startswith("aws"):
        moto = request.getfixturevalue("moto")
        with Sts(moto.url) as fake:
            if request.param == "aws-sts":
                yield _aws(moto, fake, AwsStsConfigProvider, "", "SecretAccessKey", role=ROLE)
            else:
                # Its tokens are signed here: what can go wrong is the identity that signs them, here a role's.
                found = _aws(moto, fake, AwsRdsIamConfigProvider, "db.shop.example", "ann", role_arn=ROLE)
                found.life = 675_000
                yield found
    elif request.param == "oauth2":
        with Clients() as fake:
            params = {
                "token.url": f"{fake.url}/token", "client.id": "shop", "client.secret": "right-0001",
                "client.auth": "post",
            }  # fmt: skip
            yield Minted(
                fake, OAuth2ConfigProvider, params, {"client.secret": WRONG}, "", "access_token", codes
            )
    elif request.param == "gcp-token":
        with GoogleTokens(tmp_path) as fake:
            params, wrong = {"credentials.json": fake.credentials()}, {"credentials.json": fake.stranger()}
            yield Minted(fake, GcpTokenConfigProvider, params, wrong, "", "access_token", codes)
    else:
        tls = request.getfixturevalue("tls")
        with EntraTokens(tls) as fake:
            wrong = {"client.secret": WRONG}
            yield Minted(fake, AzureTokenConfigProvider, fake.params(tls), wrong, "", "access_token", codes)


def logins(minted: Minted) -> int:
    return sum(each.method == "POST" for each in minted.fake.requests)


def test_wrong_credentials_are_refused_once(minted: Minted) -> None:
    provider = minted.kind()
    provider.configure({**minted.params, **minted.wrong})
    with provider:
        assert "check" in minted.failure(provider, AccessDeniedError)
    assert logins(minted) == 1, "stores lock accounts that try again"


@pytest.mark.parametrize("which", [0, 1], ids=["expired", "revoked"])
def test_credentials_that_end_are_told_from_outages_and_come_back(minted: Minted, which: int) -> None:
    code = minted.refusals[which]
    with minted.make() as provider:
        if minted.kind is not AwsRdsIamConfigProvider:  # the role's keys are good for longer than a test
            assert minted.value(provider)
        minted.refuse(code)
        said = minted.failure(provider, AccessDeniedError)
        # azure-identity tells the code in words of the server alone, which are not shown.
        assert code in said or minted.kind is AzureTokenConfigProvider
        minted.refuse(None)
        assert minted.value(provider)


def test_a_server_that_restarts(minted: Minted) -> None:
    with minted.make(attempts="1", timeout="3s") as provider:
        with minted.fake.down():
            minted.failure(provider, ProviderUnavailableError)
        assert minted.value(provider)


@pytest.mark.parametrize("skew", [SKEW, -SKEW], ids=["behind", "ahead"])
def test_a_clock_that_is_five_minutes_off_shortens_nothing(minted: Minted, skew: int) -> None:
    minted.fake.clock = skew
    if minted.kind is GcpTokenConfigProvider:  # whose server refuses what is signed in its future
        minted.fake.tolerance = 600
    with minted.make() as provider:
        ttl = provider.get(minted.path, {minted.key}).ttl
    assert abs(ttl - minted.life) <= 3_000, "by the server's Date, which has whole seconds"


@pytest.mark.parametrize("skew", [SKEW, -SKEW], ids=["behind", "ahead"])
def test_a_refusal_names_a_clock_that_is_off_where_times_are_signed(minted: Minted, skew: int) -> None:
    if minted.kind in (OAuth2ConfigProvider, AzureTokenConfigProvider):
        return  # what these send holds no time
    minted.fake.clock = skew
    minted.refuse("SignatureDoesNotMatch" if isinstance(minted.fake, Sts) else "invalid_grant")
    with minted.make() as provider:
        said = minted.failure(provider, AccessDeniedError)
    found = re.search(r"this machine's clock is (\d+) s (ahead of|behind) the server's", said)
    assert found is not None
    assert abs(int(found[1]) - SKEW) <= 3
    assert found[2] == ("behind" if skew > 0 else "ahead of")

"""The two AWS providers against moto's server, whose IAM checks signatures and rights."""

import json

import pytest
from botocore.client import BaseClient
from botocore.errorfactory import ClientExceptionsFactory

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.aws.secretsmanager import AwsSecretsManagerConfigProvider
from sparkconfig.providers.aws.ssm import AwsSsmConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.aws_environment import without_identity
from support.fakes.fault_proxy import FaultProxy
from support.fakes.http_server import BODY_MARK, Fault
from support.fakes.moto_server import REGION, ROLE, moto_server
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}
BINARY = bytes(range(256))


@pytest.fixture(scope="module")
def moto():
    with moto_server() as server:
        secrets, ssm = server.client("secretsmanager"), server.client("ssm")
        secrets.create_secret(Name="shop/prod", SecretString=json.dumps(DATA))
        for key, value in DATA.items():
            secrets.create_secret(Name=f"whole/{key}", SecretString=value)
            ssm.put_parameter(Name=f"/shop/prod/{key}", Value=value, Type="SecureString")
        secrets.create_secret(Name="keystore.p12", SecretBinary=BINARY)
        yield server


@pytest.fixture(autouse=True)
def _no_aws_environment(monkeypatch, tmp_path):
    without_identity(monkeypatch, tmp_path)


def make(kind, moto, user="reader", **params):
    provider = kind()
    provider.configure({**moto.params(user), **params})
    return provider


def secrets_manager(moto, user="reader", **params):
    return make(AwsSecretsManagerConfigProvider, moto, user, **params)


def parameter_store(moto, user="reader", **params):
    return make(AwsSsmConfigProvider, moto, user, **params)


SECRET = ("secret.access.key",)


class TestSecretsManagerJson(ProviderContract):
    @pytest.fixture
    def case(self, moto):
        kind, params = AwsSecretsManagerConfigProvider, moto.params("reader")
        return ContractCase(kind, params, "shop/prod", DATA, secret_params=SECRET)


class TestSecretsManagerWhole(ProviderContract):
    @pytest.fixture
    def case(self, moto):
        kind, params = AwsSecretsManagerConfigProvider, {**moto.params("reader"), "layout": "whole"}
        return ContractCase(kind, params, "whole", DATA, secret_params=SECRET, lists_all=False)


class TestParameterStore(ProviderContract):
    @pytest.fixture
    def case(self, moto):
        params = moto.params("reader")
        return ContractCase(AwsSsmConfigProvider, params, "/shop/prod", DATA, secret_params=SECRET)


class _Faults(StoreFaults):
    kind: type
    path: str

    @pytest.fixture
    def faulty(self, moto):
        with FaultProxy(moto.url) as proxy:

            def maker(params):
                provider = self.kind()
                provider.configure({**moto.params("reader", proxy.url), **params})
                return provider

            yield Faulty(proxy, maker, self.path, "password", DATA["password"], "endpoint.url")


class TestSecretsManagerFaults(_Faults):
    kind, path = AwsSecretsManagerConfigProvider, "shop/prod"


class TestParameterStoreFaults(_Faults):
    kind, path = AwsSsmConfigProvider, "/shop/prod"


class TestIam:
    @pytest.mark.parametrize(
        ("kind", "path"),
        [(AwsSecretsManagerConfigProvider, "shop/prod"), (AwsSsmConfigProvider, "/shop/prod")],
    )
    def test_without_the_right_it_is_not_allowed(self, moto, kind, path):
        with make(kind, moto, "nobody") as provider, pytest.raises(AccessDeniedError, match="IAM") as caught:
            provider.get(path, {"password"})
        assert path in str(caught.value)

    @pytest.mark.parametrize(
        "wrong",
        [{"secret.access.key": "wrong-key-0001"}, {"access.key.id": "AKIAWRONG", "session.token": "x"}],
    )
    def test_wrong_credentials_are_not_allowed(self, moto, wrong):
        with secrets_manager(moto, **wrong) as provider, pytest.raises(AccessDeniedError) as caught:
            provider.get("shop/prod")
        assert "wrong-key-0001" not in str(caught.value)

    def test_no_credentials_are_not_allowed(self, moto):
        with AwsSecretsManagerConfigProvider() as provider:
            provider.configure({"endpoint.url": moto.url, "region": REGION})
            with pytest.raises(AccessDeniedError, match="no usable AWS credentials"):
                provider.get("shop/prod")

    def test_the_environment_can_give_the_credentials(self, moto, monkeypatch):
        keys = moto.keys["reader"]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access.key.id"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret.access.key"])
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        with AwsSsmConfigProvider() as provider:
            provider.configure({"endpoint.url": moto.url})
            assert provider.get("/shop/prod").data == DATA

    def test_a_role_is_assumed(self, moto):
        with secrets_manager(moto, **{"role.arn": ROLE}) as provider:
            assert provider.get("shop/prod").data == DATA
        with (
            secrets_manager(moto, "nobody", **{"role.arn": ROLE}) as provider,
            pytest.raises(AccessDeniedError),
        ):
            provider.get("shop/prod")

    @pytest.mark.parametrize("fault", [Fault(503), Fault(closed=True), Fault(garbage=True)])
    def test_an_outage_while_a_role_is_assumed_is_not_a_refusal(self, moto, fault):
        with FaultProxy(moto.url) as proxy:
            params = {"endpoint.url": proxy.url, "role.arn": ROLE, "attempts": "1"}
            proxy.fault(fault)
            with secrets_manager(moto, **params) as provider:
                with pytest.raises(ProviderUnavailableError) as caught:
                    provider.get("shop-prod")
                assert BODY_MARK not in str(caught.value)
                assert provider.get("shop/prod").data == DATA

    def test_a_revoked_key_is_not_allowed(self, moto):
        iam = moto.client("iam")
        moto.make_user("leaver", "*")
        key = iam.create_access_key(UserName="leaver")["AccessKey"]
        params = {"access.key.id": key["AccessKeyId"], "secret.access.key": key["SecretAccessKey"]}
        with secrets_manager(moto, **params) as provider:
            assert provider.get("shop/prod").data == DATA
            iam.delete_access_key(UserName="leaver", AccessKeyId=key["AccessKeyId"])
            with pytest.raises(AccessDeniedError):
                provider.get("shop/prod")


class TestMeaningOfErrors:
    @pytest.mark.parametrize(
        ("code", "status", "kind"),
        [
            ("ExpiredTokenException", 400, AccessDeniedError),
            ("UnrecognizedClientException", 400, AccessDeniedError),
            ("DecryptionFailure", 400, AccessDeniedError),
            ("InvalidKeyId", 400, AccessDeniedError),
            ("ThrottlingException", 400, ProviderUnavailableError),
            ("RequestLimitExceeded", 400, ProviderUnavailableError),
            ("InternalServiceError", 500, ProviderUnavailableError),
            ("ParameterNotFound", 400, SecretNotFoundError),
            ("InvalidRequestException", 400, SecretNotFoundError),
            ("ValidationException", 400, ProviderError),
        ],
    )
    @pytest.mark.parametrize("provider", [AwsSecretsManagerConfigProvider, AwsSsmConfigProvider])
    def test_codes(self, provider, code, status, kind):
        answer = {
            "Error": {"Code": code, "Message": BODY_MARK},
            "ResponseMetadata": {"HTTPStatusCode": status},
        }
        failure = provider._answered("here", answer)
        assert type(failure) is kind
        assert BODY_MARK not in str(failure)


class _Transport(StoreTransport):
    kind: type
    path: str

    @pytest.fixture
    def secured(self, moto):
        def maker(address, params):
            return make(self.kind, moto, **{"endpoint.url": f"https://{address}", **params})

        with FaultProxy(moto.url) as proxy:  # moto's server keeps no connections
            yield Secured(proxy.port, maker, self.path, "password", DATA["password"])


class TestSecretsManagerTransport(_Transport):
    kind, path = AwsSecretsManagerConfigProvider, "shop/prod"


class TestParameterStoreTransport(_Transport):
    kind, path = AwsSsmConfigProvider, "/shop/prod"


class TestSecretsManager:
    def test_many_whole_secrets_are_one_call(self, moto):
        admin = moto.client("secretsmanager")
        for number in range(25):
            admin.create_secret(Name=f"many/{number}", SecretString=f"value-{number}")
        with FaultProxy(moto.url) as proxy, AwsSecretsManagerConfigProvider() as provider:
            provider.configure({**moto.params("reader", proxy.url), "layout": "whole"})
            answer = provider.get("many", {str(number) for number in range(25)} | {"absent"})
            assert answer.data == {str(number): f"value-{number}" for number in range(25)}
            assert len(proxy.requests) == 2, "twenty fit into one call"

    def test_without_the_right_to_batch_each_is_read(self, moto):
        with secrets_manager(moto, "single-reader", layout="whole") as provider:
            for _ in range(2):
                assert provider.get("whole", set(DATA)).data == DATA

    def test_versions_and_stages_can_be_pinned(self, moto):
        admin = moto.client("secretsmanager")
        first = admin.create_secret(Name="versions", SecretString='{"password": "first-one"}')["VersionId"]
        admin.put_secret_value(SecretId="versions", SecretString='{"password": "second-one"}')
        with secrets_manager(moto) as provider:
            assert provider.get("versions").data == {"password": "second-one"}
            assert provider.get("versions?stage=AWSPREVIOUS").data == {"password": "first-one"}
            assert provider.get(f"versions?version={first}").data == {"password": "first-one"}
            with pytest.raises(SecretNotFoundError):
                provider.get("versions?stage=NEVER")

    def test_arns_are_names(self, moto):
        arn = moto.client("secretsmanager").describe_secret(SecretId="whole/password")["ARN"]
        with secrets_manager(moto) as provider:
            assert provider.get("", {arn}).data == {arn: DATA["password"]}
            short, other = arn[:-7], "whole/username"
            assert provider.get("", {short, other}).data == {short: DATA["password"], other: DATA["username"]}

    def test_a_secret_marked_for_deletion_is_not_there(self, moto):
        admin = moto.client("secretsmanager")
        admin.create_secret(Name="leaving", SecretString="{}")
        admin.delete_secret(SecretId="leaving")
        with secrets_manager(moto) as provider, pytest.raises(SecretNotFoundError, match="deletion"):
            provider.get("leaving")

    def test_binary_is_base64_where_asked_and_an_error_elsewhere(self, moto):
        import base64

        with secrets_manager(moto, **{"base64.keys": "*.p12, *.jks"}) as provider:
            answer = provider.get("", {"keystore.p12", "whole/password"})
            assert base64.b64decode(answer.data["keystore.p12"]) == BINARY
            assert answer.data["whole/password"] == DATA["password"]
        with secrets_manager(moto) as provider, pytest.raises(ProviderError, match=r"base64\.keys"):
            provider.get("", {"keystore.p12"})

    def test_text_that_is_not_json_says_what_to_do(self, moto):
        with secrets_manager(moto) as provider, pytest.raises(ProviderError, match="layout=whole") as caught:
            provider.get("whole/password", {"x"})
        assert DATA["password"] not in str(caught.value)

    def test_huge_secrets_arrive_whole(self, moto):
        value = "x" * 65_000
        moto.client("secretsmanager").create_secret(Name="huge", SecretString=json.dumps({"blob": value}))
        with secrets_manager(moto) as provider:
            assert provider.get("huge").data == {"blob": value}


class TestParameters:
    def test_more_than_ten_are_several_calls_of_ten(self, moto):
        admin = moto.client("ssm")
        for number in range(25):
            admin.put_parameter(Name=f"/many/{number}", Value=f"value-{number}", Type="String")
        with FaultProxy(moto.url) as proxy, AwsSsmConfigProvider() as provider:
            provider.configure(moto.params("reader", proxy.url))
            expected = {str(number): f"value-{number}" for number in range(25)}
            assert provider.get("/many", set(expected)).data == expected
            assert len(proxy.requests) == 3
            assert provider.get("/many").data == expected

    def test_versions_and_labels_can_be_pinned(self, moto):
        admin = moto.client("ssm")
        admin.put_parameter(Name="/v/key", Value="first-one", Type="String")
        admin.label_parameter_version(Name="/v/key", ParameterVersion=1, Labels=["blue"])
        admin.put_parameter(Name="/v/key", Value="second-one", Type="String", Overwrite=True)
        with parameter_store(moto) as provider:
            answer = provider.get("/v", {"key", "key?version=1", "key?version=9", "key?label=blue"})
            assert answer.data == {
                "key": "second-one",
                "key?version=1": "first-one",
                "key?label=blue": "first-one",
            }

    def test_threads_that_meet_the_first_error_together_read_it_alike(self, moto, monkeypatch):
        """boto3 makes the classes of its errors at the first look, and two threads may each get their own."""

        def fresh(client):
            return ClientExceptionsFactory().create_client_exceptions(client.meta.service_model)

        monkeypatch.setattr(BaseClient, "exceptions", property(fresh))
        moto.client("ssm").put_parameter(Name="/race/key", Value="there", Type="String")
        with parameter_store(moto) as provider:
            assert provider.get("/race", {"key?version=9", "key?version=1"}).data == {
                "key?version=1": "there"
            }
        with secrets_manager(moto, layout="whole") as provider:
            assert provider.get("race", {"none?stage=AWSPREVIOUS"}).data == {}

    def test_huge_parameters_arrive_whole(self, moto):
        value = "x" * 8_000
        moto.client("ssm").put_parameter(Name="/huge/key", Value=value, Type="SecureString", Tier="Advanced")
        with parameter_store(moto) as provider:
            assert provider.get("/huge", {"key"}).data == {"key": value}

    def test_bytes_are_the_base64_that_was_written_since_parameters_are_texts(self, moto):
        moto.client("ssm").put_parameter(Name="/bytes/key", Value="/wD+AQ==", Type="SecureString")
        with parameter_store(moto) as provider:
            assert provider.get("/bytes", {"key"}).data == {"key": "/wD+AQ=="}
        with AwsSsmConfigProvider() as provider, pytest.raises(ConfigurationError, match=r"base64\.keys"):
            provider.configure({**moto.params("reader"), "base64.keys": "*"})

    def test_a_deleted_parameter_is_not_there(self, moto):
        admin = moto.client("ssm")
        admin.put_parameter(Name="/leaving/key", Value="leaving-0001", Type="String")
        with parameter_store(moto) as provider:
            assert provider.get("/leaving", {"key"}).data
            admin.delete_parameter(Name="/leaving/key")
            assert not provider.get("/leaving", {"key"}).data

    def test_what_is_not_encrypted_is_plain(self, moto):
        for name, kind in (("zone", "String"), ("zones", "StringList"), ("password", "SecureString")):
            moto.client("ssm").put_parameter(Name=f"/kinds/{name}", Value="a,b", Type=kind)
        with parameter_store(moto) as provider:
            assert provider.get("/kinds").plain == {"zone", "zones"}
            assert provider.get("/kinds", {"zone", "password"}).plain == {"zone"}
            assert provider.get("/kinds", {"zone?version=1"}).plain == {"zone?version=1"}

    def test_a_parameter_can_hold_json(self, moto):
        moto.client("ssm").put_parameter(Name="/j", Value=json.dumps(DATA), Type="SecureString")
        with parameter_store(moto, layout="json") as provider:
            assert provider.get("/j").data == DATA


class TestParams:
    @pytest.mark.parametrize(
        ("params", "named"),
        [
            ({}, "region"),
            ({"profile": "nope"}, "profile"),
            ({"region": REGION, "access.key.id": "x"}, "access.key.id"),
            ({"region": REGION, "endpoint.url": "not a url"}, "endpoint.url"),
            ({"region": REGION, "fips": "yes"}, "fips"),
            ({"region": REGION, "attempts": "0"}, "attempts"),
        ],
    )
    @pytest.mark.parametrize("kind", [AwsSecretsManagerConfigProvider, AwsSsmConfigProvider])
    def test_wrong_params_are_refused_by_name(self, kind, params, named):
        with kind() as provider, pytest.raises(ConfigurationError, match=f"param {named} "):
            provider.configure(params)

    def test_fips_endpoints(self):
        with AwsSecretsManagerConfigProvider() as provider:
            provider.configure({"region": "us-east-1", "fips": "true"})
            assert provider._client.meta.endpoint_url == "https://secretsmanager-fips.us-east-1.amazonaws.com"

    def test_the_ttl_is_the_param(self, moto):
        with parameter_store(moto, ttl="5m") as provider:
            assert provider.get("/shop/prod").ttl == 300_000

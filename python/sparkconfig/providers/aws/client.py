"""What the two AWS providers share: sessions, roles, endpoints and the meaning of boto3's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.fields import BASE64_KEYS
from sparkconfig.providers._kit.http import CA_FILE, PROXY, clock_note, status_failure, transport_failure
from sparkconfig.providers._kit.named import NamedStoreProvider
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, TTL

__all__ = ["AWS_AUTH", "AWS_PARAMS", "AwsProvider", "error_code"]

AWS_AUTH = "boto3's chain: environment, profile, web identity (IRSA), container, instance role; then `role.arn` if set"

AWS_PARAMS = (
    Param("region", "region; unset: the environment's or the profile's"),
    Param("profile", "profile of the shared configuration files"),
    Param("role.arn", "role to assume; its credentials are renewed by themselves"),
    Param("role.external.id", "external id for `role.arn`"),
    Param("access.key.id", "access key id; unset: boto3's chain"),
    Param("secret.access.key", "secret access key, as a reference to another provider", secret=True),
    Param("session.token", "session token, as a reference", secret=True),
    Param("endpoint.url", "endpoint, for VPC endpoints"),
    Param("fips", "`true` for FIPS endpoints", default="false", choices=("true", "false")),
    BASE64_KEYS,
    TTL,
    *NETWORK,
    CA_FILE,
    PROXY,
)

_NOT_THERE = {"ResourceNotFoundException", "ParameterNotFound", "ParameterVersionNotFound"}
_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
    "AuthFailure",
    "DecryptionFailure",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidIdentityToken",
    "InvalidKeyId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "NotAuthorized",
    "OptInRequired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_BUSY = {"Throttling", "ThrottlingException", "ThrottledException", "RequestLimitExceeded", "InternalFailure"}
_BUSY |= {
    "IDPCommunicationError",
    "TooManyRequestsException",
    "InternalServerError",
    "InternalServiceError",
    "ServiceUnavailable",
}
_NO_IDENTITY = {
    "CredentialRetrievalError",
    "NoAuthTokenError",
    "NoCredentialsError",
    "PartialCredentialsError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
}


def error_code(response: Mapping[str, Any]) -> str:
    """Return AWS's own code of an error.

    Errors are told apart by it and not by ``client.exceptions``: boto3 makes those classes when they are first asked
    for, and two threads that ask at once get two sets of them.
    """
    return str(response.get("Error", {}).get("Code", ""))


class AwsProvider(NamedStoreProvider):
    """A provider over one boto3 client.

    Attributes:
        service: boto3's name of the service.
    """

    service: ClassVar[str]
    extra = "aws"
    requires = ("boto3>=1.34",)
    client = "boto3"
    auth = AWS_AUTH
    # boto3 logs whole answers at level DEBUG, and what it signs.
    noisy_loggers = (
        "botocore.auth",
        "botocore.endpoint",
        "botocore.hooks",
        "botocore.httpsession",
        "botocore.parsers",
        "botocore.retryhandler",
        "urllib3.connectionpool",
    )

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None

    def _connect(self, values: ParamValues, seconds: float) -> None:
        boto3 = self._import("boto3")
        self._exceptions = self._import("botocore.exceptions")
        proxy = values.optional("proxy")
        config = self._import("botocore.config").Config(
            connect_timeout=min(seconds, 5),
            read_timeout=seconds,
            retries={
                "total_max_attempts": 1,
                "mode": "standard",
            },  # attempts are counted in one place: _retry
            proxies={"http": proxy, "https": proxy} if proxy else None,
            use_fips_endpoint=values.text("fips") == "true" or None,
            user_agent_extra="sparkconfig",
        )
        if bool(values.optional("access.key.id")) != bool(values.optional("secret.access.key")):
            raise values.wrong("access.key.id", "and secret.access.key go together")
        if values.optional("endpoint.url"):
            values.server("endpoint.url", values.text("endpoint.url"))
        try:
            session = boto3.session.Session(
                aws_access_key_id=values.optional("access.key.id"),
                aws_secret_access_key=values.optional("secret.access.key"),
                aws_session_token=values.optional("session.token"),
                region_name=values.optional("region"),
                profile_name=values.optional("profile"),
            )
            verify = values.optional("ca.file")
            if values.optional("role.arn"):
                session = self._assume(boto3, session, values, config, verify)
            self._client = session.client(
                self.service, endpoint_url=values.optional("endpoint.url"), verify=verify, config=config
            )
        except self._exceptions.ProfileNotFound:
            failure = values.wrong("profile", "names no profile", values.optional("profile"))
        except self._exceptions.NoRegionError:
            failure = values.wrong("region", "is not set, nor does the environment or profile name one")
        except ValueError:
            failure = values.wrong("endpoint.url", "is not a URL", values.optional("endpoint.url"))
        else:
            return
        raise failure

    def _assume(
        self,
        boto3: Any,  # noqa: ANN401
        session: Any,  # noqa: ANN401
        values: ParamValues,
        config: Any,  # noqa: ANN401
        verify: str | None,
    ) -> Any:  # noqa: ANN401
        """Return a session whose credentials come from the role, and are fetched again before they end."""
        credentials = self._import("botocore.credentials")
        arguments = {"RoleSessionName": "sparkconfig"}
        if values.optional("role.external.id"):
            arguments["ExternalId"] = values.text("role.external.id")

        def client(*names: Any, **options: Any) -> Any:  # noqa: ANN401 - boto3's own signature
            endpoint = values.optional("endpoint.url") if self._is_local(values) else None
            return session.client(
                *names, **{**options, "config": config, "verify": verify, "endpoint_url": endpoint}
            )

        fetcher = credentials.AssumeRoleCredentialFetcher(
            client_creator=client,
            source_credentials=session.get_credentials(),
            role_arn=values.text("role.arn"),
            extra_args=arguments,
        )
        inner = self._import("botocore.session").get_session()
        inner._credentials = credentials.DeferredRefreshableCredentials(  # noqa: SLF001 - botocore has no other way
            method="assume-role", refresh_using=fetcher.fetch_credentials
        )
        return boto3.session.Session(botocore_session=inner, region_name=session.region_name)

    @staticmethod
    def _is_local(values: ParamValues) -> bool:
        """Whether the endpoint is an emulator, which serves STS as well."""
        url = values.optional("endpoint.url") or ""
        return url.startswith(("http://localhost:", "http://127.0.0.1:"))

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind = self._where(path), type(error).__name__
        if isinstance(error, self._exceptions.ClientError):
            return self._answered(where, error.response)
        if kind in _NO_IDENTITY:
            return AccessDeniedError(f"{where}: there are no usable AWS credentials ({kind})")
        if isinstance(error, self._exceptions.ParamValidationError):
            return ProviderError(f"{where}: this store does not allow such a name")
        if isinstance(error, self._exceptions.HTTPClientError | self._exceptions.ConnectionError):
            return transport_failure(where, error)
        return super()._failure(error, path)

    @staticmethod
    def _answered(where: str, response: Any) -> ProviderError:  # noqa: ANN401
        """Return the error for an AWS error code; the message beside the code stays out of it."""
        code = error_code(response)
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if code in _NOT_THERE:
            return SecretNotFoundError(f"{where}: not found ({code})")
        if code in _DENIED or status in {401, 403}:
            clock = clock_note(response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date"))
            return AccessDeniedError(
                f"{where}: not allowed ({code}); check credentials and IAM policy{clock}"
            )
        if code in _BUSY:
            return ProviderUnavailableError(f"{where}: the store is busy ({code})")
        if code == "InvalidRequestException":
            # Secrets Manager's answer for a secret that is marked for deletion.
            return SecretNotFoundError(f"{where}: no longer there ({code}); is it marked for deletion?")
        return status_failure(where, status)

    def close(self) -> None:
        """Close the connections."""
        super().close()
        if self._client is not None:
            self._client.close()

"""AWS Secrets Manager."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sparkconfig.errors import AccessDeniedError
from sparkconfig.providers._kit.named import Found, layout_param
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers.aws.client import AWS_PARAMS, AwsProvider, error_code

__all__ = ["AwsSecretsManagerConfigProvider"]

_BATCH = 20
"""The most that BatchGetSecretValue takes."""


class AwsSecretsManagerConfigProvider(AwsProvider):
    """Secrets by name or ARN; several whole secrets come in one BatchGetSecretValue."""

    alias = "aws-secretsmanager"
    java = ("SecretsManagerConfigProvider", "AWSSecretProvider")
    service = "secretsmanager"
    store = "AWS Secrets Manager"
    table = (layout_param(), *AWS_PARAMS)
    paths = (
        "`${aws:shop/prod:password}`: field `password` of the JSON secret `shop/prod`; `${aws::shop/token}`: a whole "
        "secret, or its ARN. Pins: `?stage=AWSPREVIOUS`, `?version=ID` after the name"
    )

    def __init__(self) -> None:
        super().__init__()
        self._batches = True

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        pinned = [name for name in names if "?" in name]
        plain = [name for name in names if "?" not in name]
        found: dict[str, Found] = {}
        if len(plain) > 1 and self._batches:
            try:
                for start in range(0, len(plain), _BATCH):
                    found.update(self._batch(path, plain[start : start + _BATCH]))
                # An ARN may be asked for without its last six characters, and is answered with them.
                plain = [name for name in plain if name not in found and name.startswith("arn:")]
            except self._exceptions.ClientError as error:
                if not isinstance(self._failure(error, path), AccessDeniedError):
                    raise
                self._batches = False  # the right to read each one does not include the right to read many
        return {**found, **self._each([*plain, *pinned], lambda name: self._one(path, name))}

    def _batch(self, path: str, names: list[str]) -> dict[str, Found]:
        found: dict[str, Found] = {}
        more: dict[str, str] = {}
        while True:
            answer = self._client.batch_get_secret_value(SecretIdList=names, **more)
            for problem in answer.get("Errors", ()):
                if problem["ErrorCode"] != "ResourceNotFoundException":
                    raise self._answered(self._where(path), {"Error": {"Code": problem["ErrorCode"]}})
            for secret in answer["SecretValues"]:
                value = _value(secret)
                found.update({name: value for name in names if name in {secret["Name"], secret["ARN"]}})
            if not answer.get("NextToken"):
                return found
            more = {"NextToken": answer["NextToken"]}

    def _one(self, path: str, name: str) -> Found | None:
        plain, pins = split_pins(name, {"version", "stage"}, self._where(path))
        arguments = {"SecretId": plain}
        arguments |= {"VersionId": pins["version"]} if "version" in pins else {}
        arguments |= {"VersionStage": pins["stage"]} if "stage" in pins else {}
        try:
            return _value(self._client.get_secret_value(**arguments))
        except self._exceptions.ClientError as error:
            if error_code(error.response) != "ResourceNotFoundException":
                raise
            return None


def _value(secret: Mapping[str, Any]) -> Found:
    text = secret.get("SecretString")
    return Found(text if text is not None else secret["SecretBinary"])

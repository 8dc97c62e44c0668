"""AWS Secrets Manager."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from sparkconfig.errors import AccessDeniedError, ConfigurationError
from sparkconfig.providers._kit.named import WHOLE, Found, layout_param
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers.aws.client import AWS_PARAMS, AwsProvider, error_code

__all__ = ["AwsSecretsManagerConfigProvider"]

_BATCH = 20
"""The most that BatchGetSecretValue takes."""
_STAGED = "sparkconfig-migrate"
"""Label of a version until it is the current one."""


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

    def add(self, path: str, values: Mapping[str, str]) -> None:
        """Write new fields of a JSON secret in one version; the text of the others stays as it is.

        The identity needs ``GetSecretValue``, ``CreateSecret``, ``PutSecretValue`` and ``UpdateSecretVersionStage``. A
        second call with the same fields changes nothing.

        Raises:
            ConfigurationError: the path is not a JSON secret, a field has another value, or it was written
                meanwhile.
            ProviderError: the store refuses, or does not answer.
        """
        if self._layout == WHOLE or not path or "?" in path or self._attempts is None:
            raise ConfigurationError(
                f"{self._where(path)}: only a JSON secret can be written to, by its name and without pins"
            )
        self._attempts.run(lambda _: self._mapped(path, partial(self._add, path, values)))

    def _add(self, path: str, values: Mapping[str, str]) -> None:
        where, call = self._where(path), self._client
        try:
            there = call.get_secret_value(SecretId=path)
        except self._exceptions.ClientError as error:
            if error_code(error.response) != "ResourceNotFoundException":
                raise
            with self._unless_written_meanwhile(where, "ResourceExistsException"):
                call.create_secret(Name=path, SecretString=json.dumps(dict(values)))
            return
        text = there.get("SecretString") or ""
        fields = _object(text)
        if fields is None:
            raise ConfigurationError(f"{where}: it is not a JSON object, so no field can be added")
        taken = sorted(key for key, value in values.items() if fields.get(key, value) != value)
        if taken:
            raise ConfigurationError(f"{where}: it has another value for {', '.join(taken)}")
        new = {key: value for key, value in values.items() if key not in fields}
        if not new:
            return
        # A number written 1.50 stays that.
        joined = text.rstrip().removesuffix("}").rstrip() + (", " if fields else "") + json.dumps(new)[1:]
        made = call.put_secret_value(SecretId=path, SecretString=joined, VersionStages=[_STAGED])["VersionId"]
        # The label moves only if the version that was read has it still.
        with self._unless_written_meanwhile(where, "InvalidParameterException"):
            call.update_secret_version_stage(
                SecretId=path, VersionStage="AWSCURRENT", MoveToVersionId=made, RemoveFromVersionId=there["VersionId"]
            )  # fmt: skip
        call.update_secret_version_stage(SecretId=path, VersionStage=_STAGED, RemoveFromVersionId=made)

    @contextmanager
    def _unless_written_meanwhile(self, where: str, code: str) -> Iterator[None]:
        """Turn the error with this code into one that says what happened."""
        try:
            yield
        except self._exceptions.ClientError as error:
            if error_code(error.response) != code:
                raise
        else:
            return
        raise ConfigurationError(f"{where}: it was written meanwhile; look at it, and run this again")


def _object(text: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(text)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _value(secret: Mapping[str, Any]) -> Found:
    text = secret.get("SecretString")
    return Found(text if text is not None else secret["SecretBinary"])

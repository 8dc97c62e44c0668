"""AWS Systems Manager Parameter Store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sparkconfig.providers._kit.fields import BASE64_KEYS
from sparkconfig.providers._kit.named import WHOLE, Found, layout_param
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers.aws.client import AWS_PARAMS, AwsProvider, error_code

__all__ = ["AwsSsmConfigProvider"]

_BATCH = 10
"""The most that GetParameters and one page of GetParametersByPath take."""


class AwsSsmConfigProvider(AwsProvider):
    """Parameters of a path, ten to a call, decrypted."""

    alias = "aws-ssm"
    java = ("SsmParamStoreConfigProvider",)
    service = "ssm"
    store = "AWS Systems Manager Parameter Store"
    table = (
        layout_param(WHOLE),
        *(param for param in AWS_PARAMS if param != BASE64_KEYS),
    )  # it has texts only
    paths = (
        "`${ssm:/shop/prod:password}`: parameter `/shop/prod/password`; without keys all parameters directly below the "
        "path. Pins: `?version=3` or `?label=blue` after the key"
    )

    def _list(self, path: str) -> Mapping[str, Found]:
        found: dict[str, Found] = {}
        pages = self._client.get_paginator("get_parameters_by_path")
        folder = "/" + path.strip("/")
        for page in pages.paginate(Path=folder, WithDecryption=True, PaginationConfig={"PageSize": _BATCH}):
            found |= {each["Name"].rpartition("/")[2]: _found(each) for each in page["Parameters"]}
        return found

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        plain = [name for name in names if "?" not in name]
        found: dict[str, Found] = {}
        for start in range(0, len(plain), _BATCH):
            some = plain[start : start + _BATCH]
            answer = self._client.get_parameters(Names=some, WithDecryption=True)
            found |= {each["Name"]: _found(each) for each in answer["Parameters"]}
        pinned = [name for name in names if "?" in name]
        return {**found, **self._each(pinned, lambda name: self._pinned(path, name))}

    def _pinned(self, path: str, name: str) -> Found | None:
        plain, pins = split_pins(name, {"version", "label"}, self._where(path))
        selector = ":".join([plain, *pins.values()])
        try:
            return _found(self._client.get_parameter(Name=selector, WithDecryption=True)["Parameter"])
        except self._exceptions.ClientError as error:
            if error_code(error.response) not in {"ParameterNotFound", "ParameterVersionNotFound"}:
                raise
            return None


def _found(parameter: Mapping[str, Any]) -> Found:
    """Only a ``SecureString`` is encrypted; ``String`` and ``StringList`` are for what is not a secret."""
    return Found(parameter["Value"], plain=parameter.get("Type") in {"String", "StringList"})

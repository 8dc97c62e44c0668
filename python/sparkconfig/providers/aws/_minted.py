"""What makes credentials instead of reading them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sparkconfig.providers._kit.named import Found
from sparkconfig.providers._kit.params import ParamValues
from sparkconfig.providers.aws.client import AWS_PARAMS, AwsProvider

__all__ = ["MINTED_PARAMS", "AwsMintedProvider"]

MINTED_PARAMS = tuple(param for param in AWS_PARAMS if param.name not in {"ttl", "base64.keys"})


class AwsMintedProvider(AwsProvider):
    """A provider over one boto3 client that has no names to look up; a subclass has `_read`."""

    def _open(self, values: ParamValues, seconds: float) -> None:
        self._values = values
        self._connect(values, seconds)

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        raise NotImplementedError

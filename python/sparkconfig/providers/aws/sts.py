"""Temporary keys of AWS, made on demand."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Set
from email.utils import parsedate_to_datetime
from typing import Any

from sparkconfig.providers._kit.minted import DEFAULT_LIFE, ttl_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers.aws._minted import MINTED_PARAMS, AwsMintedProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["AwsStsConfigProvider"]

_ROLE = re.compile(r"arn:aws[\w-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+", re.ASCII)


class AwsStsConfigProvider(AwsMintedProvider):
    """Keys of a role: by AssumeRole, or by AssumeRoleWithWebIdentity where a token's file is named."""

    alias = "aws-sts"
    service = "sts"
    store = "temporary keys of AWS STS"
    table = (
        Param("role", "ARN of the role whose keys are made", required=True),
        Param("external.id", "external id, which the role may ask for"),
        Param("session.name", "name of the sessions, as CloudTrail shows it", default="sparkconfig"),
        Param("session.tags", "`NAME=VALUE` of the sessions, separated by commas"),
        Param("session.policy", "JSON policy that narrows the role"),
        Param("duration", "how long the keys live", default="1h"),
        Param("web.identity.token.file", "file with a token for the role, such as a pod's"),
        DEFAULT_LIFE,
        *MINTED_PARAMS,
    )
    paths = (
        "`${sts::AccessKeyId}`, `${sts::SecretAccessKey}` and `${sts::SessionToken}`, which belong together; a path is"
        " the name of another role of the same account, such as `${sts:shop-writer:AccessKeyId}`"
    )
    ttl_rule = "three quarters of the keys' life"

    def _open(self, values: ParamValues, seconds: float) -> None:
        super()._open(values, seconds)
        self._role = values.text("role").strip()
        if _ROLE.fullmatch(self._role) is None:
            raise values.wrong("role", "must be the ARN of a role", self._role)
        if not 900 <= (values.milliseconds("duration") or 0) // 1000 <= 43_200:
            raise values.wrong("duration", "must be from 15m to 12h")
        self._tags = []
        for part in values.patterns("session.tags"):
            name, equals, value = part.partition("=")
            if not equals or not name.strip():
                raise values.wrong("session.tags", "must be NAME=VALUE, separated by commas")
            self._tags.append({"Key": name.strip(), "Value": value.strip()})

    def _read(
        self,
        path: str,
        keys: Set[str] | None,
        left: float,  # noqa: ARG002 - boto3 has its own limits
    ) -> ConfigData:
        asked: dict[str, Any] = {
            "RoleArn": self._role.partition("/")[0] + "/" + path if path else self._role,
            "RoleSessionName": self._values.text("session.name"),
            "DurationSeconds": (self._values.milliseconds("duration") or 3_600_000) // 1000,
        }
        if self._values.optional("session.policy"):
            asked["Policy"] = self._values.text("session.policy")
        if self._values.optional("web.identity.token.file"):
            token = self._values.identity("web.identity.token.file")
            answer = self._client.assume_role_with_web_identity(**asked, WebIdentityToken=token)
        else:
            if self._values.optional("external.id"):
                asked["ExternalId"] = self._values.text("external.id")
            answer = self._client.assume_role(**asked, **({"Tags": self._tags} if self._tags else {}))
        made = answer["Credentials"]
        found = {name: made[name] for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")}
        wanted = found if keys is None else {key: found[key] for key in keys if key in found}
        # By the server's clock: this machine's may be minutes away from it.
        told = answer["ResponseMetadata"].get("HTTPHeaders", {}).get("date")
        now = parsedate_to_datetime(told) if told else dt.datetime.now(dt.timezone.utc)
        life = (made["Expiration"] - now).total_seconds()
        return ConfigData(wanted, ttl=ttl_of(life, self._values, self._where(path)))

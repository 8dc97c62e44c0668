"""Temporary keys of AWS, made on demand."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Set
from email.utils import parsedate_to_datetime
from typing import Any

from sparkconfig._base.os_user import os_user
from sparkconfig.errors import AccessDeniedError, ProviderError
from sparkconfig.providers._kit.http import clock_note
from sparkconfig.providers._kit.minted import DEFAULT_LIFE, ttl_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers.aws._minted import MINTED_PARAMS, AwsMintedProvider
from sparkconfig.providers.aws.client import error_code
from sparkconfig.providers.base import ConfigData

__all__ = ["AwsStsConfigProvider"]

_USER = "{user}"
_TOKEN_FILE = "web.identity.token.file"  # noqa: S105 - a param
_REFUSED_TOKENS = ("ExpiredTokenException", "ExpiredToken", "InvalidIdentityToken", "IDPRejectedClaim")
#: AWS's rules; what breaks them is refused there for a reason that its answer does not always name.
_SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
_TAG_NAME, _TAG_VALUE = re.compile(r"[\w .:/=+@-]{1,128}"), re.compile(r"[\w .:/=+@-]{0,256}")
_ROLE = re.compile(r"arn:aws[\w-]*:iam::[0-9]{12}:role/[\w+=,.@/-]+", re.ASCII)


class AwsStsConfigProvider(AwsMintedProvider):
    """Keys of a role: by AssumeRole, or by AssumeRoleWithWebIdentity where a token's file is named."""

    alias = "aws-sts"
    service = "sts"
    store = "temporary keys of AWS STS"
    table = (
        Param("role", "ARN of the role for which keys are made", required=True),
        Param("external.id", "external id, which the role may ask for"),
        Param(
            "session.name",
            "name of the sessions, as CloudTrail shows it; `{user}` is the driver's account in its operating system",
            default="sparkconfig",
        ),
        Param("session.tags", "`NAME=VALUE` of the sessions, separated by commas, such as `user={user}`"),
        Param("session.policy", "JSON policy that narrows the role"),
        Param("duration", "how long the keys live", default="1h"),
        Param(
            _TOKEN_FILE,
            "file with a token for the role, such as a pod's, read anew each time; tags come in the token",
        ),
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
        self._name = self._with_user(values, "session.name", values.text("session.name"))
        if _SESSION_NAME.fullmatch(self._name) is None:
            raise values.wrong("session.name", "must be 2 to 64 letters, digits or any of +=,.@-", self._name)
        self._tags = [self._tag(values, part) for part in values.patterns("session.tags")]
        alone = {"session.tags": "tags come in the token", "external.id": "AssumeRole alone has it"}
        for name, why in alone.items():
            if values.optional(_TOKEN_FILE) and values.optional(name):
                raise values.wrong(name, f"does not go with {_TOKEN_FILE}: {why}")

    @staticmethod
    def _with_user(values: ParamValues, name: str, text: str) -> str:
        if _USER not in text:
            return text
        user = os_user()
        if not user:
            raise values.wrong(
                name, f"has {_USER}, but the operating system has no name for the driver's account"
            )
        return text.replace(_USER, user)

    def _tag(self, values: ParamValues, part: str) -> dict[str, str]:
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not name:
            raise values.wrong("session.tags", "must be NAME=VALUE, separated by commas")
        value = self._with_user(values, "session.tags", value)
        if not _TAG_NAME.fullmatch(name) or not _TAG_VALUE.fullmatch(value):
            problem = "has characters that AWS does not allow, or too many: letters, digits, blanks and _.:/=+-@ are"
            raise values.wrong("session.tags", problem, f"{name}={value}")
        return {"Key": name, "Value": value}

    def _read(
        self,
        path: str,
        keys: Set[str] | None,
        left: float,  # noqa: ARG002 - boto3 has its own limits
    ) -> ConfigData:
        asked: dict[str, Any] = {
            "RoleArn": self._role.partition("/")[0] + "/" + path if path else self._role,
            "RoleSessionName": self._name,
            "DurationSeconds": (self._values.milliseconds("duration") or 3_600_000) // 1000,
        }
        if self._values.optional("session.policy"):
            asked["Policy"] = self._values.text("session.policy")
        if self._values.optional(_TOKEN_FILE):
            token = self._values.identity(_TOKEN_FILE)
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

    def _failure(self, error: Exception, path: str) -> ProviderError:
        if isinstance(error, self._exceptions.ClientError) and self._values.optional(_TOKEN_FILE):
            code = error_code(error.response)
            if code in _REFUSED_TOKENS:
                clock = clock_note(
                    error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
                )
                where = self._where(path)
                return AccessDeniedError(f"{where}: AWS refuses the token of {_TOKEN_FILE} ({code}){clock}")
        return super()._failure(error, path)

"""Passwords of databases on Amazon RDS, made on demand."""

from __future__ import annotations

import re
from collections.abc import Set

from sparkconfig.errors import ProviderError
from sparkconfig.providers._kit.minted import ttl_of
from sparkconfig.providers._kit.params import Param
from sparkconfig.providers.aws._minted import MINTED_PARAMS, AwsMintedProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["AwsRdsIamConfigProvider"]

_HOST = re.compile(r"[A-Za-z0-9.-]+", re.ASCII)
_USER = re.compile(r"(?:(?P<port>[0-9]{1,5}):)?(?P<user>[^:]+)", re.ASCII)
#: Amazon's: a token serves for a login within 15 minutes; the connection goes on.
_LIFE_S = 900


class AwsRdsIamConfigProvider(AwsMintedProvider):
    """Tokens that databases with IAM authentication take as passwords. They are signed here: no call to AWS."""

    alias = "aws-rds-iam"
    service = "rds"
    store = "IAM tokens for databases on Amazon RDS and Aurora"
    table = (Param("port", "port of the databases", default="5432"), *MINTED_PARAMS)
    paths = (
        "`${rds:HOST:USER}`, or `${rds:HOST:3306:USER}` for another port; the value is the user's password"
    )
    ttl_rule = "three quarters of the token's 15 minutes"

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:  # noqa: ARG002 - nothing is sent
        where = self._where(path)
        if _HOST.fullmatch(path) is None:
            raise ProviderError(f"{where}: the path must be the database's host name")
        if keys is None:
            raise ProviderError(f"{where}: name the database user as the key; users cannot be listed")
        made = {}
        for key in keys:
            found = _USER.fullmatch(key)
            if found is None:
                raise ProviderError(f"{where}: the key must be USER or PORT:USER")
            made[key] = self._client.generate_db_auth_token(
                DBHostname=path,
                Port=int(found["port"] or self._values.number("port", 1)),
                DBUsername=found["user"],
            )
        return ConfigData(made, ttl=ttl_of(_LIFE_S, self._values, where))

"""The built-in policy ``Principal`` (KIP-458): a job may act as its own user, and change nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from sparkconfig.policy.base import KeyPolicy
from sparkconfig.policy.keys.keys import canonical, fold, generalised
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import OverrideRequest
from sparkconfig.settings.scopes import CONF_SCOPES, OPTION_SCOPES

__all__ = ["PRINCIPAL_KEYS", "PrincipalPolicy"]

_KAFKA = ("security.protocol", "sasl.jaas.config", "sasl.mechanism")

# Secrets and names of users, of all buckets and accounts or of one. No class names among them
# (fs.s3a.aws.credentials.provider and the like): a job that chooses a class runs its own code with the operator's
# rights.
_STORAGE = (
    "spark.hadoop.fs.s3a.access.key",
    "spark.hadoop.fs.s3a.secret.key",
    "spark.hadoop.fs.s3a.session.token",
    "spark.hadoop.fs.s3a.assumed.role.arn",
    "spark.hadoop.fs.azure.account.key",
    "spark.hadoop.fs.azure.account.auth.type",
    "spark.hadoop.fs.azure.account.oauth2.client.id",
    "spark.hadoop.fs.azure.account.oauth2.client.secret",
    "spark.hadoop.fs.azure.account.oauth2.client.endpoint",
    "spark.hadoop.fs.azure.sas.fixed.token",
    "spark.hadoop.fs.gs.auth.type",
    "spark.hadoop.fs.gs.auth.service.account.email",
    "spark.hadoop.fs.gs.auth.service.account.private.key",
    "spark.hadoop.fs.gs.auth.service.account.private.key.id",
    "spark.hadoop.fs.gs.auth.service.account.json.keyfile",
    "spark.hadoop.fs.gs.auth.service.account.keyfile",
    "spark.hadoop.fs.gs.auth.client.id",
    "spark.hadoop.fs.gs.auth.client.secret",
    "spark.hadoop.fs.gs.auth.refresh.token",
    "spark.hadoop.google.cloud.auth.service.account.email",
    "spark.hadoop.google.cloud.auth.service.account.json.keyfile",
)
_KERBEROS = ("spark.kerberos.principal", "spark.kerberos.keytab")
_OPTIONS = ("user", "password", "principal", "keytab", *(f"kafka.{key}" for key in _KAFKA))
_CATALOG = (
    "spark.sql.catalog.*.user",
    "spark.sql.catalog.*.password",
    "spark.sql.catalog.*.token",
    "spark.sql.catalog.*.credential",
    "spark.sql.catalog.*.s3.access-key-id",
    "spark.sql.catalog.*.s3.secret-access-key",
    "spark.sql.catalog.*.s3.session-token",
)

PRINCIPAL_KEYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(CONF_SCOPES, (*_STORAGE, *_CATALOG)),
    **dict.fromkeys(OPTION_SCOPES, (*_OPTIONS, *_STORAGE)),
    "application": (*_STORAGE, *_KERBEROS, *_CATALOG),
    "hadoop": _STORAGE,
    "catalog": (*_CATALOG, "user", "password", "token", "credential"),
    "worker": (),
    "connector": _KAFKA,
}
"""Scope to the names by which a job says who it is; ``*`` stands for any text."""


class PrincipalPolicy(KeyPolicy):
    """Credentials may be overridden, in each scope those that are set there; nothing else."""

    policy_name = "Principal"

    def __init__(self) -> None:
        self._patterns = {
            scope: tuple(Pattern(fold(name)) for name in names) for scope, names in PRINCIPAL_KEYS.items()
        }

    def allows(self, request: OverrideRequest, name: str) -> bool:
        """Names by which a job acts as its own user; exactly Kafka's three in scope ``connector``."""
        if request.scope == "connector":
            return name in _KAFKA
        folded = fold(canonical(name, request.scope))
        names = (folded, *generalised(folded))
        return any(pattern.matches(each) for pattern in self._patterns[request.scope] for each in names)

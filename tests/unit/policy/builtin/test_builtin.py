"""The policies that sparkconfig brings and that need no document; `Rules` has tests of its own in `rules`."""

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.loader import make_policy
from sparkconfig.policy.request import SCOPES
from unit.policy.helpers import request


def test_principal_knows_every_scope():
    policy = make_policy("Principal", {}, {})
    for scope in SCOPES:
        asked = request({"spark.plugins": "x", "spark.hadoop.fs.s3a.impl": "y"}, scope=scope)
        assert not any(value.allowed for value in policy.validate(asked))


@pytest.mark.parametrize(
    ("scope", "name", "allowed"),
    [
        ("source", "user", True),
        ("source", "PASSWORD", True),
        ("source", "url", False),
        ("source", "kafka.sasl.jaas.config", True),
        ("source", "kafka.bootstrap.servers", False),
        ("session", "fs.s3a.secret.key", True),
        ("application", "spark.hadoop.fs.s3a.bucket.b1.secret.key", True),
        ("application", "spark.hadoop.fs.s3a.aws.credentials.provider", False),
        ("application", "spark.yarn.keytab", True),
        ("application", "spark.kerberos.keytab", True),
        ("catalog", "spark.sql.catalog.pg.password", True),
        ("catalog", "spark.sql.catalog.pg.url", False),
        ("hadoop", "fs.azure.account.key.acme.dfs.core.windows.net", True),
        ("hadoop", "fs.defaultFS", False),
        ("connector", "sasl.mechanism", True),
        ("connector", "SASL.MECHANISM", False),
        ("worker", "user", False),
    ],
)
def test_principal(scope, name, allowed):
    [value] = make_policy("Principal", {}, {}).validate(request({name: "x"}, scope=scope))
    assert value.allowed is allowed


@pytest.mark.parametrize("given", [["a", "b"], ("a", "b"), [" a ", "b"], "a,b", " a , b "])
def test_an_allowlist_may_be_a_list(given):
    [first, second, third] = make_policy("Allowlist", {"allowlist": given}, {}).validate(
        request(dict.fromkeys(["a", "b", "c"], "1"))
    )
    assert (first.allowed, second.allowed, third.allowed) == (True, True, False)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"a": "b"}, "names as its param 'allowlist'.* got dict"),
        (["a", 1], "got list"),
        (None, "got NoneType"),
        (7, "got int"),
        (["a", "a"], "must not be duplicated"),
        (["a", " "], "must not be empty"),
        ("a,,b", "must not be empty"),
        (",", "duplicated"),
    ],
)
def test_an_allowlist_that_is_none_says_so(given, problem):
    with pytest.raises(ConfigurationError, match=problem):
        make_policy("Allowlist", {"allowlist": given}, {})


def test_an_allowlist_takes_all_spellings_of_a_spark_key_and_no_wildcard():
    policy = make_policy("Allowlist", {"allowlist": "spark.executor.memoryOverhead, spark.sql.*"}, {})
    names = ["spark.yarn.executor.memoryOverhead", "spark.executor.memoryoverhead", "spark.sql.ansi.enabled"]
    values = policy.validate(request(dict.fromkeys(names, "1")))
    assert [value.allowed for value in values] == [True, True, False]

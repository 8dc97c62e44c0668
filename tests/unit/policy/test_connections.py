"""Policies and named connections: who may use one, and what its references may do."""

from __future__ import annotations

import pytest

from sparkconfig.policy.request import StatementItem
from sparkconfig.secret import Secret
from unit.policy.helpers import CANARY, VAULT, engine, request

REFERENCE = "${vault:db/shop:password}"
URL = "jdbc:postgresql://db/shop"
SHOP = {
    "connections__shop__format": "jdbc",
    "connections__shop__option__url": URL,
    "connections__shop__option__password": REFERENCE,
    "providers": "vault",
}
FORBID = {"references": [{"type": "forbid", "provider": "vault"}]}
OPTIONS = {
    "url": URL,
    "password": REFERENCE,
    "sparkconfig.connection": "shop",
    "driver": "org.postgresql.Driver",
}


def use(found, name, access="read", **who):
    who = {"job_type": "connect", **who}
    return found.check_statement(request(**who), [StatementItem("connection", name, access)])


@pytest.fixture
def rules(tmp_path):
    return engine(
        tmp_path,
        {
            "connections": [
                {"type": "allow", "connection": "shop", "jobTypes": ["connect"]},
                {"type": "allow", "connection": ["look*"], "access": "read"},
                {"type": "allow", "connection": "own", "users": "ana"},
                {"type": "forbid", "connection": "*-Admin", "message": "ask the administrators"},
            ]
        },
        **SHOP,
    )


def test_who_may_use_a_connection(rules):
    assert use(rules, "shop").allowed
    assert use(rules, "shop", "write").allowed
    assert use(rules, "lookup").allowed
    assert not use(rules, "lookup", "write").allowed
    assert not use(rules, "shop", job_type="sql").allowed
    assert not use(rules, "SHOP").allowed
    assert use(rules, "own", user="ana", authenticated=True).allowed
    assert not use(rules, "own", user="ana").allowed
    assert not use(rules, "own", user="bob", authenticated=True).allowed
    assert "ask the administrators" in str(use(rules, "look-admin").message)


def test_a_refusal_says_what_to_do(rules):
    found = use(rules, "other", "write")
    assert "connection other: no rule lets a connect job send SQL of its own or write through this" in str(
        found.message
    )
    assert "no rule under connections" in str(found.message)


def test_without_rules_about_connections_all_may_use_them(tmp_path):
    assert use(engine(tmp_path, FORBID, **SHOP), "shop").allowed


def test_rules_about_connections_ask_about_no_statement(rules):
    assert not rules.evaluates_statements("connect")


def connect(found, principal="", **changes):
    options = {key: text for key, text in {**OPTIONS, **changes}.items() if text is not None}
    who = {"user": principal, "authenticated": bool(principal)}
    asked = request(job_type="connect", scope="source", formats=("jdbc",), target=options, **who)
    return found.check_connection(asked, options)


def test_a_connection_may_use_its_own_references_where_users_may_not(tmp_path):
    found = engine(tmp_path, FORBID, **SHOP)
    assert connect(found).allowed
    assert connect(found, dbtable="orders").allowed
    alone = connect(found, **{"sparkconfig.connection": None})
    assert not alone.allowed
    direct = found.check(
        request({"password": REFERENCE, "url": URL}, job_type="connect", scope="source", formats=("jdbc",))
    )
    assert not direct.allowed
    # At a point of use that does not know for what; the doors and check_connection do.
    assert found.check_use(request(job_type="connect"), [{"": REFERENCE}], point_of_use=True).allowed
    assert not found.check_use(request(job_type="connect"), [{"": REFERENCE}]).allowed


def test_a_connection_opens_for_who_may_use_it(tmp_path):
    """Whoever made the relation."""
    found = engine(
        tmp_path, {"connections": [{"type": "allow", "connection": "shop", "users": "ana"}]}, **SHOP
    )
    assert [connect(found, user).allowed for user in ("ana", "bob", "")] == [True, False, False]


def test_what_is_for_every_session(tmp_path):
    """The operator's own text, unless a rule about references is about users."""
    alone, operators = {"sparkconfig.connection": None}, {"spark.sql.catalog.shop.password": REFERENCE}
    rule = {"type": "allow", "provider": "vault"}
    anything = {"rules": [{"key": "spark.shop.front", "type": "unlimited"}]}
    for rules, defaults, expected in (
        ([rule], operators, True),
        ([rule], {}, False),
        ([{**rule, "users": "ana"}], operators, False),
        ([{**rule, "path": "users/{user}/*"}], operators, False),
        ([], operators, True),
    ):
        found = engine(tmp_path, {"references": rules, **anything}, defaults=defaults, **VAULT)
        decided = connect(found, "ana", **alone)
        assert (decided.allowed, decided.everyones) == (True, expected), (rules, defaults)
    assert not connect(engine(tmp_path, anything, **SHOP), "ana").everyones


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "jdbc:postgresql://evil/shop"},
        {"password": "${vault:db/admin:password}"},
        {"socketFactory": "com.acme.Own"},
        {"user": REFERENCE},
        {"sparkconfig.connection": "other"},
        {"SparkConfig.Connection": "other", "sparkconfig.connection": None},
    ],
)
def test_options_that_are_not_the_connections_are_refused(tmp_path, changes):
    found = connect(engine(tmp_path, FORBID, **SHOP), **changes)
    assert not found.allowed
    assert "evil" not in str(found.message)


def test_a_url_that_is_a_reference_counts_by_its_value(tmp_path):
    settings = {**SHOP, "connections__shop__option__url": "${vault:db/shop:url}"}

    def resolve(texts):
        return {name: Secret(URL if "url" in text else CANARY) for name, text in texts.items()}

    found = engine(tmp_path, FORBID, resolve=resolve, **settings)
    assert connect(found).allowed
    refused = connect(found, url="jdbc:postgresql://evil/shop")
    assert not refused.allowed
    assert CANARY not in str(refused.message)


JDBC = {"formats": "*jdbc*", "scopes": ["source"]}
DRIVERS = {"key": "driver", "type": "allowlist", "values": ["org.postgresql.Driver"], **JDBC}
OURS = {"key": "url", "type": "regex", "pattern": "jdbc:postgresql://db/.*", **JDBC}
LISTED = {
    "rules": [
        {"key": "*", "type": "forbidden", "scopes": ["source", "sink"]},
        {"key": ["user", "password"], "type": "unlimited", **JDBC},
        OURS,
        DRIVERS,
    ],
    "statements": [{"type": "allow", "statement": "show-*"}],
}


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"url": URL}, True),
        ({"url": URL, "user": "a", "password": "b", "driver": "org.postgresql.Driver"}, True),
        ({"url": "jdbc:derby:memory:mine;create=true"}, False),
        ({"URL": "jdbc:postgresql://evil/shop"}, False),
        ({"url": URL, "driver": "com.acme.Own"}, False),
        ({"url": URL, "socketFactory": "com.acme.Own"}, False),
        ({"url": URL, "sessionInitStatement": "CALL x()"}, False),
    ],
)
def test_a_connection_without_references_is_what_rules_let_a_source_have(tmp_path, options, allowed):
    found = engine(tmp_path, LISTED)
    asked = request(job_type="connect", scope="source", formats=("jdbc",), target=options)
    decided = found.check_connection(asked, options, tuple(options))
    assert (decided.allowed, decided.everyones) == (allowed, False)
    assert "evil" not in str(decided.message)
    # The driver that follows from a URL is nobody's choice.
    assert found.check_connection(asked, {**options, "driver": "any"}, [*options][:1]).allowed == (
        options.get("url") == URL
    )

"""Named connections: what the settings may say, and what users may set beside them."""

from __future__ import annotations

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.schema import declared, parse

SHOP = {
    "format": "jdbc",
    "option.url": "jdbc:postgresql://db/shop",
    "option.user": "shop",
    "option.password": "${vault:db/shop:password}",
}


def confs(name: str = "shop", **changes: str | None) -> dict[str, str]:
    parts = {**SHOP, **{key.replace("__", "."): text for key, text in changes.items()}}
    return {f"spark.config.connections.{name}.{key}": text for key, text in parts.items() if text is not None}


def test_a_connection():
    shop = parse(confs()).connections["shop"]
    assert (shop.name, shop.format) == ("shop", "jdbc")
    assert shop.options["password"] == "${vault:db/shop:password}"
    assert "postgresql" not in repr(shop)
    assert all(each.metadata["name"] != "connections" for each in declared())


def test_what_users_may_set():
    shop = parse(confs()).connections["shop"]
    assert shop.sets("URL")
    assert shop.text("Password") == "${vault:db/shop:password}"
    for option in ("dbtable", "Query", "checkpointLocation", "numPartitions"):
        assert shop.lets_users_set(option), option
    for option in (
        "url",
        "USER",
        "driver",
        "socketFactory",
        "connectionProvider",
        "sessionInitStatement",
        "keytab",
    ):
        assert not shop.lets_users_set(option), option


def test_the_operator_lists_what_users_may_set():
    found = parse(confs(user__options="dbtable, Session*")).connections["shop"]
    assert found.lets_users_set("sessionInitStatement")
    assert not found.lets_users_set("query")
    other = parse(confs(format="com.acme.Source")).connections["shop"]
    assert not other.lets_users_set("table")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (confs(format=None), "connections.shop.format: the connection 'shop' needs the data source"),
        (confs(format=" "), "needs the data source"),
        (confs(format="Parquet"), "a connection cannot be for parquet"),
        (confs(format="sparkconfig"), "a connection cannot be for sparkconfig"),
        (confs(name="9shop"), "the name of a connection begins with a letter"),
        (confs(name="a b"), "the name of a connection begins with a letter"),
        (confs(name="x" * 65), "64 at most"),
        ({"spark.config.connections.": "x"}, "the name of a connection begins with a letter"),
        ({"spark.config.connections.shop": "x"}, "no such setting of a connection"),
        (
            confs(options__url="x"),
            "no such setting of a connection; did you mean spark.config.connections.shop.option.KEY",
        ),
        (confs(formt="x"), "did you mean spark.config.connections.shop.format?"),
        (confs(option__="x"), "no such setting of a connection"),
        (confs(option__URL="x"), "set twice, in other cases of letters"),
        ({"spark.config.connections.shop.format": "jdbc"}, "sets no option"),
        (
            {**confs(), "spark.config.connections.shop.option.sparkconfig.connection": "b"},
            "not a data source's",
        ),
        (confs(name="shop.eu"), "no such setting of a connection"),
        (confs(option__user="app_{user}"), "{user} is not filled in here"),
    ],
)
def test_mistakes_are_named(wrong, problem):
    with pytest.raises(ConfigurationError) as caught:
        parse(wrong)
    assert problem in str(caught.value)
    assert "vault:" not in str(caught.value)
    assert "postgresql" not in str(caught.value)


def test_mistakes_are_told_with_those_of_other_settings():
    with pytest.raises(ConfigurationError) as caught:
        parse({**confs(format=None), "spark.config.unresolved": "maybe"})
    assert len(caught.value.problems) == 2

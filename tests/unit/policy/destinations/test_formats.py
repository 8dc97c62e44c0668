"""Where sources other than JDBC send their credentials."""

from __future__ import annotations

import pytest

from sparkconfig.policy.destinations.formats import Formats
from sparkconfig.policy.destinations.places import UnclearError, url_of

PORTS = {"bolt": 7687, "neo4j+s": 7687}


def place(name: str, options: dict[str, str]) -> str:
    formats = Formats()
    found = formats.of([name], options, "")
    assert found is not None
    return str(formats.place(found, options))


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("neo4j", {"url": "Bolt://Graph.example/shop"}, "bolt://graph.example:7687/shop"),
        ("neo4j", {"URL": "neo4j+s://graph.example:7000"}, "neo4j+s://graph.example:7000"),
        ("kafka", {"kafka.bootstrap.servers": "k1:9093, k2"}, "k1:9093,k2:9092"),
        ("cassandra", {"spark.cassandra.connection.host": "c1"}, "c1:9042"),
        ("cassandra", {"spark.cassandra.connection.host": "c1,c2", "spark.cassandra.connection.port": "9999"},
         "c1:9999,c2:9999"),
        ("es", {"es.nodes": "e1", "es.port": "9201"}, "e1:9201"),
        ("opensearch", {"opensearch.nodes": "o1", "opensearch.port": "9201"}, "o1:9201"),
        ("snowflake", {"sfURL": "https://a.snowflakecomputing.com/"}, "a.snowflakecomputing.com:443"),
        ("redis", {"host": "r1", "port": "7000"}, "r1:7000"),
        ("bigquery", {"table": "shop.orders"}, "https://bigquery.googleapis.com:443"),
        ("mongodb", {"connection.uri": "mongodb://${vault:a/b:user}:${vault:a/b:pw?}@M1,m2:1/shop?w=1"},
         "mongodb://m1:27017,m2:1/shop"),
        ("mongodb", {"spark.mongodb.read.connection.uri": "mongodb+srv://u:p@m.example"}, "mongodb+srv://m.example"),
        ("iceberg", {"uri": "https://Rest.example/ws", "rest.auth.type": "oauth2"}, "https://rest.example:443/ws"),
        ("iceberg", {"uri": "jdbc:postgresql://db/cat", "jdbc.user": "u", "jdbc.password": "p"},
         "jdbc:postgresql://db:5432/cat"),
        ("hive", {"javax.jdo.option.ConnectionURL": "jdbc:mysql://db/hive",
                  "javax.jdo.option.ConnectionDriverName": "com.mysql.cj.jdbc.Driver"}, "jdbc:mysql://db:3306/hive"),
    ],
)  # fmt: skip
def test_the_place_that_options_name(name, options, expected):
    assert place(name, options) == expected


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("mongodb", {"connection.uri": "mongodb://u:p@${vault:a:h}/x"}, "characters that have no place"),
        ("mongodb", {"connection.uri": "${vault:a:uri}"}, "not a URL with a host"),
        ("mongodb", {"connection.uri": "mongodb://u:$[env=p]@m/x"}, "not closed, or a substitution"),
        ("mongodb", {"connection.uri": "mongodb://u:p@m1@m2/x"}, "more than one @"),
        ("mongodb", {"connection.uri": "mongodb://u@m/x?proxyHost=evil"}, "a parameter of its URI"),
        ("mongodb", {"connection.uri": "mongodb://u@m/x?w=${vault:a:b}"}, "a parameter of its URI"),
        ("mongodb", {"connection.uri": "mongodb://u@m/x#w"}, "more than parameters"),
        ("mongodb", {"connection.uri": "mongodb://u:\x01@m/x"}, "no place in one"),
        ("mongodb", {"connection.uri": "mongodb://m/", "mongoClientFactory": "x"}, "'mongoclientfactory' could lead"),
        ("bigquery", {"bigQueryHttpEndpoint": "https://evil"}, "'bigqueryhttpendpoint' could lead"),
        ("bigquery", {"universeDomain": "evil.example"}, "'universedomain' could lead"),
        ("bigquery", {"proxyAddress": "evil"}, "'proxyaddress' could lead"),
        ("iceberg", {}, "not one of the options uri"),
        ("iceberg", {"uri": "https://r/?a=b"}, "more than a URL's path"),
        ("iceberg", {"uri": "https://r", "oauth2-server-uri": "https://evil"}, "'oauth2-server-uri' could lead"),
        ("iceberg", {"uri": "https://r", "rest.auth.type": "com.acme.Own"}, "'rest.auth.type' could lead"),
        ("iceberg", {"uri": "https://r", "url": "jdbc:x"}, "'url' could lead"),
        ("iceberg", {"uri": "jdbc:postgresql://db/c", "jdbc.socketFactory": "x"}, "'jdbc.socketfactory' could lead"),
        ("hive", {"javax.jdo.option.ConnectionURL": "jdbc:mysql://db/hive",
                  "javax.jdo.option.ConnectionDriverName": "org.h2.Driver"}, "not the class of the driver"),
        ("kafka", {"kafka.bootstrap.servers": "k1", "kafka.config.providers.a.class": "com.acme.Own"},
         "'kafka.config.providers.a.class' could lead"),
        ("opensearch", {"es.nodes": "o1"}, "not one of the options opensearch.nodes"),
        ("neo4j", {}, "not one of the options url"),
        ("neo4j", {"url": "http://graph.example/shop"}, "begins with none of bolt, bolt"),
        ("neo4j", {"url": "graph.example"}, "not a URL with a host"),
        ("neo4j", {"url": "bolt://graph.example/shop?x=y"}, "more than a URL's path"),
        ("neo4j", {"url": "bolt://${env:h}/shop"}, "holds a reference"),
        ("neo4j", {"url": "bolt://$[sysProp=h]/shop"}, "holds a reference"),
        ("kafka", {"kafka.bootstrap.servers": "${env:h}:9092"}, "holds a reference"),
        ("kafka", {"kafka.bootstrap.servers": "$[sysProp=h]:9092"}, "holds a reference"),
        ("kafka", {"kafka.bootstrap.servers": "k1", "kafka.some.class": "x"}, "'kafka.some.class' could lead"),
        ("kafka", {"kafka.bootstrap.servers": "k1", "kafka.<x>.class": "x"}, r"'\?' could lead"),
        ("jdbc", {"url": "jdbc:postgresql://db/x", "connectionProvider": "mine"}, "chooses who connects"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_no_place(name, options, why):
    with pytest.raises(UnclearError, match=why):
        place(name, options)


@pytest.mark.parametrize("text", ["bolt://${env:h}/x", "bolt://h/$[env=x]", "h:1", "ftp://h/", "bolt:/h"])
def test_what_is_no_url_of_a_source(text):
    with pytest.raises(UnclearError):
        url_of(text, PORTS)


def test_the_rest_behind_a_urls_path():
    found, rest = url_of("BOLT://H/a/b?c=d#e", PORTS)
    assert (str(found), found.path, rest) == ("bolt://h:7687/a/b", ("a", "b"), "?c=d#e")


def test_a_url_of_an_unknown_driver_is_exact_only_without_more():
    formats = Formats()
    source = formats.of(["jdbc"], {}, "")
    assert source is not None
    url = "jdbc:unknown:x"
    assert formats.exact(source, {"url": url, "user": "a", "password": "b"}) == url
    assert formats.exact(source, {"url": url, "sslfactory": "x"}) is None
    for text in ("jdbc:unknown:${env:x}", "jdbc:unknown:$[env=x]"):
        assert formats.exact(source, {"url": text}) is None
    mongo = formats.of(["mongodb"], {}, "")
    assert mongo is not None
    assert formats.exact(mongo, {"url": url}) is None


def test_keys_of_a_catalogs_storage_do_not_go_to_the_catalog():
    formats = Formats()
    source = formats.of(["iceberg"], {}, "")
    assert source is not None
    options = {"uri": "https://rest.example", "s3.secret-access-key": "x", "token": "y"}
    assert str(formats.place(source, options, "token")) == "https://rest.example:443"
    with pytest.raises(UnclearError, match="this credential"):
        formats.place(source, options, "s3.secret-access-key")

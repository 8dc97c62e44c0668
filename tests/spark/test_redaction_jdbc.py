"""JDBC drivers take URLs apart and quote them: 27 shapes of URLs, ten passwords, none in an error."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from leaks.support import bare_jvm
from sparkconfig.redaction import Registry
from support.maven import maven_jars
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import shim_jar

pytestmark = pytest.mark.spark

DRIVERS = [
    "org.postgresql:postgresql:42.7.4",
    "org.mariadb.jdbc:mariadb-java-client:3.4.1",
    "com.mysql:mysql-connector-j:9.1.0",
    "com.clickhouse:clickhouse-jdbc:0.7.1:all",
    "com.oracle.database.jdbc:ojdbc11:23.5.0.24.07",
    "com.microsoft.sqlserver:mssql-jdbc:12.8.1.jre11",
    "com.h2database:h2:2.3.232",
    "com.ibm.db2:jcc:11.5.9.0",
]
#: With every sign that means something in an URL.
PASSWORDS = [
    "pA5s/w0rdQz71Kx",
    "Xk29dLq#Tr4nsp0rt9",
    "q7Vb?mN3zLp0aR",
    "hunter2Zx:9KdLwQ71",
    "Lq81mZ@rT5nXw0pE",
    "pc%41tB7yHq2%Zk9",
    "ab/cd#ef?gh:ij@kl%mn0P9q",
    "Zx9!kL2mQw&pass=Rt7Yu1",
    "tR4nsp0rt;Kx93=LmQ2wE",
    "Sp ace D7hQ2[kL9]{mN4}",
]
SHAPES = [
    "postgresql://shop:{}@{at}/shop",
    "postgresql://{at}/shop?user=shop&password={}",
    "postgresql://{at}/shop?user=shop&password={}&sslmode=nope",
    "postgresql://127.0.0.1:{}/shop",
    "mariadb://shop:{}@{at}/shop",
    "mariadb://{at}/shop?user=shop&password={}",
    "mariadb://{at}/shop?password={}&sslMode=nope",
    "mariadb:sequential://shop:{}@{at}/shop",
    "mysql://shop:{}@{at}/shop",
    "mysql://{at}/shop?user=shop&password={}",
    "mysql://{at}/shop?password={}&sslMode=nope",
    "mysql://address=(host=127.0.0.1)(port={port})(user=shop)(password={})/shop",
    "mysql://(host=127.0.0.1,port={port},user=shop,password={})/shop",
    "clickhouse://shop:{}@{at}/shop",
    "clickhouse://{at}/shop?user=shop&password={}",
    "ch:http://shop:{}@{at}/shop",
    "oracle:thin:shop/{}@{at}/shop",
    "oracle:thin:shop/{}@//{at}/shop",
    'oracle:thin:shop/"{}"@{at}:shop',
    "oracle:thin:@tcp://{at}/shop?user=shop&password={}",
    "sqlserver://{at};user=shop;password={};encrypt=nope",
    "sqlserver://{at};user=shop;password={}",
    "sqlserver://shop:{}@{at};databaseName=shop",
    "h2:tcp://{at}/shop;USER=shop;PASSWORD={}",
    "h2:mem:shop;USER=shop;PASSWORD={};NOPE=1",
    "db2://{at}/shop:user=shop;password={};",
    "db2://shop:{}@{at}/shop",
]


def shown(password: str, text: str) -> bool:
    return password.lower() in text.lower()


def test_no_password_is_in_the_error_of_a_driver(harness_run):
    cache = Path(__file__).parents[2] / ".cache"
    jars = maven_jars(harness_run, "jdbc-drivers-1", DRIVERS, cache=cache, transitive=False)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]  # nobody listens there
        errors = list(_errors(jars, port))
    quoting = {url.partition(":")[0] for password, url, raw, _ in errors if shown(password, raw)}
    assert {"postgresql", "mariadb", "mysql", "clickhouse", "oracle"} <= quoting, (
        "drivers that quote passwords"
    )
    python = Registry()
    python.register(PASSWORDS)
    for password, url, raw, masked in errors:
        assert not shown(password, masked), f"{url}, by the JVM: password {PASSWORDS.index(password)}"
        assert not shown(password, python.redact(raw)), (
            f"{url}, by Python: password {PASSWORDS.index(password)}"
        )


def test_a_name_that_a_database_cuts_is_not_told(postgres, pg_driver, tmp_path):
    name = "".join(f"{number * number * 7919:06x}kQzR" for number in range(1, 12))
    (tmp_path / "store.properties").write_text(f"name={name}\nshort={name[:60]}\n")
    conf = {
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    options = {"url": postgres.jdbc_url("postgres"), "dbtable": "a", "driver": "org.postgresql.Driver"}
    with running_session(conf, folder=tmp_path) as spark:
        told = {}
        for key in ("name", "short"):
            login = {"user": f"${{files:{tmp_path}/store.properties:{key}}}", "password": "x"}
            with pytest.raises(Exception) as error:
                spark.read.format("jdbc").options(**options, **login).load()
            java = spark._jvm.java.io.StringWriter()
            error.value._origin.printStackTrace(spark._jvm.java.io.PrintWriter(java))
            told[key] = f"{error.value} {java.toString()}"
    assert not shown(name[:8], told["name"])
    assert ("text is withheld" in told["name"], "SQLState 28" in told["name"]) == (True, True), told["name"]
    assert "password authentication failed" in told["short"]


def _errors(jars, port):
    """Password, shape, the error with its stack trace, and the same masked."""
    with bare_jvm(classes=":".join(map(str, jars))) as gateway:
        redactor = scala_object(gateway.jvm, "io.sparkconfig.redaction.engine.Redactor")
        redactor.registerAll(PASSWORDS)
        manager = gateway.jvm.java.sql.DriverManager
        manager.setLoginTimeout(2)
        for url in SHAPES:
            for password in PASSWORDS:
                written = url.format(password, at=f"127.0.0.1:{port}", port=port)
                try:
                    manager.getConnection(f"jdbc:{written}")
                except Exception as error:
                    text = gateway.jvm.java.io.StringWriter()
                    error.java_exception.printStackTrace(gateway.jvm.java.io.PrintWriter(text))
                    raw = text.toString()
                    yield password, url, raw, redactor.redact(raw)

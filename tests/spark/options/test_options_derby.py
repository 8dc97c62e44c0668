"""JDBC with Derby, which is in Spark's jars: another driver, and one that lives in the process that connects."""

from __future__ import annotations

import pytest

from support.jdbc import DERBY

pytestmark = pytest.mark.spark

URL = "jdbc:derby:memory:options"


class Derby:
    """A database in the driver's memory that asks for a password."""

    def __init__(self, doors) -> None:
        self._jvm = doors.classic._jvm
        self._password = doors.passwords[-1]
        self._run(f"{URL};create=true", "CREATE TABLE keeper.numbers (id INT)",
                  "INSERT INTO keeper.numbers VALUES (1), (2)",
                  self._property("derby.user.keeper", self._password),
                  self._property("derby.authentication.provider", "BUILTIN"),
                  self._property("derby.connection.requireAuthentication", "true"),
                  # Spark starts its JVMs with a property that turns authentication off, and counts for more otherwise.
                  self._property("derby.database.propertiesOnly", "true"))  # fmt: skip
        # Authentication is read when a database starts.
        self._try(f"{URL};shutdown=true")

    def set_password(self, password: str) -> None:
        self._run(URL, self._property("derby.user.keeper", password))
        self._password = password

    def accepts(self, password: str) -> bool:
        mine, self._password = self._password, password
        try:
            self._connect(URL).close()
        except Exception as error:
            if "08004" in str(error):
                return False
            raise
        finally:
            self._password = mine
        return True

    def drop(self) -> None:
        self._try(f"{URL};drop=true")

    def _property(self, key: str, value: str) -> str:
        quoted = value.replace("'", "''")
        return f"CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('{key}', '{quoted}')"

    def _run(self, url: str, *statements: str) -> None:
        connection = self._connect(url)
        for text in statements:
            statement = connection.createStatement()
            statement.execute(text)
            statement.close()
        connection.close()

    def _connect(self, url: str):
        properties = self._jvm.java.util.Properties()
        properties.setProperty("user", "keeper")
        properties.setProperty("password", self._password)
        self._jvm.java.lang.Class.forName(DERBY)
        return self._jvm.java.sql.DriverManager.getConnection(url, properties)

    def _try(self, url: str) -> None:
        """Derby reports the end of a database as an error."""
        with pytest.raises(Exception, match="08006"):
            self._connect(url)


@pytest.fixture
def derby(doors):
    """The test's rotations reach the database too."""
    database = Derby(doors)
    try:
        assert not database.accepts("another password")
        yield database
    finally:
        database.drop()


@pytest.fixture
def options(doors) -> dict[str, str]:
    return {"url": URL, "driver": DERBY, "user": "keeper", "password": doors.ref(), "dbtable": "numbers"}


def rotate(doors, derby) -> None:
    doors.rotate()
    derby.set_password(doors.passwords[-1])


def test_read_and_write(doors, derby, options):
    frame = doors.spark.read.format("jdbc").options(**options).load()
    assert doors.ids(frame) == [1, 2]
    rotate(doors, derby)
    assert doors.ids(frame) == [1, 2]
    doors.spark.range(3, 4).selectExpr("int(id) ID").write.format("jdbc").options(**options).mode(
        "append"
    ).save()
    rotate(doors, derby)
    properties = {key: options[key] for key in ("user", "password", "driver")}
    read = doors.spark.read.jdbc(URL, "numbers", predicates=["id < 3", "id >= 3"], properties=properties)
    assert doors.ids(read) == [1, 2, 3]


def test_password_in_the_url(doors, derby, options):
    del options["password"], options["user"]
    doors.put(plain="plainEnough77Password")
    derby.set_password("plainEnough77Password")
    frame = doors.spark.read.format("jdbc").options(**options)
    frame = frame.option("url", f"{URL};user=keeper;password={doors.ref('plain')}").load()
    assert doors.ids(frame) == [1, 2]


def test_table(doors, derby, options):
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} USING jdbc OPTIONS {doors.sql_options(options)}")
    assert doors.ids(doors.spark.table(table)) == [1, 2]
    rotate(doors, derby)
    doors.spark.sql(f"INSERT INTO {table} SELECT 3")
    assert doors.ids(doors.spark.table(table)) == [1, 2, 3]
    doors.spark.sql(f"DROP TABLE {table}")


def test_a_refused_password_is_derbys_own_error(doors, derby, options):
    derby.set_password("something else")
    assert not derby.accepts(doors.passwords[-1])
    with pytest.raises(Exception, match=r"08004|authentication|FAILED_JDBC") as error:
        doors.spark.read.format("jdbc").options(**options).load().collect()
    # Spark 4's own text only says that it could not connect.
    told = f"{error.value} {getattr(error.value, '_cause', None)}"
    assert "authentication" in told
    doors.assert_hidden(told)

"""MariaDB by JDBC, with its own driver."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from real.sources.base import CACHE, Store, Unavailable
from real.sources.jdbc import JdbcSource
from support.jdbc import artifact_jar
from support.postgres import free_port, new_password
from support.processes import Run, wait_until

_DRIVER = "org.mariadb.jdbc:mariadb-java-client:3.5.3"
_USER = "shop"


class MariaDb(JdbcSource):
    """An account whose password changes."""

    name = "mariadb"
    title = "MariaDB (Debian's mariadb-server), JDBC (MariaDB Connector/J 3.5.3)"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        if not all(map(shutil.which, ("mariadbd", "mariadb-install-db", "mariadb"))):
            raise Unavailable("MariaDB is not installed: apt-get install mariadb-server")
        self._home = run.private_dir("mariadb")
        self._port = free_port()
        # The administrator logs in through the socket as the operating system's user, without a password.
        account = "root" if os.geteuid() == 0 else os.environ["USER"]
        data = self._home / "data"
        made = subprocess.run(
            ["mariadb-install-db", f"--datadir={data}", f"--user={account}", "--skip-test-db",
             "--auth-root-authentication-method=socket", f"--auth-root-socket-user={account}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert made.returncode == 0, made.stdout[-1000:] + made.stderr[-1000:]
        run.start(
            "mariadb",
            ["mariadbd", "--no-defaults", f"--datadir={data}", f"--user={account}", f"--port={self._port}",
             "--bind-address=127.0.0.1", f"--socket={self._home}/socket", f"--pid-file={self._home}/pid",
             "--innodb-flush-log-at-trx-commit=0"],
        )  # fmt: skip
        wait_until("MariaDB to answer", lambda: self._sql("select 1", check=False) == "1", timeout=60)
        self._password = new_password()
        self._sql(f"create database {_USER}")
        self._sql(f"create user '{_USER}'@'127.0.0.1' identified by '{_quoted(self._password)}'")
        self._sql(f"grant all on {_USER}.* to '{_USER}'@'127.0.0.1'")
        store.publish({"mariadb.password": self._password})

    def jars(self) -> list[Path]:
        return [artifact_jar(self.run, _DRIVER, cache=CACHE)]

    def rotate(self) -> None:
        old, self._password = self._password, new_password()
        self._sql(f"alter user '{_USER}'@'127.0.0.1' identified by '{_quoted(self._password)}'")
        for thread in self._sql(
            f"select id from information_schema.processlist where user = '{_USER}'"
        ).split():
            self._sql(f"kill {thread}", check=False)
        assert not self._lets_in(old), "the old password is taken"
        assert self._lets_in(self._password)
        self.store.publish({"mariadb.password": self._password})

    def _lets_in(self, password: str) -> bool:
        done = subprocess.run(
            ["mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(self._port), "-u", _USER, "-e", "select 1"],
            capture_output=True, check=False, env={**os.environ, "MYSQL_PWD": password},
        )  # fmt: skip
        assert done.returncode == 0 or b"Access denied" in done.stderr, done.stderr.decode()
        return done.returncode == 0

    def _sql(self, statement: str, *, check: bool = True) -> str:
        """As administrator; the statement goes over standard input, as command lines are public."""
        done = subprocess.run(
            ["mariadb", "--no-defaults", f"--socket={self._home}/socket", "-N", "-B"],
            input=statement, capture_output=True, text=True, check=False,
        )  # fmt: skip
        # The whole message quotes the statement, which may hold a password.
        said = re.findall(r"ERROR \d+ \(\w+\)", done.stderr)
        assert not check or done.returncode == 0, f"MariaDB refused a statement: {said}"
        return done.stdout.strip()

    def options(self) -> dict[str, str]:
        return {
            # permitMysqlScheme and the sessions' quotes: Spark uses its dialect for MySQL.
            "url": f"jdbc:mysql://127.0.0.1:{self._port}/{_USER}?permitMysqlScheme",
            "driver": "org.mariadb.jdbc.Driver",
            "user": _USER,
            "password": self.store.reference("mariadb.password"),
            "dbtable": "numbers",
        }


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")

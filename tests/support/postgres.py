"""A real PostgreSQL that is private to a run: loopback TCP, scram-sha-256, its data in the run's directory.

The programs come from PyPI's ``pgserver``. They are driven directly, because that package's own interface offers
neither TCP nor passwords, and opens directories above its data to everybody when it runs as root.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import os
import platform
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

from support.processes import PATIENCE, Child, HarnessError, Run, wait_until

PGSERVER = "pgserver==0.1.4"
_HOST = "127.0.0.1"


def new_password() -> str:
    """A random password with the characters that each layer of Spark's pages and logs escapes in its own way."""
    return f"{secrets.token_hex(8)}&<\"'+/%{secrets.token_hex(8)}"


class PostgresServer:
    """A running server. The superuser is this process's (or root's stand-in's) account over a private socket."""

    def __init__(self, run: Run, *, cache: Path, name: str = "postgres") -> None:
        """Create the data directory and start the server.

        Args:
            cache: where the programs are unpacked if this Python has no ``pgserver``.
            name: of its folder and its log; a second server of one run needs another.

        Raises:
            HarnessError: it cannot be started; the error names the log.
        """
        self.host = _HOST
        self.port = free_port()
        self._run = run
        self._name = name
        self._home = run.private_dir(name)
        self._user: int | None = None
        self._group: int | None = None
        install = _programs(cache)
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root. Its programs may lie where no other user can read them, so a copy
            # goes beside the data: nothing outside the run's directory changes.
            account = pwd.getpwnam("nobody")
            self._user, self._group = account.pw_uid, account.pw_gid
            install = _copy_programs(install, self._home)
            os.chown(self._home, self._user, self._group)
            _check_traversable(self._home)
        self._bin = install / "bin"
        self._data = self._home / "data"
        self._initialise()
        self._child = self._start()

    def _initialise(self) -> None:
        encoding = ("--encoding=UTF8", "--locale=C", "--auth-local=peer", "--auth-host=scram-sha-256")
        self._call(["initdb", "-D", self._data, *encoding, "--no-sync", "--no-instructions"])

    def _start(self) -> Child:
        settings = {
            "listen_addresses": self.host,
            "port": self.port,
            "unix_socket_directories": self._home,
            "password_encryption": "scram-sha-256",
            "fsync": "off",
            "shared_buffers": "16MB",
            "log_connections": "on",
        }
        arguments = [f"--{name}={value}" for name, value in settings.items()]
        child = self._run.start(
            self._name,
            [self._bin / "postgres", "-D", self._data, *arguments],
            env={"LC_ALL": "C"},
            cwd=self._home,
            user=self._user,
            group=self._group,
        )
        child.wait_for("database system is ready to accept connections", timeout=PATIENCE)
        return child

    def jdbc_url(self, database: str) -> str:
        """The JDBC address of a database, without user and password."""
        return f"jdbc:postgresql://{self.host}:{self.port}/{database}"

    def create(self, *, role: str, password: str, database: str) -> None:
        """Create a role with a password, and a database that it owns."""
        self.sql(f'CREATE ROLE "{role}" LOGIN')
        self.set_password(role, password)
        self.sql(f'CREATE DATABASE "{database}" OWNER "{role}"')

    def create_orders(self, database: str, rows: int = 100) -> None:
        """Make a database with a table ``orders``, which everybody may read, unless it is there."""
        if not self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"):
            self.sql(f'CREATE DATABASE "{database}"')
        table = f"CREATE TABLE IF NOT EXISTS orders AS SELECT generate_series(0, {rows - 1}) AS id"
        self.sql(f"{table}; GRANT SELECT ON orders TO PUBLIC", database=database)

    def set_password(self, role: str, password: str) -> None:
        """``ALTER ROLE``: sends the SCRAM verifier, so that the password itself is never in a server log."""
        self.sql(f"ALTER ROLE \"{role}\" PASSWORD '{scram_verifier(password)}'")

    def trust(self, *, database: str, role: str, address: str) -> None:
        """Let a role in without password, into one database and from one address; from elsewhere as before."""
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"host {database} {role} {address}/32 trust\n{rules.read_text()}")
        loaded = self.sql("SELECT pg_conf_load_time()")
        self.sql("SELECT pg_reload_conf()")
        wait_until("the new rule", lambda: self.sql("SELECT pg_conf_load_time()") != loaded, timeout=PATIENCE)

    def sql(self, statement: str, *, database: str = "postgres") -> str:
        """Run a statement as superuser; returns its rows, one a line, columns separated by ``|``."""
        return self.psql(statement, socket=self._home, port=self.port, database=database)

    @property
    def account(self) -> tuple[int | None, int | None]:
        """User and group of the server, None for this process's."""
        return self._user, self._group

    def psql(self, statement: str, *, socket: Path, port: int, database: str = "postgres") -> str:
        """Run a statement as superuser of a server of the same account."""
        options = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1")
        where = ("-h", socket, "-p", str(port), "-d", database)
        return self._call(["psql", *options, *where], text=statement)

    def accepts(self, *, role: str, password: str, database: str) -> bool:
        """Whether the server lets ``role`` in with ``password`` over TCP.

        Raises:
            HarnessError: the connection failed for another reason than a wrong password or a role without LOGIN.
        """
        passfile = self._run.private_file(f"pgpass-{secrets.token_hex(4)}", f"*:*:*:*:{_escape(password)}\n")
        if self._user is not None:
            os.chown(passfile, self._user, self._group or 0)
        try:
            where = ("-h", self.host, "-p", str(self.port), "-U", role, "-d", database)
            done = self._finish(["psql", "-X", "-w", *where, "-c", "select 1"], PGPASSFILE=str(passfile))
        finally:
            passfile.unlink()
        refusals = ("password authentication failed", "is not permitted to log in")
        if done.returncode != 0 and not any(text in done.stderr for text in refusals):
            raise HarnessError(f"psql could not ask PostgreSQL: {done.stderr.strip()}")
        return done.returncode == 0

    def output(self) -> str:
        """The server's log so far; it records connections, and never a password."""
        return self._child.output()

    def stop(self) -> None:
        """Fast shutdown: ends open connections and the server."""
        self._child.stop(signal.SIGINT)

    def _call(self, command: list[str | Path], text: str | None = None) -> str:
        done = self._finish(command, text)
        if done.returncode != 0:
            raise HarnessError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()}")
        return done.stdout.strip()

    def _finish(
        self, command: list[str | Path], text: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        program, *arguments = command
        return subprocess.run(
            [self._bin / program, *arguments],
            input=text,
            env=self._run.environment({"LC_ALL": "C", **variables}),
            capture_output=True,
            text=True,
            check=False,
            cwd=self._home,
            user=self._user,
            group=self._group,
            extra_groups=None if self._user is None else [],
        )


def scram_verifier(password: str, *, iterations: int = 4096) -> str:
    """What PostgreSQL stores for a password (RFC 5803): computed here, as psql's ``\\password`` does."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, server64 = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return f"SCRAM-SHA-256${iterations}:{salt64}${stored64}:{server64}"


def _escape(password: str) -> str:
    return password.replace("\\", "\\\\").replace(":", "\\:")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _programs(cache: Path) -> Path:
    """The ``pginstall`` folder of pgserver: installed, or from its wheel for another Python.

    The programs do not depend on the Python version, but pgserver publishes none for Python 3.13 and later.
    """
    found = importlib.util.find_spec("pgserver")
    if found and found.origin:
        return Path(found.origin).parent / "pginstall"
    install = cache / PGSERVER.replace("==", "-") / "pgserver" / "pginstall"
    if not install.is_dir():
        wheels = cache / "wheels"
        machine = f"manylinux2014_{platform.machine()}"
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        subprocess.run(
            [*pip, "--python-version", "3.12", "--platform", machine, "-d", wheels, PGSERVER], check=True
        )
        with zipfile.ZipFile(next(wheels.glob("pgserver-*.whl"))) as wheel:
            wheel.extractall(install.parent.parent)
        for program in (install / "bin").iterdir():
            program.chmod(0o755)
    return install


def _copy_programs(install: Path, target: Path) -> Path:
    package = install.parent
    for part in ("bin", "lib", "share"):
        shutil.copytree(install / part, target / package.name / install.name / part, symlinks=True)
    # auditwheel puts shared libraries beside the package, and the programs find them by relative path.
    shutil.copytree(package.with_name(f"{package.name}.libs"), target / f"{package.name}.libs")
    return target / package.name / install.name


def _check_traversable(path: Path) -> None:
    for parent in path.parents:
        if not parent.stat().st_mode & 0o001:
            raise HarnessError(
                f"PostgreSQL cannot run as root, and its stand-in user cannot enter {parent}: set TMPDIR to "
                "a directory that every user can enter, for example /tmp"
            )

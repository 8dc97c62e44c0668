"""FerretDB, a server of MongoDB's protocol in Go, with PostgreSQL behind it, which checks the passwords.

It is compiled from the modules that ``ferretdb/go.mod`` names.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from support.postgres import PostgresServer, free_port
from support.processes import HarnessError, Run, wait_until

VERSION = "1.24.2"
_DATABASE = "mongo"
_HERE = Path(__file__).parent / "ferretdb"


def can_be_built(cache: Path) -> bool:
    """Whether the program is in the cache, or Go is there to compile it."""
    return _program(cache).exists() or shutil.which("go") is not None


class MongoServer:
    """The server and its PostgreSQL. A user is a role there, and a database of MongoDB's a schema."""

    def __init__(self, run: Run, *, cache: Path, name: str, password: str) -> None:
        """Start both, with one user.

        Args:
            name: of the user, and of the folder; a second server of one run needs another.

        Raises:
            HarnessError: it cannot be compiled, or does not come up; its log says why.
        """
        self.user, self._started = name, 0
        self._postgres = PostgresServer(run, cache=cache, name=f"{name}-postgres")
        self._postgres.create(role=name, password=password, database=_DATABASE)
        self.host, self.port = "127.0.0.1", free_port()
        behind = f"postgres://{self._postgres.host}:{self._postgres.port}/{_DATABASE}"
        self._run, self._command = run, [_compiled(run, cache), f"{self.host}:{self.port}", behind]
        self._start(password)

    def _start(self, password: str) -> None:
        self._started += 1
        self._child = self._run.start(f"{self.user}-{self._started}", self._command)
        wait_until("FerretDB to let the user in", lambda: self.lets_in(password), timeout=60)

    def uri(self, password: str) -> str:
        """For clients; of a password without characters that URLs escape, or of a reference."""
        return f"mongodb://{self.user}:{password}@{self.host}:{self.port}/shop?authMechanism=PLAIN"

    def set_password(self, password: str) -> None:
        """Change it. No connection stays: FerretDB would keep its own to PostgreSQL for each password that it knows."""
        self._child.stop()
        self._postgres.set_password(self.user, password)
        self._start(password)

    def lets_in(self, password: str) -> bool:
        """Whether the user can log in with it now."""
        from pymongo import MongoClient
        from pymongo.errors import PyMongoError

        try:
            with MongoClient(self.uri(password), serverSelectionTimeoutMS=5000) as client:
                client["shop"].list_collection_names()
                return True
        except PyMongoError:
            return False


def _program(cache: Path) -> Path:
    return cache / f"ferretdb-{VERSION}"


def _compiled(run: Run, cache: Path) -> Path:
    program = _program(cache)
    if not program.exists():
        cache.mkdir(exist_ok=True)
        part = program.with_name(f"{program.name}.{os.getpid()}.part")
        child = run.start("ferretdb-build", ["go", "build", "-trimpath", "-o", part, "."], cwd=_HERE)
        if child.wait(timeout=900) != 0:
            raise HarnessError(f"could not compile FerretDB: {child.output().strip()[-1500:]}")
        part.replace(program)
    return program

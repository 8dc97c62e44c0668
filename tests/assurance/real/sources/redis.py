"""Redis through spark-redis, which reads its confs itself."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from real.sources.base import CACHE, Source, Store, Unavailable
from support.maven import maven_jars
from support.postgres import free_port
from support.processes import Run, wait_until

_SCHEMA = "id long, name string"
_CONNECTOR = "com.redislabs:spark-redis_2.12:3.0.0"


class Redis(Source):
    """A password of all users, as ``requirepass`` has it."""

    name = "redis"
    title = "Redis (Debian's redis-server), spark-redis 3.0.0"
    sparks = ("3.5",)

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        if not shutil.which("redis-server") or not shutil.which("redis-cli"):
            raise Unavailable("Redis is not installed: apt-get install redis-server")
        home, self._port = run.private_dir("redis"), free_port()
        self._password = secrets.token_hex(16)
        conf = run.private_file(
            "redis/redis.conf",
            f'bind 127.0.0.1\nport {self._port}\ndir {home}\nsave ""\nrequirepass {self._password}\n',
        )
        run.start("redis", ["redis-server", conf])
        wait_until("Redis to answer", lambda: self._ask("PING") == "PONG", timeout=30)
        store.publish({"redis.password": self._password})

    def jars(self) -> list[Path]:
        wanted = [_CONNECTOR, "redis.clients:jedis:3.9.0", "org.apache.commons:commons-pool2:2.11.1"]
        return maven_jars(self.run, "spark-redis-3.0.0", wanted, cache=CACHE, transitive=False)

    def confs(self) -> dict[str, str]:
        return {
            "spark.redis.host": "127.0.0.1",
            "spark.redis.port": str(self._port),
            "spark.redis.auth": self.store.reference("redis.password"),
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        # A row is a hash without its key: with the key alone there would be nothing to keep.
        frame = spark.createDataFrame([(number, str(number)) for number in numbers], _SCHEMA)
        frame.write.format("org.apache.spark.sql.redis").options(**self._options()).mode("append").save()

    def frame(self, spark: Any) -> Any:
        return (
            spark.read.format("org.apache.spark.sql.redis").options(**self._options()).schema(_SCHEMA).load()
        )

    def rotate(self) -> None:
        old, self._password = self._password, secrets.token_hex(16)
        self._ask(f"CONFIG SET requirepass {self._password}", password=old)
        self._ask("CLIENT KILL TYPE normal SKIPME yes")
        assert "WRONGPASS" in self._ask("PING", password=old), "the old password is taken"
        self.store.publish({"redis.password": self._password})

    def _options(self) -> dict[str, str]:
        return {"table": "numbers", "key.column": "id"}

    def _ask(self, command: str, *, password: str | None = None) -> str:
        """By standard input and environment, as command lines are public."""
        done = subprocess.run(
            ["redis-cli", "-h", "127.0.0.1", "-p", str(self._port)],
            input=command, capture_output=True, text=True, check=False,
            env={**os.environ, "REDISCLI_AUTH": password or self._password},
        )  # fmt: skip
        return (done.stdout + done.stderr).strip()

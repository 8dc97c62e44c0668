"""One Spark application that all tests of the doors share, with a secret that rotates."""

from __future__ import annotations

import contextlib
import io
import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.leaks import LeakFinder
from support.postgres import PostgresServer, new_password
from support.scala_objects import scala_object

ROLE = "keeper"

#: `spark.config.stale.expiry`: long enough for a few queries, and short enough to wait for its end.
STALE_EXPIRY_S = 20

#: Confs with `$[...]`; the application's environment and system properties have what they name.
SUBSTITUTED = {"SHOP_PASSWORD": "Canary-269-correct-horse", "SHOP_OPEN": "Visible-269-by-choice"}
TEXTS = {
    "spark.shop.region": "$[sysProp=shop.region]",
    "spark.shop.default": "$[sysProp/defaultValue=eu9/=shop.no.such.property]",
    "spark.shop.login": "ada@$[keyValue=spark.shop.region]",
    "spark.shop.pass": "$[envVar/redact/=SHOP_PASSWORD]",
    "spark.shop.open": "$[envVar=SHOP_OPEN]",
    "spark.shop.not": "qw$[asd_4Q!]uH6",
}


@dataclass
class Doors:
    """What the tests use.

    Attributes:
        sessions: by front, "classic" and, where there is one, "connect".
        spark: the session of the test at hand.
        refs: references by the secrets' keys.
    """

    folder: Path
    sessions: dict[str, Any]
    postgres: PostgresServer
    spark: Any = None
    passwords: list[str] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=itertools.count)

    @property
    def secrets_file(self) -> Path:
        return self.folder / "store.properties"

    @property
    def classic(self) -> Any:
        return self.sessions["classic"]

    @property
    def store(self) -> Any:
        return self.classic._jvm.sparkconfigtest.Store

    def through(self, front: str) -> Doors:
        """The application, seen through one of its fronts, with a fresh password and an empty store."""
        self.spark = self.sessions[front]
        self.rotate()
        self.store.clear()
        return self

    # Neither the file nor the key is named "secret" or "password": Spark's own redaction.regex looks at values too, and
    # hides such references from SET, from ${...} in SQL texts and from a Connect client's conf.get.
    def ref(self, key: str = "pw") -> str:
        return f"${{files:{self.secrets_file}:{key}}}"

    def put(self, **secrets: str) -> None:
        """Publish secrets, as an owner would, and have the driver read them."""
        self.secrets.update(secrets)
        part = self.secrets_file.with_suffix(".part")
        part.write_text("".join(f"{key}={value}\n" for key, value in self.secrets.items()))
        part.replace(self.secrets_file)
        if self.sessions:
            self.refresh()

    def rotate(self) -> None:
        """A new password: the store and the database refuse the old one from now on."""
        self.passwords.append(new_password())
        self.postgres.set_password(ROLE, self.passwords[-1])
        self.put(pw=self.passwords[-1])
        if self.sessions:
            self.store.setPassword(self.passwords[-1])

    def refresh(self) -> None:
        """The driver reads its stores now."""
        scala_object(self.classic._jvm, "io.sparkconfig.driver.DriverApi").refresh()

    def fill(self, *ids: int) -> None:
        """Put exactly these rows into the store."""
        self.store.clear()
        for id_ in ids:
            self.store.put(id_)

    def stored(self) -> list[int]:
        return sorted(self.store.ids())

    def path(self, name: str = "out") -> str:
        return str(self.folder / f"{name}-{next(self._numbers)}")

    def table(self, name: str = "t") -> str:
        return f"{name}_{next(self._numbers)}"

    def jdbc(self, table: str, **options: str) -> dict[str, str]:
        return {"url": self.postgres.jdbc_url(ROLE), "driver": "org.postgresql.Driver", "user": ROLE,
                "password": self.ref(), "dbtable": table, **options}  # fmt: skip

    def sql_options(self, options: dict[str, str]) -> str:
        return "(" + ", ".join(f"`{key}` '{value}'" for key, value in options.items()) + ")"

    def assert_hidden(self, *texts: str) -> None:
        """No password ever used is in these texts, whatever escaped it."""
        finder = LeakFinder(self.passwords)
        for text in texts:
            assert finder.count(text.encode()) == 0, "a password is shown"

    def ids(self, frame: Any) -> list[int]:
        """The rows of a frame, whose plans must not show a password."""
        self.assert_hidden(explained(frame))
        return sorted(row[0] for row in frame.collect())


def explained(frame: Any) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        frame.explain("extended")
    assert "Physical Plan" in out.getvalue()
    return out.getvalue()

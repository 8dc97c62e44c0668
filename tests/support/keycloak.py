"""A real Keycloak that is private to a run, from Maven's distribution: one realm, in memory, on loopback."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import urllib.error
import urllib.request
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from support.postgres import free_port, new_password
from support.processes import HarnessError, Run, wait_until
from support.spark_home import java

VERSION = "26.4.0"
REALM, CLIENT, USER = "shop", "spark", "ann"
#: Whom the tokens are for, besides the client itself.
AUDIENCE = "vault"
_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


class Keycloak:
    """The server.

    Attributes:
        url: of its realm; the issuer of its tokens.
        token_url: the token endpoint.
        secret: of the client, which may have tokens for itself and exchange those that are for it.
        life: seconds that an access token lives.
    """

    life = 60

    def __init__(self, run: Run, *, cache: Path) -> None:
        """Start it with a realm, and wait until that answers.

        Raises:
            HarnessError: it cannot be had, or does not come up; its log says why.
        """
        home = run.private_dir("keycloak")
        with zipfile.ZipFile(_distribution(run, cache)) as archive:
            archive.extractall(home)
        home /= f"keycloak-{VERSION}"
        self.secret, self._password = secrets.token_hex(16), new_password()
        realms = home / "data" / "import"
        realms.mkdir(parents=True)
        (realms / f"{REALM}.json").write_text(json.dumps(self._realm()))
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/realms/{REALM}"
        self.token_url = f"{self.url}/protocol/openid-connect/token"
        self._child = run.start(
            "keycloak",
            ["sh", home / "bin" / "kc.sh", "start-dev", "--import-realm", "--db=dev-mem", "--http-host=127.0.0.1",
             f"--http-port={port}", f"--http-management-port={free_port()}"],
            env={"JAVA": str(java()), "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m",
                 "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1", "KC_BOOTSTRAP_ADMIN_USERNAME": "admin",
                 "KC_BOOTSTRAP_ADMIN_PASSWORD": new_password()},
        )  # fmt: skip
        wait_until(f"an answer of Keycloak ({self._child.log})", self._answers, timeout=900)

    def stop(self) -> None:
        self._child.stop()

    def login(self) -> Mapping[str, str]:
        """The tokens of the user, by name and password."""
        form = {"grant_type": "password", "username": USER, "password": self._password, "scope": "openid"}
        return self.ask(self.token_url, {**form, "client_id": CLIENT, "client_secret": self.secret})

    def claims(self, token: str) -> Mapping[str, object]:
        """What the server itself says of a token; ``active`` is part of it."""
        form = {"token": token, "client_id": CLIENT, "client_secret": self.secret}
        return self.ask(f"{self.token_url}/introspect", form)

    def end_sessions(self, refresh_token: str) -> None:
        """Log the user out: what came of that login is revoked."""
        form = {"refresh_token": refresh_token, "client_id": CLIENT, "client_secret": self.secret}
        self.ask(f"{self.url}/protocol/openid-connect/logout", form)

    def ask(self, url: str, form: Mapping[str, str]) -> Mapping[str, str]:
        with urllib.request.urlopen(url, urlencode(form).encode(), timeout=30) as answer:
            found: dict[str, str] = json.loads(answer.read() or b"{}")
            return found

    def _answers(self) -> bool:
        if self._child.process.poll() is not None:
            raise HarnessError(
                f"Keycloak ended with {self._child.process.returncode}; its log is {self._child.log}"
            )
        try:
            with urllib.request.urlopen(f"{self.url}/.well-known/openid-configuration", timeout=5) as answer:
                return bool(json.load(answer)["token_endpoint"])
        except (urllib.error.URLError, OSError):
            return False

    def _realm(self) -> dict[str, object]:
        audiences = [
            {
                "name": f"for {name}", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
                "config": {"included.custom.audience": name, "access.token.claim": "true",
                           "introspection.token.claim": "true"},
            }
            for name in (AUDIENCE, CLIENT)
        ]  # fmt: skip
        client = {
            "clientId": CLIENT, "secret": self.secret, "serviceAccountsEnabled": True, "standardFlowEnabled": False,
            "directAccessGrantsEnabled": True, "protocolMappers": audiences,
            "attributes": {"standard.token.exchange.enabled": "true"},
        }  # fmt: skip
        user = {
            "username": USER, "enabled": True, "email": "ann@shop.example", "emailVerified": True, "firstName": "Ann",
            "lastName": "Shop", "credentials": [{"type": "password", "value": self._password, "temporary": False}],
        }  # fmt: skip
        return {
            "realm": REALM, "enabled": True, "sslRequired": "none", "accessTokenLifespan": self.life,
            "clients": [client], "users": [user],
        }  # fmt: skip


def _distribution(run: Run, cache: Path) -> Path:
    folder = cache / "keycloak"
    file = folder / f"keycloak-quarkus-dist-{VERSION}.zip"
    if not file.is_file():
        if not shutil.which("mvn"):
            raise HarnessError("Maven is not installed, which fetches Keycloak")
        folder.mkdir(parents=True, exist_ok=True)
        work = run.private_dir("keycloak-download")
        artifact = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
        child = run.start(
            "keycloak-download",
            [
                "mvn",
                "-B",
                "-q",
                _GOAL,
                f"-Dartifact={artifact}",
                f"-DoutputDirectory={work}",
                "-Dmdep.useBaseVersion",
            ],
        )
        if child.wait(timeout=600) != 0:
            raise HarnessError(f"could not get {artifact}: {child.output().strip()[-1500:]}")
        # Copied, then renamed: an interrupted download never leaves half a file under the final name.
        part = file.with_suffix(f".{os.getpid()}.part")
        shutil.copyfile(work / file.name, part)
        part.replace(file)
    return file

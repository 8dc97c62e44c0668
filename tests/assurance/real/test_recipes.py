"""Recipes whose programs take long to install: conjur's in Python, against a server of ours. Part of ``make real``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from real.sources.base import CACHE
from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.resolution.resolver import Resolver
from support.fakes.http_server import BODY_MARK
from support.fakes.tls import make_tls
from support.fakes.vendors import ConjurServer
from support.recipes import recipe, values

pytestmark = pytest.mark.timeout(900)

VERSION = "7.1.0"
CONSTRAINTS = Path(__file__).resolve().parents[3] / "python" / "constraints.txt"
#: What it imports. It asks for old versions of these, and for linters.
BRINGS = ("aiohttp", "async-timeout", "keyring", "PyYAML", "pyopenssl==26.4.0", "urllib3")
FIRST, SECOND, WRONG = "conjur-canary-6601", "conjur-canary-6602", "conjur-canary-of-nobody"


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of an environment of its own, since its needs are not those of the tests."""
    folder = CACHE / f"conjur-{VERSION}-{sys.version_info.major}.{sys.version_info.minor}"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
        subprocess.run([*pip, "-c", str(CONSTRAINTS), *BRINGS], check=True)
        subprocess.run([*pip, "--no-deps", f"conjur=={VERSION}"], check=True)
        (folder / "ready").touch()
    return folder / "bin"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ConjurServer]:
    with ConjurServer(make_tls(tmp_path)) as server:
        yield server


def log_in(home: Path, server: ConjurServer, key: str) -> None:
    """Write what `conjur init` and `conjur login` write."""
    rc, netrc = home / ".conjurrc", home / ".netrc"
    rc.write_text(
        f"---\ncert_file: {home.parent / 'ca.pem'}\nconjur_account: {server.account}\nconjur_url: {server.url}\n"
    )
    netrc.touch(mode=0o600)
    netrc.write_text(f"machine {server.url}\nlogin {server.host}\npassword {key}\n")


def refused(resolver: Resolver, reference: str) -> None:
    with pytest.raises(UnresolvedReferenceError, match="ended with status 1") as caught:
        resolver.resolve_map({"spark.shop.password": reference})
    shown = str(caught.value) + repr(caught.value.__cause__) + repr(caught.value.__context__)
    assert ("canary" in shown, BODY_MARK in shown) == (False, False)


def test_conjur(
    programs: Path, server: ConjurServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recipe("conjur")
    assert made.ran.startswith(f"conjur {VERSION} in Python")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    log_in(home, server, server.api_key)
    (reference,) = made.references.values()
    with made.resolver() as resolver:
        for value in (FIRST, SECOND):
            server.variables["shop/db/password"] = value
            assert values(resolver, made.references) == {"spark.shop.password": value}
        refused(resolver, reference.replace(":password", ":nothing"))
        log_in(home, server, WRONG)
        refused(resolver, reference)

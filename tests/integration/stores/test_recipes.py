"""The recipes as the docs show them: with the real programs where packages carry them, else with stand-ins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.resolution.resolver import Resolver
from support.fakes.http_server import BODY_MARK, Fault
from support.fakes.vendors import ConnectServer, DopplerServer
from support.recipes import FOLDER, NAMES, Recipe, recipe, values

FIRST, SECOND = "recipe-canary-5501", "recipe-canary-5502"
KEY = "spark.shop.password"


def test_the_page_shows_every_recipe() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.iterdir())


class Site:
    """A home with programs first in the path, and what a store's user would set."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self._set = home, monkeypatch.setenv
        self.bin = home / "bin"
        self.bin.mkdir()
        self.env(HOME=str(home), PATH=f"{self.bin}:{sysconfig.get_path('scripts')}:{os.environ['PATH']}")

    def env(self, **variables: str) -> None:
        for name, value in variables.items():
            self._set(name, value)

    def run(self, *command: str | Path, text: str = "") -> str:
        """Run what an administrator runs."""
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, timeout=60
        ).stdout


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    # Not pytest's folder: GnuPG's agent listens in it, and the path of a socket is short.
    with tempfile.TemporaryDirectory() as folder:
        yield Site(Path(folder), monkeypatch)


def refused(resolver: Resolver, references: Mapping[str, str], said: str) -> None:
    """The reference has no value, the error says why, and neither it nor what led to it holds a value."""
    with pytest.raises(UnresolvedReferenceError) as caught:
        resolver.resolve_map(references)
    shown: list[str] = []
    error: BaseException | None = caught.value
    while error is not None:
        shown.append(str(error) + repr(error))
        error = error.__cause__ or error.__context__
    text = "\n".join(shown)
    assert said in text
    assert ("canary" in text, BODY_MARK in text) == (False, False)


def read_and_rotate(made: Recipe, resolver: Resolver, put: Callable[[str], object]) -> None:
    put(FIRST)
    assert values(resolver, made.references) == {KEY: FIRST}
    put(SECOND)
    assert values(resolver, made.references) == {KEY: SECOND}


@pytest.fixture
def sops(site: Site) -> Any:
    pyrage = pytest.importorskip("pyrage", reason="makes age keys")
    if shutil.which("sops") is None:
        pytest.skip("PyPI has no sops for this machine")
    return pyrage.x25519.Identity


def test_sops(site: Site, sops: Any) -> None:
    made = recipe("sops")
    # It asks for its newest release otherwise.
    program = site.run("sops", "--disable-version-check", "--version").split()[1]
    assert made.ran.startswith(f"sops {program} with age keys")
    ours, other = sops.generate(), sops.generate()
    keys, folder = site.home / "keys.txt", site.home / "shop"
    keys.write_text(f"{ours}\n")
    folder.mkdir()
    site.env(SOPS_AGE_KEY_FILE=str(keys))
    target = folder / "prod.yaml"

    def put(value: str) -> None:
        plain = site.home / "plain.yaml"
        plain.write_text(json.dumps({"db": {"user": "ann", "password": value, "port": 5432}}))
        site.run("sops", "encrypt", "--age", str(ours.to_public()), "--output", target, plain)
        assert value not in target.read_text()

    with made.resolver({"/etc/shop": str(folder)}) as resolver:
        read_and_rotate(made, resolver, put)
        assert values(resolver, {"port": "${sops:prod:db.port}"}) == {"port": "5432"}
        refused(resolver, {KEY: "${sops:none:db.password}"}, "says that it is not there")
        refused(resolver, {KEY: "${sops:prod:db.nothing}"}, "db.nothing")
        for text in (f"{other}\n", ""):
            keys.write_text(text)
            refused(resolver, made.references, "not allowed (status 128)")
        keys.write_text(f"{ours}\n")
        target.write_text(target.read_text().replace("data:", "data:AAAA", 1))
        refused(resolver, made.references, "ended with status")


@pytest.fixture
def password_store(site: Site) -> Iterator[Site]:
    if missing := [name for name in ("pass", "gpg", "gpgconf") if shutil.which(name) is None]:
        pytest.skip(f"{' and '.join(missing)} not installed; Debian's packages pass and gnupg have them")
    folder = site.home / "gnupg"
    folder.mkdir(mode=0o700)
    site.env(GNUPGHOME=str(folder), PASSWORD_STORE_DIR=str(site.home / "store"))
    quiet = ("gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "")
    try:
        site.run(*quiet, "--quick-gen-key", "spark@shop.example", "ed25519", "sign,cert", "never")
        listed = site.run("gpg", "--batch", "--list-keys", "--with-colons")
        key = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr"))
        site.run(*quiet, "--quick-add-key", key, "cv25519", "encr", "never")
        site.run("pass", "init", key)
        yield site
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False, timeout=60)


def test_pass(password_store: Site) -> None:
    made, site = recipe("pass"), password_store

    def put(value: str) -> None:
        site.run("pass", "insert", "--echo", "--force", "shop/db/password", text=f"{value}\n")

    with made.resolver() as resolver:
        read_and_rotate(made, resolver, put)
        # It is in the docs: a folder is not an error.
        assert values(resolver, {KEY: "${pass:shop:db}"})[KEY].startswith("shop/db\n")
        refused(resolver, {KEY: "${pass:shop/db:nothing}"}, "nothing")
        (site.home / "gnupg" / "private-keys-v1.d").rename(site.home / "gone")
        site.run("gpgconf", "--kill", "gpg-agent")
        refused(resolver, made.references, "not allowed (status 2)")


Served = tuple[Any, Mapping[str, str], Callable[[str], object]]


def connect(server: ConnectServer) -> Callable[[str], object]:
    return lambda value: server.items.update(
        wepiqdxdzncjtnvmv5fegud4qy={"username": "ann", "password": value}
    )


def doppler(server: DopplerServer) -> Callable[[str], object]:
    return lambda value: server.projects.update(shop={"DB_USER": "ann", "DB_PASSWORD": value})


@pytest.mark.parametrize(
    ("name", "kind", "host", "put", "absent_path", "absent_key"),
    [
        ("1password", ConnectServer, "https://connect.shop.example", connect,
         "${op:zzpiqdxdzncjtnvmv5fegud4qy:password}", "${op:wepiqdxdzncjtnvmv5fegud4qy:nothing}"),
        ("doppler", DopplerServer, "https://api.doppler.com", doppler,
         "${doppler:none:DB_PASSWORD}", "${doppler:shop:NOTHING}"),
    ],
    ids=["1password", "doppler"],
)  # fmt: skip
def test_stores_asked_by_http(
    site: Site, name: str, kind: Any, host: str, put: Any, absent_path: str, absent_key: str
) -> None:
    made = recipe(name)
    token = site.home / next(
        value.rpartition("/")[2] for key, value in made.settings.items() if key.endswith(".header.file")
    )
    with kind() as server, made.resolver({host: server.url, "/run/secrets": str(site.home)}) as resolver:
        token.write_text(f"{server.token}\n")
        read_and_rotate(made, resolver, put(server))
        refused(resolver, {KEY: absent_path}, "HTTP 404")
        refused(resolver, {KEY: absent_key}, absent_key.rpartition(":")[2].rstrip("}"))
        token.write_text("recipe-canary-of-nobody\n")
        refused(resolver, made.references, "HTTP 401")
        token.write_text(f"{server.token}\n")
        server.fault(Fault(status=503))
        assert values(resolver, made.references) == {KEY: SECOND}


def test_an_ambiguous_label_of_1password(site: Site) -> None:
    made = recipe("1password")
    (site.home / "connect-token").write_text("connect-token-3391")
    with ConnectServer() as server:
        connect(server)(FIRST)
        answer = server.answer

        def doubled(request: Any) -> Any:
            found = answer(request)
            fields = json.loads(found.body)
            fields["fields"].append({**fields["fields"][-1], "id": "another", "value": SECOND})
            return type(found).of(fields)

        server.answer = doubled  # type: ignore[method-assign]
        places = {"https://connect.shop.example": server.url, "/run/secrets": str(site.home)}
        with made.resolver(places) as resolver:
            refused(resolver, made.references, "two entries of the list have the key 'password'")
            user = made.references[KEY].replace(":password", ":username")
            assert values(resolver, {KEY: user}) == {KEY: "ann"}
        with made.resolver({**places, "label": "id"}) as resolver:
            assert values(resolver, {KEY: made.references[KEY].replace(":password", ":another")}) == {
                KEY: SECOND
            }

"""What is masked: the values of references, each by itself, and not the texts that a job composes around them."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator, Set
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest

from sparkconfig import redaction, secret
from sparkconfig.agent import service as service_module
from sparkconfig.agent.service import AgentService
from sparkconfig.language.expression import Expression
from sparkconfig.providers.base import ConfigData, ConfigProvider
from sparkconfig.redaction import MASK, Registry
from sparkconfig.resolution import generations, in_use
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.secret import Secret
from sparkconfig.settings.schema import parse
from support.agents import call

PASSWORD = "Canary-4ab1-pass"
USER = "Canary-user-9c"
LATE = "Canary-revealed-after-the-stop"
ENV = "Canary-env-77d1"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    made = Registry()
    monkeypatch.setattr(service_module, "REGISTRY", made)
    return made


@pytest.fixture
def secrets() -> Iterator[Path]:
    with TemporaryDirectory() as folder:  # a short path: messages cut long references
        file = Path(folder) / "shop.properties"
        file.write_text(f"password={PASSWORD}\nlogin={USER}\nuser=postgres_admin\nregion=inventory\n")
        yield file


@pytest.fixture
def service(secrets: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentService]:
    monkeypatch.setenv("SHOP_TOKEN", ENV)
    made = AgentService()
    started = call(
        made,
        "start",
        confs={
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.substitution.enabled": "true",
            "spark.shop.url": f"jdbc:db://h/s?user=${{files:{secrets}:login}}&password=${{files:{secrets}:password}}",
        },
    )
    assert started["ok"], started
    yield made
    made.close()


def resolve(service: AgentService, *texts: str, **siblings: str) -> dict[str, Any]:
    wanted = [{"id": text, "text": text, "siblings": siblings} for text in texts]
    answer = call(service, "resolve", expressions=wanted)
    assert answer["ok"], answer
    return answer["snapshot"]


def test_an_answer_names_the_values_of_the_references_and_no_text_around_them(
    service: AgentService, secrets: Path, registry: Registry
) -> None:
    snapshot = call(service, "refresh")["snapshot"]
    assert sorted(snapshot["redact"]) == [PASSWORD, USER]
    text = f"the url is jdbc:db://h/s?user={USER}&password={PASSWORD}"
    assert registry.redact(text) == f"the url is jdbc:db://h/s?user={MASK}&password={MASK}"


@pytest.fixture
def few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept up to a number would hide what grows for ever."""
    monkeypatch.setattr(generations, "_MOST_GENERATIONS", 16)
    monkeypatch.setattr(in_use, "MOST_IN_USE", 1000)


@pytest.mark.usefixtures("few_are_kept")
def test_ten_thousand_texts_around_one_secret_register_one_value(
    service: AgentService, secrets: Path, registry: Registry
) -> None:
    """Nor do they take memory: the second half leaves less than a third of its texts."""

    def compose(number: int) -> str:
        return f"jdbc:db://host-{number}/s?password=${{files:{secrets}:password}}&n={number:060d}"

    resolve(service, compose(0))
    known = len(registry)
    tracemalloc.start()
    for start in range(0, 10_000, 100):
        if start == 5000:
            gc.collect()
            half, _ = tracemalloc.get_traced_memory()
        snapshot = resolve(service, *(compose(number) for number in range(start, start + 100)))
        assert sorted(snapshot["redact"]) == [PASSWORD, USER]
        del snapshot
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left - half < 5000 * len(compose(0)) // 3
    assert len(registry) == known
    assert registry.redact(PASSWORD) == MASK


def test_what_substitutions_hide_is_masked_and_what_they_show_is_not(
    service: AgentService, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_REGION", "a-region-in-clear")
    snapshot = resolve(
        service,
        "$[envVar/redact/=SHOP_TOKEN] in $[envVar=SHOP_REGION]",
        "$[keyValue=composed], again",
        composed="the token $[envVar/redact/=SHOP_TOKEN], composed",
    )
    assert sorted(snapshot["redact"]) == sorted([PASSWORD, USER, ENV])
    assert registry.redact(f"{ENV} in a-region-in-clear") == f"{MASK} in a-region-in-clear"
    assert [entry["secret"] for id_, entry in snapshot["values"].items() if id_.startswith("$[")] == [
        True,
        True,
    ]


def test_a_whole_key_that_is_hidden_is_masked_as_a_whole(service: AgentService, registry: Registry) -> None:
    snapshot = resolve(service, "$[keyValue/redact/=note]", note="this note is hidden")
    assert "this note is hidden" in snapshot["redact"]


def test_a_restarted_side_process_goes_on_to_mask_what_the_one_before_it_read(
    service: AgentService, secrets: Path, registry: Registry
) -> None:
    held = resolve(service, f"x-${{files:{secrets}:password}}")
    secrets.unlink()
    again = AgentService()
    try:
        started = call(
            again,
            "start",
            confs={
                "spark.config.providers": "files",
                "spark.config.providers.files.class": "file",
                "spark.config.unresolved": "keep",
            },
            held=held,
        )
        assert sorted(started["snapshot"]["redact"]) == [PASSWORD, USER]
    finally:
        again.close()


def test_a_composed_secret_that_is_revealed_registers_its_parts(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Registry()
    monkeypatch.setattr(secret, "on_reveal", registry.register)
    confs = {"spark.config.providers": "files", "spark.config.providers.files.class": "file"}
    with Resolver.from_confs(confs) as resolver:
        for number in range(100):
            text = f"number {number}: ${{files:{secrets}:password}}"
            value = resolver.resolve([Expression(text)]).values[Expression(text)]
            assert value.reveal() == f"number {number}: {PASSWORD}"
    assert len(registry) == 1
    assert registry.redact(PASSWORD) == MASK
    assert redaction.REGISTRY is not registry


def test_values_of_plain_references_are_not_masked(
    service: AgentService, secrets: Path, registry: Registry
) -> None:
    url = f"jdbc:db://{{}}/${{files:{secrets}:region}}?user=${{files:{secrets}:user}}"
    assert sorted(resolve(service, url)["redact"]) == [PASSWORD, USER], "what was in the confs alone"
    snapshot = resolve(service, url + f"&password=${{files:{secrets}:password}}")
    assert sorted(snapshot["redact"]) == [PASSWORD, USER]
    assert registry.redact("inventory of postgres_admin") == "inventory of postgres_admin"


@pytest.mark.parametrize(
    ("listed", "masked"),
    [
        ("+", {"password", "login"}),
        ("+ files:*:login", {"password"}),
        ("files:*:login", {"password", "user", "region"}),
        ("files:*", set()),
        ("other:*", {"password", "login", "user", "region"}),
        ("", {"password", "login", "user", "region"}),
    ],
)
def test_references_are_declared_as_plain(
    secrets: Path, listed: str, masked: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"password": PASSWORD, "login": USER, "user": "postgres_admin", "region": "inventory"}
    confs = {
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.redaction.plain": listed,
    }
    with closing(Resolver.from_confs(confs)) as resolver:
        found = resolver.resolve_map({"all": " ".join(f"${{files:{secrets}:{key}}}" for key in values)})[
            "all"
        ]
    revealed: list[str] = []
    monkeypatch.setattr(secret, "on_reveal", revealed.extend)
    assert isinstance(found, Secret), "it stays one for the program that asks for it"
    assert found.reveal() == " ".join(values.values())
    assert set(revealed) == {values[key] for key in masked}


class _ConfigMap(ConfigProvider):
    """Ours: a store that treats nothing as a secret."""

    DATA: ClassVar = {
        "zone": "inventory",
        "password": PASSWORD,
        "dsn": f"postgresql://shop:{PASSWORD}2@db/shop",
        "app.properties": f"zone=inventory\napi-token={PASSWORD}3\n",
        "app.json": json.dumps({"zone": "inventory", "apiToken": f"{PASSWORD}4"}),
        "tls": "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
    }

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        return ConfigData({key: self.DATA[key] for key in keys or ()}, plain=frozenset(self.DATA))


@pytest.mark.parametrize(("listed", "by_store"), [("+", True), ("+ files:*:login", True), ("other:*", False)])
def test_what_a_store_does_not_treat_as_a_secret_is_plain_unless_it_looks_like_one(
    listed: str, *, by_store: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    revealed: list[str] = []
    monkeypatch.setattr(secret, "on_reveal", revealed.extend)
    settings = parse({"spark.config.redaction.plain": listed})
    with closing(Resolver({"map": _ConfigMap()}, settings)) as resolver:
        for key, value in _ConfigMap.DATA.items():
            found = resolver.resolve_map({"x": f"a ${{map:{key}}}"})["x"]
            assert isinstance(found, Secret), "it stays one for the program that asks for it"
            assert found.reveal() == f"a {value}"
    shown = {"zone"} if by_store else set()
    assert set(revealed) == {value for key, value in _ConfigMap.DATA.items() if key not in shown}


def test_a_secret_that_looks_like_a_word_is_named_once(
    service: AgentService, secrets: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secrets.write_text(f"password={PASSWORD}\nlogin=inventory\nzone=us-east-1\nuser=inventory\n")
    for key in ("password", "login", "zone", "user"):
        for _ in range(2):
            resolve(service, f"${{files:{secrets}:{key}}}")
    warned = [text for text in caplog.messages if "spark.config.redaction.plain" in text]
    named = [text.partition("}")[0].rpartition(":")[2] for text in warned]
    assert named == ["login", "login", "zone"], "the conf that holds it, and each reference"
    assert "inventory" not in caplog.text

"""References that yield files: which ones, what a generation carries, and what is not a change."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.agent.service import AgentService
from sparkconfig.errors import ConfigurationError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.files import FileRules, marker
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings.schema import parse

KEYSTORE = bytes(range(256))
PEM = "-----BEGIN KEY-----\nCanary-key-5521\n-----END KEY-----\n"
STORE, KEY, PASSWORD = "${v:tls:keystore.p12}", "${v:tls:client.pem}", "${v:tls:password}"


class Store(ConfigProvider):
    """One path with a keystore, its password and a key."""

    def __init__(self) -> None:
        self.data = {
            "keystore.p12": base64.encodebytes(KEYSTORE).decode(),
            "password": "Canary-pw-81",
            "client.pem": PEM,
        }

    def get(self, path: str, keys: object = None) -> ConfigData:
        return ConfigData(dict(self.data))


def rules(**options: object) -> FileRules:
    return FileRules(**{"text": ["v:*.pem"], "base64": ["v:tls:keystore*"], "key": b"k", **options})


def keeper(store: Store, files: FileRules | None = None) -> SnapshotKeeper:
    return SnapshotKeeper(Resolver({"v": store}), poll_ms=1000, files=files or rules())


def use(kept: SnapshotKeeper, *texts: str) -> Snapshot:
    return kept.resolve({text: Expression(text) for text in texts})


def test_a_value_has_a_marker_and_the_generation_the_content() -> None:
    snapshot = use(keeper(Store()), STORE, KEY, PASSWORD, f"a={KEY};b={PASSWORD}")
    stored, pem = (next(iter(snapshot.entries[text].files)) for text in (STORE, KEY))
    assert (snapshot.entries[STORE].value, snapshot.entries[STORE].secret) == (marker(stored), False)
    assert (snapshot.files[stored].content, snapshot.files[stored].name) == (KEYSTORE, "keystore.p12")
    assert snapshot.files[pem].content == PEM.encode()
    mixed = snapshot.entries[f"a={KEY};b={PASSWORD}"]
    assert (mixed.value, mixed.secret) == (f"a={marker(pem)};b=Canary-pw-81", True)
    assert snapshot.entries[PASSWORD].value == "Canary-pw-81"


def test_the_same_content_is_not_a_change_and_another_one_has_another_name() -> None:
    store = Store()
    kept = keeper(store)
    first = use(kept, STORE, PASSWORD)
    store.data["keystore.p12"] = base64.b64encode(KEYSTORE).decode()  # without line ends: the same bytes
    assert kept.refresh() is first
    store.data.update({"keystore.p12": base64.b64encode(b"new").decode(), "password": "Canary-pw-82"})
    second = kept.refresh()
    assert (second.generation, second.entries[PASSWORD].value) == (2, "Canary-pw-82")
    assert first.files.keys().isdisjoint(second.files)
    assert [file.content for file in second.files.values()] == [b"new"]


def test_a_side_process_that_takes_over_with_the_same_key_changes_nothing() -> None:
    first = use(keeper(Store()), STORE, KEY)
    for key, generation in ((b"k", 1), (b"other", 2)):
        after = SnapshotKeeper(
            Resolver({"v": Store()}), poll_ms=1000, files=rules(key=key), held=first, stale_ms=1000
        )
        assert use(after, STORE, KEY).generation == generation


def test_what_is_not_base64_is_an_error_without_the_value() -> None:
    store = Store()
    store.data["keystore.p12"] = "Canary no base64!"
    with pytest.raises(
        Exception,
        match=r"key 'keystore\.p12' at path 'tls' is not base64, as spark\.config\.files\.base64",
    ) as caught:
        use(keeper(store), STORE)
    assert "Canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "reference", "fits"),
    [
        ("v:tls:client.pem", ("v", "tls", "client.pem"), True),
        ("v:tls:*", ("v", "tls", "anything"), True),
        ("v:*.pem", ("v", "deep/path", "a.pem"), True),
        ("v:client?pem", ("v", "", "client.pem"), False),
        ("v:client.pem", ("v", "", "clientXpem"), False),
        ("v:key", ("v", "", "key"), True),
        ("other:*", ("v", "tls", "key"), False),
        ("v:x:[ab]?.pem", ("v", "x", "[ab]?.pem"), True),
        ("v:x:[ab]?.pem", ("v", "x", "a1.pem"), False),
    ],
)
def test_patterns_have_one_wildcard(pattern: str, reference: tuple[str, str, str], fits: bool) -> None:
    assert (FileRules([pattern], [], key=b"").file_of(*reference, "x") is not None) == fits


def test_names_of_files_are_harmless_and_keep_their_ending() -> None:
    made = FileRules(["v:*"], [], key=b"")
    found = {
        key: made.file_of("v", "p", key, "x") for key in ("../../etc/passwd", ".p12", "a" * 300 + ".jks", "/")
    }
    names = {key: file[1].name for key, file in found.items() if file is not None}
    assert names == {
        "../../etc/passwd": "_.._etc_passwd",
        ".p12": "p12",
        "a" * 300 + ".jks": "a" * 76 + ".jks",
        "/": "_",
    }


def test_ids_do_not_tell_a_short_content_to_who_does_not_have_the_key() -> None:
    ids = {FileRules(["v:*"], [], key=key).file_of("v", "p", "k", "1234")[0] for key in (b"a", b"b")}
    assert len(ids) == 2


def test_settings_take_references_as_they_are_written_and_refuse_what_is_none() -> None:
    settings = parse(
        {"spark.config.files.text": "${v:tls:a.pem}, v:tls:b.pem", "spark.config.files.keep": "10m"}
    )
    assert (settings.files_text, settings.files_keep) == (("v:tls:a.pem", "v:tls:b.pem"), 600_000)
    with pytest.raises(ConfigurationError, match=r"spark.config.files.base64: expected PROVIDER:PATH:KEY"):
        parse({"spark.config.files.base64": "keystore"})


def test_the_side_process_answers_with_files_and_without_them_where_nobody_needs_any(tmp_path: Path) -> None:
    secrets = tmp_path / "tls.properties"
    secrets.write_text("key=Canary-key-1\npassword=Canary-pw-1\n")
    confs = {
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.files.text": f"files:{secrets}:key",
        "spark.shop.key": f"${{files:{secrets}:key}}",
        "spark.shop.password": f"${{files:{secrets}:password}}",
    }
    service = AgentService()
    try:
        answer = json.loads(service.call("start", json.dumps({"confs": confs, "file_key": "k"})))
        assert answer["problems"] == []
        (file,) = answer["snapshot"]["files"].values()
        assert base64.b64decode(file["content"]) == b"Canary-key-1"
        assert answer["settings"]["files_keep_ms"] == 3_600_000
        del confs["spark.config.files.text"]
        assert "files" not in json.loads(service.call("start", json.dumps({"confs": confs})))["snapshot"]
    finally:
        service.close()


def test_a_wrong_file_takes_its_path_and_nothing_else() -> None:
    store, other = Store(), Store()
    store.data["keystore.p12"] = "%"
    kept = SnapshotKeeper(Resolver({"v": store, "w": other}), poll_ms=1000, files=rules())
    with pytest.raises(Exception, match="is not base64"):
        use(kept, STORE, PASSWORD, "${w:tls:password}")
    assert list(kept.snapshot.entries) == ["${w:tls:password}"]


@pytest.mark.timeout(10)
def test_a_hostile_key_does_not_make_patterns_slow() -> None:
    found = FileRules(["p:*a*a*a*a*a*a*.pem"], [], key=b"k").file_of("p", "x", "a" * 20_000, "v")
    assert found is None

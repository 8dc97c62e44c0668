"""The hadoop provider and a JVM of the test's own; tests/spark/test_hadoop_keystores.py asks a driver's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparkconfig._base import jvm
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.hadoop import HadoopConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract

DATA = {"fs.s3a.access.key": "alice-0001", "fs.s3a.secret.key": "s3cret-ü-value-77"}
LOCAL, SECOND = "localjceks://file/k/local.jceks", "jceks://hdfs@nn:8020/k/second.jceks"
BCFKS, BROKEN = "bcfks://file/k/other.bcfks", "user:///"
STORES = {LOCAL: DATA, SECOND: {"fs.s3a.access.key": "of the second"}}
ERRORS = {BCFKS: "denied", BROKEN: "failed"}


@pytest.fixture(autouse=True)
def driver() -> Iterator[None]:
    def ask(name: str, request: Any, seconds: float) -> dict[str, Any]:
        assert name == "hadoop.credentials"
        assert seconds > 0
        found = STORES.get(request["provider"])
        if found is None:
            return {"error": ERRORS.get(request["provider"], "missing"), "class": "IOException"}
        aliases = found if request["aliases"] is None else request["aliases"]
        return {"values": {alias: found[alias] for alias in aliases if alias in found}}

    before = jvm.driver()
    jvm.connect(ask)
    yield
    jvm.connect(before)


def make(*uris: str, **params: str) -> HadoopConfigProvider:
    provider = HadoopConfigProvider()
    provider.configure({"provider.path": ", ".join(uris), "attempts": "1", **params})
    return provider


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self):
        return ContractCase(HadoopConfigProvider, {"provider.path": LOCAL}, "", DATA)


def test_a_path_names_one_keystore_and_of_all_the_first_wins():
    for uris, winner in (((LOCAL, SECOND), "alice-0001"), ((SECOND, LOCAL), "of the second")):
        provider = make(*uris)
        assert provider.get("").data == {**DATA, "fs.s3a.access.key": winner}
        assert provider.get("/k/local.jceks").data == DATA
        with pytest.raises(SecretNotFoundError, match="does not list this keystore"):
            provider.get("/k/none.jceks")


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("jceks://file/k/absent.jceks", SecretNotFoundError),
        (BCFKS, AccessDeniedError),
        (BROKEN, ProviderUnavailableError),
    ],
)
def test_what_hadoop_cannot_read(uri, kind):
    with pytest.raises(kind):
        make(LOCAL, uri).get("")


def test_without_a_driver_it_says_where_to_try():
    jvm.connect(None)
    with pytest.raises(jvm.NoDriverError, match="try it in an application"):
        make(LOCAL).get("")


@pytest.mark.parametrize(
    "path", ["/plain/path", "", "jceks:/a", "localjceks://hdfs@nn:8020/a", "kms://http@h/k"]
)
def test_other_providers_are_refused_by_name(path):
    with pytest.raises(ConfigurationError, match=r"provider\.path"):
        make(path)

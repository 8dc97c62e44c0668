"""The hadoop provider against keystores that Hadoop's own CredentialShell makes, from the jars of Spark."""

import os
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.hadoop.provider import HadoopConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.spark_home import java

DATA = {"fs.s3a.access.key": "alice-0001", "fs.s3a.secret.key": "s3cret-ü-value-77"}
JARS = Path(pyspark.__file__).parent / "jars"


def create(uri, alias, value, password=None):
    command = [java(), "-cp", f"{JARS}/*", "org.apache.hadoop.security.alias.CredentialShell"]
    environment = {name: text for name, text in os.environ.items() if name != "HADOOP_CREDSTORE_PASSWORD"}
    if password:
        environment["HADOOP_CREDSTORE_PASSWORD"] = password
    environment["JAVA_TOOL_OPTIONS"] = "-Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8"
    arguments = ["create", alias, "-value", value, "-provider", uri]
    environment["LC_ALL"] = "C.UTF-8"
    subprocess.run([*command, *arguments], check=True, env=environment, capture_output=True)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jceks")
    for alias, value in DATA.items():
        create(f"localjceks://file{folder}/local.jceks", alias, value)
    create(f"localjceks://file{folder}/second.jceks", "fs.s3a.access.key", "of the second")
    create(f"localjceks://file{folder}/huge.jceks", "huge", "x" * 100_000)
    create(f"jceks://file{folder}/protected.jceks", "fs.s3a.access.key", "protected-0001", "keystore-pass-1")
    return folder


@pytest.fixture(autouse=True)
def _no_password_in_the_environment(monkeypatch):
    monkeypatch.delenv("HADOOP_CREDSTORE_PASSWORD", raising=False)


def make(stores, name="local.jceks", **params):
    provider = HadoopConfigProvider()
    provider.configure({"provider.path": f"localjceks://file{stores}/{name}", **params})
    return provider


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self, stores):
        return ContractCase(
            HadoopConfigProvider, {"provider.path": f"jceks://file{stores}/local.jceks"}, "", DATA
        )


def test_a_path_names_one_keystore(stores):
    with make(stores) as provider:
        assert provider.get(f"{stores}/local.jceks").data == DATA
        with pytest.raises(SecretNotFoundError):
            provider.get(f"{stores}/protected.jceks")


def test_huge_credentials_arrive_whole(stores):
    with make(stores, "huge.jceks") as provider:
        assert len(provider.get("").data["huge"]) == 100_000


def test_aliases_are_found_in_any_case(stores):
    with make(stores) as provider:
        assert provider.get("", {"FS.S3A.Access.Key"}).data == {"FS.S3A.Access.Key": "alice-0001"}


@pytest.mark.parametrize("way", ["password", "password.file", "environment"])
def test_the_password(stores, tmp_path, monkeypatch, way):
    (tmp_path / "pw").write_text("keystore-pass-1\n")
    monkeypatch.setenv("HADOOP_CREDSTORE_PASSWORD", "keystore-pass-1" if way == "environment" else "wrong")
    params = {
        "password": {"password": "keystore-pass-1"},
        "password.file": {"password.file": str(tmp_path / "pw")},
    }
    with make(stores, "protected.jceks", **params.get(way, {})) as provider:
        assert provider.get("").data == {"fs.s3a.access.key": "protected-0001"}


def test_a_wrong_password_is_not_allowed_and_not_shown(stores):
    with (
        make(stores, "protected.jceks", password="wrong-pass-0001") as provider,
        pytest.raises(AccessDeniedError) as caught,
    ):
        provider.get("")
    assert "wrong-pass-0001" not in str(caught.value)


@pytest.mark.parametrize(
    ("order", "winner"), [(["local", "second"], "alice-0001"), (["second", "local"], "of the second")]
)
def test_the_first_keystore_wins(stores, order, winner):
    paths = ", ".join(f"localjceks://file{stores}/{name}.jceks" for name in order)
    with HadoopConfigProvider() as provider:
        provider.configure({"provider.path": paths})
        assert provider.get("").data == {**DATA, "fs.s3a.access.key": winner}


def test_each_read_sees_the_file_as_it_is(stores, tmp_path):
    file = tmp_path / "changing.jceks"
    shutil.copy(stores / "local.jceks", file)
    with make(tmp_path, "changing.jceks") as provider:
        assert provider.get("", {"fs.s3a.access.key"}).data == {"fs.s3a.access.key": "alice-0001"}
        file.unlink()
        with pytest.raises(SecretNotFoundError):
            provider.get("", {"fs.s3a.access.key"})
        shutil.copy(stores / "second.jceks", file)
        assert provider.get("", {"fs.s3a.access.key"}).data == {"fs.s3a.access.key": "of the second"}


def test_changed_and_truncated_bytes_are_refused(stores, tmp_path):
    raw = (stores / "local.jceks").read_bytes()
    for bad in (b"", raw[:10], raw[:-1], raw[:100] + b"\0" + raw[101:], b"\x30\x82" + raw[2:], b"x" * 5000):
        (tmp_path / "bad.jceks").write_bytes(bad)
        with (
            make(tmp_path, "bad.jceks") as provider,
            pytest.raises((AccessDeniedError, ProviderUnavailableError)),
        ):
            provider.get("")


@pytest.mark.parametrize("path", ["jceks://hdfs@nn:8020/k/a.jceks", "bcfks://file/a", "user:///"])
def test_what_hadoop_has_to_read_needs_a_driver(stores, path):
    with HadoopConfigProvider() as provider:
        provider.configure({"provider.path": f"jceks://file{stores}/local.jceks,{path}"})
        assert not provider.local
        with pytest.raises(ProviderUnavailableError, match="driver's JVM"):
            provider.get("")
        assert provider.get(f"{stores}/local.jceks").data == DATA


@pytest.mark.parametrize(
    "path", ["/plain/path", "", "jceks:/a", "localjceks://hdfs@nn:8020/a", "kms://http@h/k"]
)
def test_other_providers_are_refused_by_name(path):
    with HadoopConfigProvider() as provider, pytest.raises(ConfigurationError, match=r"provider\.path"):
        provider.configure({"provider.path": path})

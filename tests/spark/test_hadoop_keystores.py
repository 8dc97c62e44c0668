"""Keystores that lie in a file system of Hadoop's: the provider ``hadoop`` reads them through the driver's JVM.

The file system is Hadoop's ViewFS over a folder of this machine; one keystore is a local file. Changes trigger
nothing in this application (`spark.config.reload.action`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leaks.support import bare_jvm
from sparkconfig import worker
from support.session import running_session
from support.spark_home import java, spark_home

pytestmark = pytest.mark.spark

ROOT = "spark.config.providers"
FIRST, SECOND, OTHER = "keystore-canary-0001", "keystore-canary-0002", "keystore-canary-ü-0003"


@pytest.fixture
def create() -> Iterator[Callable[..., None]]:
    """Hadoop's own CredentialShell, in one JVM but for another password, which it reads from its environment."""
    with bare_jvm() as gateway:
        shell = gateway.jvm.org.apache.hadoop.security.alias.CredentialShell

        def create(folder: Path, alias: str, value: str, name: str = "shop", password: str = "") -> None:
            words = ["create", alias, "-value", value, "-provider", f"localjceks://file{folder}/{name}.jceks"]
            if password:
                command = [java(), "-cp", f"{spark_home()}/jars/*", shell._fqn, *words]
                env = {**os.environ, "HADOOP_CREDSTORE_PASSWORD": password}
                subprocess.run(command, check=True, env=env, capture_output=True)
                return
            given = gateway.new_array(gateway.jvm.String, len(words))
            for place, word in enumerate(words):
                given[place] = word
            made = shell()
            made.setConf(gateway.jvm.org.apache.hadoop.conf.Configuration())
            assert made.run(given) == 0

        yield create


def test_a_keystore_in_hadoops_file_system(tmp_path: Path, create: Callable[..., None]) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    create(keys, "shop.password", FIRST)
    create(keys, "shop.other", OTHER)
    create(keys, "shop.password", FIRST, "protected", "another-password")
    confs = {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.hadoop.fs.viewfs.mounttable.shop.link./keys": f"file://{keys}",
        "spark.config.poll.interval": "500ms",
        "spark.config.reload.action": "none",
        "spark.hadoop.fs.shop.key": "${keystore:/keys/shop.jceks:shop.password}",
        ROOT: "keystore,local,protected,absent",
        f"{ROOT}.local.class": "hadoop",
        f"{ROOT}.local.param.provider.path": f"localjceks://file{keys}/shop.jceks",
        f"{ROOT}.keystore.class": "hadoop",
        f"{ROOT}.keystore.param.provider.path": "jceks://viewfs@shop/keys/shop.jceks",
        f"{ROOT}.protected.class": "hadoop",
        f"{ROOT}.protected.param.provider.path": "jceks://viewfs@shop/keys/protected.jceks",
        f"{ROOT}.absent.class": "hadoop",
        f"{ROOT}.absent.param.provider.path": "jceks://viewfs@shop/keys/absent.jceks",
        "spark.shop.password": "${keystore:/keys/shop.jceks:shop.password}",
    }
    with running_session(confs, folder=tmp_path) as spark:
        from sparkconfig._spark.driver import await_generation, current, generation

        reference = spark.conf.get("spark.shop.password")
        assert reference == "${keystore:/keys/shop.jceks:shop.password}"
        assert current(reference).reveal() == FIRST
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        assert hadoop.get("fs.shop.key") == FIRST
        assert current("${keystore::SHOP.Other}").reveal() == OTHER
        assert current("${local::shop.password}").reveal() == FIRST
        before = generation()
        # In one step: the shell deletes before it creates, and a poll in between would find no password.
        create(keys, "shop.other", OTHER, "next")
        create(keys, "shop.password", SECOND, "next")
        (keys / "next.jceks").replace(keys / "shop.jceks")
        while current(reference).reveal() == FIRST:
            assert await_generation(before, 20_000) > before, "the new value was not noticed"
        assert current(reference).reveal() == SECOND
        assert worker.configs({"key": reference})["key"].reveal() == SECOND
        assert hadoop.get("fs.shop.key") == FIRST
        for wrong, said in (
            ("${keystore::shop.nothing}", "shop.nothing"),
            ("${protected::shop.password}", "not allowed"),
            ("${absent::shop.password}", "the keystore does not exist"),
        ):
            with pytest.raises(Exception, match=said) as caught:
                current(wrong)
            assert not any(value in str(caught.value) for value in (FIRST, SECOND, OTHER))

"""Keystores that lie in a file system of Hadoop's: the provider ``hadoop`` reads them through the driver's JVM.

The file system is Hadoop's ViewFS over a folder of this machine, which nothing but Hadoop can read by its name.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.session import running_session
from support.spark_home import java, spark_home

pytestmark = pytest.mark.spark

ROOT = "spark.config.providers"
FIRST, SECOND, OTHER = "keystore-canary-0001", "keystore-canary-0002", "keystore-canary-ü-0003"


def keystore(folder: Path, name: str, arguments: list[str], password: str = "none") -> None:
    """Run Hadoop's own CredentialShell."""
    command = [java(), "-cp", f"{spark_home()}/jars/*", "org.apache.hadoop.security.alias.CredentialShell"]
    environment = {**os.environ, "HADOOP_CREDSTORE_PASSWORD": password, "LC_ALL": "C.UTF-8"}
    environment["JAVA_TOOL_OPTIONS"] = "-Dfile.encoding=UTF-8 -Dsun.jnu.encoding=UTF-8"
    provider = ["-provider", f"localjceks://file{folder}/{name}.jceks"]
    subprocess.run([*command, *arguments, *provider], check=True, env=environment, capture_output=True)


def create(folder: Path, alias: str, value: str, name: str = "shop", password: str = "none") -> None:
    keystore(folder, name, ["create", alias, "-value", value], password)


def test_a_keystore_in_hadoops_file_system(tmp_path: Path) -> None:
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
        ROOT: "keystore,protected,absent",
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
        assert current("${keystore::SHOP.Other}").reveal() == OTHER
        before = generation()
        # In one step: the shell deletes before it creates, and a poll in between would find no password.
        create(keys, "shop.other", OTHER, "next")
        create(keys, "shop.password", SECOND, "next")
        (keys / "next.jceks").replace(keys / "shop.jceks")
        while current(reference).reveal() == FIRST:
            assert await_generation(before, 20_000) > before, "the new value was not noticed"
        assert current(reference).reveal() == SECOND
        for wrong, said in (
            ("${keystore::shop.nothing}", "shop.nothing"),
            ("${protected::shop.password}", "not allowed"),
            ("${absent::shop.password}", "no such keystore"),
        ):
            with pytest.raises(Exception, match=said) as caught:
                current(wrong)
            assert not any(value in str(caught.value) for value in (FIRST, SECOND, OTHER))

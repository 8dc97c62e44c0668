"""Which Spark is found, and which jar belongs to it; what the commands make of it is tested beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig._base.version import __version__
from sparkconfig._spark import jars
from sparkconfig.errors import ConfigurationError


def spark(home: Path, core: str) -> Path:
    (home / "jars").mkdir(parents=True)
    (home / "jars" / core).touch()
    return home


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of jars in the place of the package's own."""
    folder = tmp_path / "package"
    folder.mkdir()
    monkeypatch.setattr(jars, "FOLDER", folder)
    return folder


@pytest.mark.parametrize(
    ("core", "version", "scala"),
    [
        ("spark-core_2.12-3.5.9.jar", "3.5.9", "2.12"),
        ("spark-core_2.13-4.0.1.jar", "4.0.1", "2.13"),
        ("spark-core_2.13-4.3.0-SNAPSHOT.jar", "4.3.0-SNAPSHOT", "2.13"),
    ],
)
def test_an_apache_spark(tmp_path: Path, core: str, version: str, scala: str) -> None:
    home = spark(tmp_path, core)
    for found in (jars.find_spark(home), jars.find_spark(environ={"SPARK_HOME": str(home)})):
        assert (found.version, found.scala, found.jars) == (version, scala, home / "jars")
        assert not found.of_databricks


def test_a_databricks_node_keeps_its_jars_beside_spark(tmp_path: Path) -> None:
    home = tmp_path / "spark"
    home.mkdir()
    (home / "VERSION").write_text("4.0.0\n")
    name = "----ws_4_0--core--core-hive-2.3__hadoop-3.2_2.13_deploy.jar"
    spark(tmp_path, name)
    found = jars.find_spark(home)
    assert (found.version, found.scala, found.jars) == ("4.0.0", "2.13", tmp_path / "jars")
    assert found.of_databricks


@pytest.mark.parametrize(
    "core", ["spark-core_2.12-3.4.4.jar", "spark-core_2.13-3.5.9.jar", "spark-core_2.13-5.0.0.jar"]
)
def test_a_spark_that_no_jar_fits(tmp_path: Path, core: str) -> None:
    with pytest.raises(ConfigurationError, match="not supported; supported are"):
        jars.find_spark(spark(tmp_path, core))


@pytest.mark.parametrize("version", [None, b"\xff\xfe"])
def test_a_folder_that_holds_no_spark(tmp_path: Path, version: bytes | None) -> None:
    if version is not None:
        (tmp_path / "VERSION").write_bytes(version)
    with pytest.raises(ConfigurationError, match="Name the folder that holds 'jars' and 'bin'"):
        jars.find_spark(tmp_path)


def test_each_connector_has_a_jar_of_its_own(package: Path, tmp_path: Path) -> None:
    home = spark(tmp_path / "home", "spark-core_2.13-4.3.0.jar")
    names = [f"sparkconfig_2.13-{__version__}.jar"]
    names += [f"sparkconfig-{each}_2.13-{__version__}.jar" for each in jars.CONNECTORS]
    for name in names:
        (package / name).touch()
    found = [jars.find_jar(home), *(jars.find_jar(home, connector=each) for each in jars.CONNECTORS)]
    assert [each.name for each in found] == names


def test_a_missing_jar_and_what_is_there_instead(package: Path) -> None:
    (package / f"sparkconfig_2.12-{__version__}.jar").touch()
    with pytest.raises(ConfigurationError, match=rf"it has sparkconfig_2\.12-{__version__}\.jar.*make jar"):
        jars.find_jar(scala="2.13")
    with pytest.raises(ConfigurationError, match=r"no jar for Scala 2\.11"):
        jars.find_jar(scala="2.11")


def test_a_package_inside_of_the_jar_is_the_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / f"io.sparkconfig_sparkconfig_2.13-{__version__}.jar"
    jar.touch()
    monkeypatch.setattr(jars, "FOLDER", jar / "sparkconfig" / "jars")
    assert jars.find_jar(scala="2.13") == jar

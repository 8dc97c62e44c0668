"""What session.configure puts into a builder; that it works on a real Spark is shown by the launch tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sparkconfig.errors import ConfigurationError
from sparkconfig.session import PLUGIN, configure

JAR = "/opt/jars/sparkconfig_2.13-9.jar"
Options = Callable[..., dict[str, str]]


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    """Configures a new builder that has the options given, and returns what it has then."""
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE", "SPARK_API_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))

    def options(before: dict[str, str] | None = None, **arguments: object) -> dict[str, str]:
        builder = SparkSession.Builder()
        for key, value in (before or {}).items():
            builder.config(key, value)
        assert configure(builder, jar=JAR, **arguments) is builder
        return dict(builder._options)

    return options


def test_jar_and_plugin(options: Options) -> None:
    assert options() == {"spark.jars": JAR, "spark.plugins": PLUGIN}


def test_lists_of_the_builder_stay(options: Options) -> None:
    before = {"spark.jars": "/a.jar, /opt/sparkconfig_2.13-8.jar", "spark.plugins": "com.example.Other"}
    assert options(before) == {"spark.jars": f"/a.jar,{JAR}", "spark.plugins": f"com.example.Other,{PLUGIN}"}


def test_lists_of_spark_defaults_stay(options: Options, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.plugins com.example.Other\nspark.jars=/a.jar\n")
    assert options() == {"spark.jars": f"/a.jar,{JAR}", "spark.plugins": f"com.example.Other,{PLUGIN}"}


def test_twice_is_once(options: Options) -> None:
    once = options()
    assert options(once) == once


@pytest.mark.parametrize("before", [{"spark.remote": "local[2]"}, {"spark.api.mode": "connect"}])
def test_local_connect_overwrites_plugins(options: Options, before: dict[str, str]) -> None:
    found = options(before)
    assert found["spark.plugins.defaultList"] == PLUGIN
    assert "spark.plugins" not in found


def test_a_connect_client_is_refused(options: Options) -> None:
    with pytest.raises(ConfigurationError, match="server"):
        options({"spark.remote": "sc://host"})


def test_class_path(options: Options) -> None:
    found = options({"spark.driver.extraClassPath": "/a.jar"}, class_path=True)
    assert found["spark.driver.extraClassPath"] == f"/a.jar:{JAR}"
    assert found["spark.executor.extraClassPath"] == JAR
    assert "spark.jars" not in found


def test_providers_and_settings(options: Options) -> None:
    found = options(
        providers={"sealed": {"class": "sealed", "file": "/s", "key.file": "/k"}, "envvar": {}},
        settings={"poll.interval": "1s", "spark.config.reload.trigger": "manual"},
    )
    assert {key: value for key, value in found.items() if key.startswith("spark.config.")} == {
        "spark.config.providers": "sealed,envvar",
        "spark.config.providers.sealed.class": "sealed",
        "spark.config.providers.sealed.param.file": "/s",
        "spark.config.providers.sealed.param.key.file": "/k",
        "spark.config.poll.interval": "1s",
        "spark.config.reload.trigger": "manual",
    }


def test_jars_of_submit_args_would_win(options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /a.jar pyspark-shell")
    with pytest.raises(ConfigurationError, match="PYSPARK_SUBMIT_ARGS"):
        options()
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--jars /a.jar,{JAR} pyspark-shell")
    assert "spark.jars" not in options()


@pytest.mark.parametrize("name", ["io.sparkconfig.Configplugin", "io.sparkConfig.ConfigPlugins"])
def test_a_misspelt_plugin_is_named(options: Options, name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}.*the plugin is {PLUGIN}"):
        options({"spark.plugins": f"com.example.Other,{name}"})

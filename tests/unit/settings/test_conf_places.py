"""Confs in which a reference would never become a value are refused, each with what to do; so says the doctor."""

from __future__ import annotations

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.conf_warnings import empty, of_start
from sparkconfig.settings.readers import CONNECTOR_CODE, CONNECTORS, is_of_application, is_of_hadoop
from sparkconfig.settings.schema import Settings, parse

ENV = "spark.executorEnv.TOKEN"


def advice(key: str, settings: Settings | None = None, **confs: str) -> str | None:
    return ConfPlaces.of(settings or Settings(), confs).advice(key)


@pytest.mark.parametrize(
    ("master", "words"),
    [
        ("yarn", "turns it into nothing"),
        ("k8s://https://host:6443", "spark.kubernetes.executor.secretKeyRef.TOKEN"),
        ("spark://host:7077", "show in launch scripts"),
        ("local[4]", "show in launch scripts"),
    ],
)
def test_the_environment_of_executors_is_no_place_for_a_reference(master: str, words: str) -> None:
    found = str(advice(ENV, **{"spark.master": master}))
    assert found.startswith(f"{ENV}: ")
    assert words in found
    assert "sparkconfig.current(...)" in found


@pytest.mark.parametrize(
    "key",
    [
        "spark.yarn.appMasterEnv.TOKEN",
        "spark.yarn.tags",
        "spark.kubernetes.driverEnv.TOKEN",
        "spark.kubernetes.driver.label.team",
        "spark.kubernetes.driver.service.label.team",
        "spark.kubernetes.executor.secretKeyRef.TOKEN",
        "spark.kubernetes.driver.secrets.token",
        "spark.kubernetes.driver.volumes.hostPath.data.mount.path",
        "spark.kubernetes.node.selector.zone",
        "spark.metrics.conf.*.sink.graphite.password",
        "spark.acme.AuthFilter.param.signature.secret",
    ],
)
def test_what_spark_copies_into_what_others_see_is_refused(key: str) -> None:
    found = advice(key, **{"spark.ui.filters": "a.Other,acme.AuthFilter"})
    assert found is not None
    assert ". " in found, "says no remedy"


@pytest.mark.parametrize(
    "key",
    [
        "spark.shop.password",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.kubernetes.authenticate.oauthToken",
        "spark.kubernetes.namespace",
        "spark.yarn.queue",
        "spark.acme.model.param.token",
        "spark.sql.catalog.pg.password",
    ],
)
def test_other_confs_are_not(key: str) -> None:
    assert advice(key, **{"spark.ui.filters": "acme.AuthFilter"}) is None


@pytest.mark.parametrize(
    ("key", "text", "shells"),
    [
        ("spark.yarn.appMasterEnv.DATA", "${HOME:-/tmp}/data", True),
        ("spark.yarn.appMasterEnv.DATA", "${A:=1}${B:+2}${C:?three words}", True),
        ("spark.executorEnv.DATA", "${HOME:-/tmp}", True),
        ("spark.yarn.appMasterEnv.DATA", "${vault:a:b}", False),
        ("spark.yarn.appMasterEnv.DATA", "${HOME:-/tmp}/${vault:a:b}", False),
        ("spark.yarn.appMasterEnv.DATA", "${HOME:-${vault:a:b}}", False),
        ("spark.yarn.appMasterEnv.DATA", "${HOME:-/tmp}/$[envVar=X]", False),
        ("spark.yarn.tags", "${HOME:-/tmp}", False),
        ("spark.shop.folder", "${HOME:-/tmp}", False),
    ],
)
def test_defaults_of_a_shell_are_not_references_where_yarn_writes_a_script(
    key: str, text: str, shells: bool
) -> None:
    assert ConfPlaces.of(Settings(), {"spark.master": "yarn"}).is_of_shell(key, text) is shells


def test_only_yarns_shell_sees_the_environment_of_executors() -> None:
    for master in ("", "spark://host:7077", "k8s://host"):
        places = ConfPlaces.of(Settings(), {"spark.master": master})
        assert not places.is_of_shell("spark.executorEnv.DATA", "${HOME:-/tmp}")


@pytest.mark.parametrize("prefix", sorted({*CONNECTORS} - {*CONNECTOR_CODE}))
def test_connectors_that_read_confs_by_themselves(prefix: str) -> None:
    key = f"{prefix}auth.password"
    found = advice(key)
    assert found is not None
    assert "spark.config.inplace.keys" in found
    for setting in ("inplace", "reference"):
        assert advice(key, parse({f"spark.config.{setting}.keys": f"spark.x,{prefix}*"})) is None
        assert advice(key, parse({f"spark.config.{setting}.keys": "spark.x"})) == found
    assert advice(key, parse({"spark.config.resolve.prefixes": f"+{prefix}=com.acme.connector"})) is None


@pytest.mark.parametrize("prefix", CONNECTOR_CODE)
def test_connectors_whose_own_code_gets_values(prefix: str) -> None:
    key = f"{prefix}auth.password"
    assert advice(key) is None
    assert (
        advice(key, parse({"spark.config.resolve.prefixes": "spark.shopdb=com.acme.shopdb|com.acme.other."}))
        is not None
    )


def test_prefixes_of_connectors() -> None:
    given = parse({"spark.config.resolve.prefixes": "spark.shopdb=com.acme.shopdb|com.acme.other."})
    assert given.resolve_prefixes == {"spark.shopdb.": ("com.acme.shopdb.", "com.acme.other.")}
    added = parse({"spark.config.resolve.prefixes": "+spark.shopdb.=com.acme.shopdb"}).resolve_prefixes
    assert added == {**CONNECTOR_CODE, "spark.shopdb.": ("com.acme.shopdb.",)}
    for wrong in (
        "spark.shopdb",
        "spark.shopdb=",
        "spark.x=com",
        "spark.x=org.apache.spark",
        "spark.config.x=a.b",
        "=a.b",
    ):
        with pytest.raises(ConfigurationError, match=r"spark\.config\.resolve\.prefixes"):
            parse({"spark.config.resolve.prefixes": wrong})


def test_empty_secrets_are_named() -> None:
    confs = {
        "spark.shop.password": "",
        "spark.shop.apiKey": " ",
        "spark.shop.name": "",
        "spark.shop.token": "${sealed:shop:token}",
        "spark.shop.password.file": "",
        "spark.config.providers.v.param.token": "",
    }
    assert empty(confs) == [
        "spark.config.providers.v.param.token",
        "spark.shop.apiKey",
        "spark.shop.password",
    ]
    assert [text.partition(":")[0] for text in of_start({"spark.shop.password": ""}, ["v"])] == [
        "spark.shop.password"
    ]


def test_what_only_an_application_reads_is_told_from_what_is_read_for_it() -> None:
    assert is_of_application("spark.shop.password")
    for key in (
        "spark.hadoop.fs.s3a.secret.key",
        "spark.sql.catalog.pg.password",
        "spark.es.pass",
        "password",
    ):
        assert not is_of_application(key)


@pytest.mark.parametrize("key", ["fs.s3a.secret.key", "dfs.x", "hadoop.security.x", "google.cloud.auth.x"])
def test_hadoop_reads_these_keys_of_a_session(key: str) -> None:
    assert is_of_hadoop(key)
    assert not is_of_hadoop(f"spark.shop.{key}")

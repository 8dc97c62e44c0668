"""What ``current()`` takes: a text with a reference, never a name that would come back as the secret."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparkconfig
from sparkconfig import worker
from sparkconfig._spark import driver
from sparkconfig.errors import AgentError, ConfigurationError, UnresolvedReferenceError
from sparkconfig.secret import Secret

NAMES = ["spark.shop.password", " spark.shop.pass-word ", "spark.hadoop.fs.s3a.secret.key"]
TEXTS = ["shop/password", "vault:shop:password", "$password", "{vault:shop:password}", "", "correct horse"]
NEARLY = [
    "${HOME}", "${vault:shop", "${vault:shop:password", "${", "${}", "jdbc:${HOME}", "${vault}",
    "${vault.shop.password}", "${vault:shop:password}${HOME}", "${HOME}${vault:shop:password}",
    "${vault:shop:user}:${vault:shop:password",
]  # fmt: skip


@pytest.mark.parametrize("current", [sparkconfig.current, worker.current])
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_conf_is_refused_with_what_to_write(current, name):
    with pytest.raises(UnresolvedReferenceError, match=r"spark\.conf\.get") as caught:
        current(name)
    assert name.strip() in str(caught.value)


@pytest.mark.parametrize("current", [sparkconfig.current, worker.current])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_without_a_reference_is_refused_and_not_shown(current, text):
    with pytest.raises(UnresolvedReferenceError, match="holds no reference") as caught:
        current(text)
    assert not text or text not in str(caught.value).replace("${vault:db/prod:password}", "")


@pytest.mark.parametrize("current", [sparkconfig.current, worker.current])
@pytest.mark.parametrize("text", NEARLY)
def test_what_only_looks_like_a_reference_is_refused_with_what_to_write(current, text):
    with pytest.raises(UnresolvedReferenceError, match="begins no reference") as caught:
        current(text)
    assert "${envvar:NAME}" in str(caught.value)


@pytest.mark.parametrize("current", [sparkconfig.current, worker.current])
@pytest.mark.parametrize(
    "given", [None, 5, b"${vault:shop:password}", ["${vault:shop:password}"], Path("x"), True]
)
def test_what_is_no_text_is_refused(current, given):
    with pytest.raises(ConfigurationError, match=rf"current\(\) takes a text.*not {type(given).__name__}$"):
        current(given)


@pytest.mark.parametrize("configs", [driver.configs, worker.configs])
@pytest.mark.parametrize(
    "given",
    [
        None,
        "${vault:shop:password}",
        {"a": None},
        {"a": 5},
        {5: "a"},
        {"a": Secret("hush-hush")},
        {"a": b"${v:p:k}"},
    ],
)
def test_what_is_no_map_of_texts_is_refused_and_not_shown(configs, given):
    with pytest.raises(ConfigurationError, match=r"configs\(\) takes a map of texts") as caught:
        configs(given)
    assert "hush" not in str(caught.value)


def test_where_no_application_runs_the_error_names_the_way_of_workers():
    with pytest.raises(AgentError, match=r"sparkconfig\.worker\.current"):
        sparkconfig.current("${vault:shop:password}")

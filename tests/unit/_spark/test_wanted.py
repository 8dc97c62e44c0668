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


CURRENTS = pytest.mark.parametrize("current", [sparkconfig.current, worker.current])


@CURRENTS
@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((name, r"spark\.conf\.get") for name in NAMES),
        *((text, "holds no reference") for text in TEXTS),
        *((text, r"begins no reference.*\$\{envvar:NAME\}") for text in NEARLY),
    ],
)
def test_what_is_no_reference_is_refused_with_what_to_write(current, text, said):
    with pytest.raises(UnresolvedReferenceError, match=said) as caught:
        current(text)
    shown = str(caught.value).replace("${vault:db/prod:password}", "")
    assert (text.strip() in shown) is (text in NAMES or not text) or text in NEARLY, "a name alone is shown"


@CURRENTS
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

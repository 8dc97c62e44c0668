"""What ``current()`` takes: a text with a reference, never a name that would come back as the secret."""

from __future__ import annotations

import pytest

import sparkconfig
from sparkconfig import worker
from sparkconfig.errors import AgentError, UnresolvedReferenceError

NAMES = ["spark.shop.password", " spark.shop.pass-word ", "spark.hadoop.fs.s3a.secret.key"]
TEXTS = ["shop/password", "vault:shop:password", "$password", "{vault:shop:password}", "", "correct horse"]


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


def test_where_no_application_runs_the_error_names_the_way_of_workers():
    with pytest.raises(AgentError, match=r"sparkconfig\.worker\.current"):
        sparkconfig.current("${vault:shop:password}")

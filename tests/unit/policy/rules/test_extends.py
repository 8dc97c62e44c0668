"""A policy that extends another: what an upgrade adds to the base reaches it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.builtin.rules import load_rulebook
from sparkconfig.policy.request import StatementItem
from sparkconfig.policy.rules.extends import SHIPPED
from unit.policy.helpers import engine, request

BASE = {
    "rules": [
        {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": 10},
        {"key": "spark.jars", "type": "forbidden"},
    ],
    "paths": [{"type": "allow", "path": "s3a://lake/*"}],
    "references": [{"type": "allow", "provider": "sealed", "path": "shared/*"}],
    "formats": {"shop": {"to": {"kind": "url", "options": "endpoint"}}},
}


def extending(folder, document):
    (folder / "base.json").write_text(json.dumps(BASE))
    return engine(folder, document, providers="sealed")


def allows(found, confs):
    return not found.check(request(confs, job_type="connect", scope="session")).violations


def reads(found, path):
    asked = request(job_type="connect", scope="session")
    return not found.check_statement(asked, [StatementItem("path", path, "read")]).violations


def test_a_rule_about_the_same_key_takes_the_place_of_the_bases(tmp_path: Path) -> None:
    wider = {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": 500}
    found = extending(tmp_path, {"extends": "base.json", "rules": [wider]})
    assert allows(found, {"spark.sql.shuffle.partitions": "500"})
    assert not allows(found, {"spark.sql.shuffle.partitions": "501"})
    assert not allows(found, {"spark.jars": "x.jar"})


def test_one_for_some_jobs_leaves_the_base_to_the_others(tmp_path: Path) -> None:
    for_batch = {"key": "spark.jars", "type": "unlimited", "jobTypes": ["batch"]}
    found = extending(tmp_path, {"extends": "base.json", "rules": [for_batch]})
    assert not allows(found, {"spark.jars": "x.jar"})


def test_what_the_base_says_of_a_source_is_known(tmp_path: Path) -> None:
    bound = {
        "type": "allow",
        "provider": "sealed",
        "path": "team/*",
        "formats": "shop",
        "to": "https://shop.example/",
    }
    extending(tmp_path, {"extends": "base.json", "references": [bound]})


def test_over_several_documents(tmp_path: Path) -> None:
    (tmp_path / "company.json").write_text(
        json.dumps({"extends": "base.json", "paths": [{"type": "forbid", "path": "s3a://lake/hr/*"}]})
    )
    found = extending(
        tmp_path, {"extends": "company.json", "paths": [{"type": "allow", "path": "s3a://team/*"}]}
    )
    assert reads(found, "s3a://lake/x")
    assert reads(found, "s3a://team/x")
    assert not reads(found, "s3a://lake/hr/x")


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        ("shared-servr", "no policy 'shared-servr' ships: write batch-limits"),
        ("policy.json", "documents extend each other"),
        ("missing.json", "cannot be read"),
        ("../../etc/passwd", "no policy"),
        (7, "extends"),
        ("", "extends"),
    ],
)
def test_what_cannot_be_extended_stops_the_start(tmp_path: Path, extends: object, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        extending(tmp_path, {"extends": extends})


def test_a_policy_that_ships_can_be_extended_from_a_text() -> None:
    text = json.dumps({"extends": "shared-server", "paths": [{"type": "allow", "path": "s3a://lake/*"}]})
    book = load_rulebook("Rules", {"definition": text})
    shipped = load_rulebook("Rules", {"file": str(SHIPPED / "shared-server.json")})
    assert len(book.rules) == len(shipped.rules)
    assert len(book.statements.rules["path"]) == len(shipped.statements.rules["path"]) + 1

"""Keys that switch off what policies and redaction rely on: a job cannot set them under a policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.policy.helpers import denied, engine, request, rules

SWITCHES = {
    "spark.sql.analyzer.singlePassResolver.enabled": "true",
    "spark.sql.analyzer.singlePassResolver.enabledTentatively": "true",
    "spark.sql.analyzer.maxIterations": "1",
    "spark.sql.optimizer.excludedRules": "io.sparkconfig.bindings.sources.ResolveOptions",
    "spark.sql.adaptive.optimizer.excludedRules": "x",
    "spark.sql.extensions": "shop.Extensions",
    "spark.sql.sources.useV1SourceList": "",
    "spark.authenticate": "false",
    "spark.network.crypto.enabled": "false",
    "spark.redaction.regex": "nothing",
    "spark.plugins": "shop.Plugin",
}


@pytest.mark.parametrize("scope", ["application", "session"])
@pytest.mark.parametrize("key", SWITCHES)
def test_a_switch_is_refused_in_every_spelling_unless_a_rule_names_it(
    tmp_path: Path, key: str, scope: str
) -> None:
    made = engine(tmp_path, rules())
    for written in (key, key.upper(), f"{key} "):
        found = made.check(request({written: SWITCHES[key]}, scope=scope))
        assert denied(found) == [written], written


@pytest.mark.parametrize(
    "name",
    ["authenticate", "network.crypto.enabled", "network.crypto.saslFallback", "io.encryption.enabled"],
)
def test_turning_protection_on_is_not_an_override(tmp_path, name):
    name, (off, on) = f"spark.{name}", sorted(("true", "false"), reverse="Fallback" in name)
    assert engine(tmp_path).check(request({name: on})).allowed
    assert denied(engine(tmp_path).check(request({name: off}))) == [name]
    assert denied(engine(tmp_path).check(request({name: "${files:x:y}"}))) == [name]
    assert denied(engine(tmp_path, defaults={name: off}).check(request({name: on}))) == [name]
    forbidding = engine(tmp_path, rules({"key": name, "type": "forbidden"}), override__policy="Rules")
    assert denied(forbidding.check(request({name: on}))) == [name]

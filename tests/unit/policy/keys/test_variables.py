"""Variables that Hadoop and Spark replace: on a shared server they would read what is not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.policy.keys.variables import variables_in
from unit.policy.helpers import denied, engine, request, rules

PROVIDER = {"providers": "files", "providers__files__class": "file", "override__policy": "Rules"}
ALLOWED = {"references": [{"type": "allow", "provider": "files", "path": "*"}]}
OPTION = {"key": "nullValue", "type": "unlimited"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("${env.STORE_LOGIN}", ["env.STORE_LOGIN"]),
        ("a ${user.home} b ${fs.s3a.secret.key}", ["user.home", "fs.s3a.secret.key"]),
        # With a default, for Hadoop; references of Spark's, which it reads in its own confs.
        ("${env.STORE_LOGIN:-x}", ["env.STORE_LOGIN:-x"]),
        ("${env:HOME}", ["env:HOME"]),
        ("${system:user.home}", ["system:user.home"]),
        # One in another.
        ("${k.${acme.password}}", ["k.${acme.password", "acme.password"]),
        ("${files:${acme.password}}", ["files:${acme.password", "acme.password"]),
        ("${files:/x:${acme.password}", ["files:/x:${acme.password", "acme.password"]),
        ("${}", [""]),
        ("${files:/x:password}", []),
        ("${files:password} and ${mine:/x:y}", []),
        ("$x ${", []),
        ("{x} $ {y}", []),
    ],
)
def test_what_is_replaced_by_others(text: str, names: list[str]) -> None:
    assert list(variables_in(text, {"env", "system"})) == names


@pytest.mark.parametrize("text", ["${", "${a", "${a:", "$${", "{${", "${}{", "${x}", "${files:"])
@pytest.mark.parametrize("end", ["", "}"])
@pytest.mark.parametrize("allowed", [False, True])
def test_megabytes_of_beginnings_are_read_once(tmp_path: Path, text: str, end: str, allowed: bool) -> None:
    """A side process that reads one text for hours answers nobody else."""
    allowing = {"key": "sparkconfig.variables", "type": "unlimited", "scopes": ["source"]}
    made = engine(tmp_path, rules(OPTION, *[allowing][: int(allowed)], **ALLOWED), **PROVIDER)
    asked = {"nullValue": (text * 2_000_000)[:2_000_000] + end}
    found = made.check(request(asked, job_type="connect", scope="source"))
    is_variable = end == "}" or "}" in text
    assert found.allowed == (not is_variable or (allowed and text in ("${}{", "${x}")))


def test_a_name_without_end_is_not_one_that_a_rule_allows(tmp_path: Path) -> None:
    assert list(variables_in("${" + "a" * 5000 + "}", ())) == ["a" * 1001]
    assert not list(variables_in("${files:/" + "a" * 5000 + ":b}", ()))
    allowing = {"key": "sparkconfig.variables", "type": "unlimited", "scopes": ["source"]}
    made = engine(tmp_path, rules(OPTION, allowing), override__policy="Rules")
    for size, refused in ((1000, []), (1001, ["nullValue"])):
        asked = {"nullValue": "${" + "a" * size + "}"}
        assert denied(made.check(request(asked, job_type="connect", scope="source"))) == refused


@pytest.mark.parametrize("scope", ["source", "sink", "session", "hadoop", "catalog"])
@pytest.mark.parametrize("job_type", ["connect", "sql"])
def test_users_of_shared_servers_write_none(tmp_path: Path, job_type: str, scope: str) -> None:
    made = engine(tmp_path, rules(OPTION, **ALLOWED), **PROVIDER)
    asked = {
        "nullValue": "${env.STORE_LOGIN}",
        "sep": "x${fs.s3a.secret.key}",
        "header": "true",
        "quote": "${",
    }
    found = made.check(request(asked, job_type=job_type, scope=scope))
    assert denied(found) == ["nullValue", "sep"]
    assert "write it without" in str(found.message)
    assert "STORE_LOGIN" not in str(found.message)
    assert [each.verdict for each in found.explanation][:2] == ["denied", "denied"]
    if scope in ("source", "sink"):
        reference = {"password": "${files:/x:y}"}
        assert made.check(request(reference, job_type=job_type, scope=scope, formats=("jdbc",))).allowed


def test_jobs_of_their_own_and_the_operator_may(tmp_path: Path) -> None:
    asked = {"nullValue": "${env.HOME}"}
    made = engine(
        tmp_path, rules(OPTION), defaults={"spark.shop.home": "${user.home}"}, override__policy="Rules"
    )
    assert made.check(request(asked, job_type="batch", scope="source")).allowed
    assert made.check(request({"spark.shop.home": "${user.home}"}, job_type="sql")).allowed
    free = engine(tmp_path, override__policy="All")
    assert free.check(request(asked, job_type="connect", scope="source")).allowed
    for policy in ("None", "Principal"):
        assert denied(
            engine(tmp_path, override__policy=policy).check(
                request(asked, job_type="connect", scope="source")
            )
        ) == ["nullValue"]


def test_a_rule_may_allow_some_by_name(tmp_path: Path) -> None:
    allowing = {"key": "sparkconfig.variables", "type": "allowlist", "values": ["x"], "scopes": ["source"]}
    made = engine(tmp_path, rules(OPTION, allowing), override__policy="Rules")
    for text, refused in (("${x}", []), ("${x} ${y}", ["nullValue"]), ("${y}", ["nullValue"])):
        assert denied(made.check(request({"nullValue": text}, job_type="connect", scope="source"))) == refused
    assert denied(made.check(request({"nullValue": "${x}"}, job_type="connect", scope="sink"))) == [
        "nullValue"
    ]

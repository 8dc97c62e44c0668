"""Rules about users, and references whose path holds the user."""

from __future__ import annotations

import pytest

from sparkconfig.agent.policy_calls import answer
from sparkconfig.policy.request import ReferenceUse, StatementItem
from unit.policy.helpers import VAULT, engine, request

OWN = {"type": "allow", "provider": "vault", "path": "users/{user}/*"}
TEAM = {"type": "allow", "provider": "vault", "path": "team/*", "users": ["ana", "ops-*"]}


def refused(tmp_path, rules, path, user="", **more):
    found = engine(tmp_path, {"references": rules}, **VAULT).check(
        request(
            job_type="connect", user=user, authenticated=bool(user), scope="source", formats=("jdbc",),
            references=[ReferenceUse("password", "vault", path, "password")], **more,
        )
    )  # fmt: skip
    return not found.allowed


@pytest.mark.parametrize("user", ["ana", "ana.b", "a b", "ana/b", "ana%41", "DOM\\ana", "ana@shop", "änä"])
def test_each_user_has_a_folder(tmp_path, user):
    from urllib.parse import quote

    folder = quote(user, safe="")
    assert not refused(tmp_path, [OWN], f"users/{folder}/db", user)
    for other in ("bob", f"{folder}x", "", "..", f"../users/{folder}", f"bob/../{folder}x"):
        assert refused(tmp_path, [OWN], f"users/{other}/db", user)
    assert refused(tmp_path, [OWN], f"users/{folder}/../bob/db", user)


@pytest.mark.parametrize("user", ["", ".", "..", "*", "b*", "../admin", "ana/../bob"])
def test_nobody_has_the_folder_of_another(tmp_path, user):
    for path in (
        "users/bob/db",
        "users//db",
        "users/../admin/db",
        "admin/db",
        "users/*/db",
        "users/{user}/db",
    ):
        assert refused(tmp_path, [OWN], path, user)


@pytest.mark.parametrize("user", ["ana", "ana.b", "ana@shop", "änä"])
def test_each_user_has_a_folder_of_the_lake(tmp_path, user):
    own = {"type": "allow", "path": ["s3a://lake/{user}/*", "s3a://lake/all/*"], "access": "checkpoint"}
    assert not path_refused(tmp_path, [own], f"s3a://lake/{user}/a", user)
    assert not path_refused(tmp_path, [own], "s3a://lake/all/a", "a/b")
    for other in ("bob", f"{user}x", "", "{user}", "..", f"{user}/../bob", f"{user}/\\.\\./bob"):
        assert path_refused(tmp_path, [own], f"s3a://lake/{other}/a", user)
    for nobody in ("", ".", "..", "*", "b*", "../bob", "bob/..", "a/b", "b?b", "b%6fb", "{bob}", "${env:A}"):
        for folder in (nobody, "bob", "{user}"):
            assert path_refused(tmp_path, [own], f"s3a://lake/{folder}/a", nobody)


def path_refused(tmp_path, rules, path, user):
    asked = request(job_type="connect", user=user, authenticated=bool(user))
    made = engine(tmp_path, {"paths": rules})
    return not made.check_statement(asked, [StatementItem("path", path, "checkpoint")]).allowed


def test_rules_for_users(tmp_path):
    assert not refused(tmp_path, [TEAM], "team/db", "ana")
    assert not refused(tmp_path, [TEAM], "team/db", "ops-1")
    assert refused(tmp_path, [TEAM], "team/db", "bob")
    assert refused(tmp_path, [TEAM], "team/db")
    forbid = {"type": "forbid", "provider": "vault", "path": "team/pay*", "users": "bob"}
    everything = {"type": "allow", "provider": "vault"}
    assert not refused(tmp_path, [everything, forbid], "team/pay", "ana")
    assert refused(tmp_path, [everything, forbid], "team/pay", "bob")
    assert refused(tmp_path, [everything, forbid], "team/pay")


@pytest.mark.parametrize(
    ("front", "trusted", "allowed"),
    [("thrift", "false", True), ("connect", "false", False), ("connect", "true", True), ("", "true", False)],
)
def test_who_counts_as_authenticated(tmp_path, front, trusted, allowed):
    rule = {**TEAM, "scopes": ["source", "application"]}
    made = engine(tmp_path, {"references": [rule]}, connect__user__trusted=trusted, **VAULT)
    for question in (
        {"op": "check", "scope": "source", "props": {"password": "${vault:team/db:k}"}, "formats": ["jdbc"]},
        {"op": "use", "scope": "application", "expressions": [{"text": "${vault:team/db:k}"}]},
    ):
        found = answer(made, {**question, "job_type": "connect", "user": "ana", "front": front})
        assert (found["ok"], found["allowed"]) == (True, allowed)


def test_who_has_no_name_uses_nothing_that_is_for_users(tmp_path):
    """A clone of a session has its user's name, and an executor asks nothing."""
    made = engine(tmp_path, {"references": [OWN, TEAM]}, **VAULT)

    def used(path, **who):
        question = {"op": "use", "job_type": "connect", "expressions": [{"text": f"${{vault:{path}:k}}"}]}
        return answer(made, {**question, **who})["allowed"]

    assert not used("users/ana/db")
    assert not used("team/db")
    assert used("users/ana/db", user="ana", front="thrift")
    assert not used("other/db")
    assert not used("users/ana/db", user="bob", front="thrift")


LIMIT = {"key": "spark.executor.memory", "type": "range", "maxValue": "4g"}


@pytest.mark.parametrize(
    ("elements", "user", "value", "allowed"),
    [
        ([LIMIT, {**LIMIT, "maxValue": "16g", "users": "ana"}], "ana", "8g", True),
        ([LIMIT, {**LIMIT, "maxValue": "16g", "users": "ana"}], "bob", "8g", False),
        ([LIMIT, {**LIMIT, "maxValue": "16g", "users": "ana"}], "", "8g", False),
        ([{**LIMIT, "users": ["a*"]}, {"key": "spark.executor.*", "type": "unlimited"}], "bob", "8g", True),
        ([{**LIMIT, "users": ["a*"]}, {"key": "spark.executor.*", "type": "unlimited"}], "ana", "8g", False),
        # Nobody knows that it is not ana.
        ([{**LIMIT, "users": ["a*"]}, {"key": "spark.executor.*", "type": "unlimited"}], "", "8g", False),
        ([{**LIMIT, "users": ["a*"]}, {"key": "spark.executor.*", "type": "unlimited"}], "", "2g", True),
        ([{**LIMIT, "users": "ana"}], "ana", "2g", True),
        ([{**LIMIT, "users": "ana"}], "bob", "2g", False),
        ([{**LIMIT, "users": "ana"}], "", "2g", False),
        ([{"key": "spark.executor.memory", "type": "forbidden", "users": "bob"}, LIMIT], "", "2g", False),
    ],
)
def test_rules_about_keys_know_users(tmp_path, elements, user, value, allowed):
    made = engine(tmp_path, {"rules": elements})
    for _ in range(2):  # the second time from the cache
        found = made.check(
            request({"spark.executor.memory": value}, job_type="connect", user=user, authenticated=bool(user))
        )
        assert found.allowed == allowed
        # What one user may set says nothing about another.
        made.check(
            request({"spark.executor.memory": value}, job_type="connect", user="x", authenticated=True)
        )


def test_values_of_rules_about_users_are_put_in_place_for_them(tmp_path):
    made = engine(
        tmp_path, {"rules": [{"key": "spark.shop.a", "type": "fixed", "value": "b", "users": "ana"}]}
    )
    for user, expected in (("ana", {"spark.shop.a": "b"}), ("bob", {}), ("", {})):
        found = made.check(request(user=user, authenticated=bool(user), complete=True))
        assert dict(found.defaults) == expected

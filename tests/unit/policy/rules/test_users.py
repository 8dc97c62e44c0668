"""Rules about users, and references whose path holds the user."""

from __future__ import annotations

import pytest

from sparkconfig.agent.policy_calls import answer
from sparkconfig.policy.request import ReferenceUse
from unit.policy.helpers import engine, request

OWN = {"type": "allow", "provider": "vault", "path": "users/{user}/*"}
TEAM = {"type": "allow", "provider": "vault", "path": "team/*", "users": ["ana", "ops-*"]}


def refused(tmp_path, rules, path, user="", **more):
    found = engine(tmp_path, {"references": rules}, providers="vault", providers__vault__class="envvar").check(
        request(
            job_type="connect", user=user, authenticated=bool(user),
            references=[ReferenceUse("", "vault", path, "password")], **more,
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
    made = engine(
        tmp_path, {"references": [TEAM]}, providers="vault", providers__vault__class="envvar",
        connect__user__trusted=trusted,
    )  # fmt: skip
    for question in (
        {"op": "check", "scope": "source", "references": [["", "vault", "team/db", "k"]]},
        {"op": "use", "scope": "application", "expressions": [{"text": "${vault:team/db:k}"}]},
    ):
        found = answer(made, {**question, "job_type": "connect", "user": "ana", "front": front})
        assert (found["ok"], found["allowed"]) == (True, allowed)


def test_a_connection_of_an_executor_may_use_what_a_door_let_pass_for_its_user(tmp_path):
    made = engine(tmp_path, {"references": [OWN, TEAM]}, providers="vault", providers__vault__class="envvar")

    def used(path, **who):
        question = {"op": "use", "job_type": "connect", "expressions": [{"text": f"${{vault:{path}:k}}"}]}
        return answer(made, {**question, **who})["allowed"]

    assert used("users/ana/db")
    assert used("team/db")
    assert not used("other/db")
    assert not used("users/ana/db", user="bob", front="thrift")

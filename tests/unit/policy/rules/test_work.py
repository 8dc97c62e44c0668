"""What many rules and long statements cost, counted in calls and not in time."""

from __future__ import annotations

import pytest

from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import ReferenceUse, StatementItem
from unit.policy.helpers import engine, request


def document(count):
    """Rules for teams 0 to ``count`` - 1; the last team's decide."""
    return {
        "references": [
            {"type": "allow", "provider": "vault", "path": f"team{n}/*", "users": f"team{n}-*"}
            for n in range(count)
        ],
        "paths": [{"type": "allow", "path": f"s3a://lake/team{n}/*"} for n in range(count)],
    }


@pytest.fixture
def asked(monkeypatch):
    """How often a pattern was compared."""
    found = []
    real = Pattern.matches
    monkeypatch.setattr(Pattern, "matches", lambda self, name: found.append(name) or real(self, name))
    return found


def last_teams(tmp_path, count):
    policies = engine(tmp_path, document(count), providers="vault", providers__vault__class="envvar")
    who = {"job_type": "batch", "user": f"team{count - 1}-ana", "authenticated": True}

    def ask():
        use = ReferenceUse("", "vault", f"team{count - 1}/db", "password")
        assert policies.check(request(references=(use,), **who)).allowed
        path = StatementItem("path", f"s3a://lake/team{count - 1}/orders", "read")
        assert policies.check_statement(request(scope="session", **who), [path]).allowed

    return ask


def test_ten_thousand_rules_are_no_more_than_ten_times_a_thousand(tmp_path, asked):
    work = []
    for count in (1000, 10_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        ask = last_teams(folder, count)
        ask()
        asked.clear()
        ask()
        work.append(len(asked))
    assert work[1] <= 10 * work[0] + 100, work


def test_rules_about_other_folders_are_not_asked(tmp_path, asked):
    policies = engine(
        tmp_path,
        {"references": document(1000)["references"]},
        providers="vault",
        providers__vault__class="envvar",
    )
    use = ReferenceUse("", "vault", "team7/db", "password")
    who = {"job_type": "batch", "user": "team7-ana", "authenticated": True}
    assert policies.check(request(references=(use,), **who)).allowed
    assert len(asked) < 20
    other = ReferenceUse("", "vault", "team8/db", "password")
    assert not policies.check(request(references=(other,), **who)).allowed


@pytest.mark.parametrize(
    "path", ["team7/../team8/db", "team7%2F..%2Fteam8/db", "//team7/db", "team7", "", "Team7/db"]
)
def test_other_spellings_of_a_folder_are_still_refused(tmp_path, path):
    policies = engine(
        tmp_path,
        {"references": document(10)["references"]},
        providers="vault",
        providers__vault__class="envvar",
    )
    use = ReferenceUse("", "vault", path, "password")
    found = policies.check(request(references=(use,), job_type="batch", user="team7-ana", authenticated=True))
    assert not found.allowed
    assert "no rule lets" in found.message


def test_rules_with_and_without_a_folder_keep_their_order(tmp_path):
    rules = [
        {"type": "allow", "provider": "vault", "path": "a/*", "options": "first", "message": "one"},
        {"type": "allow", "provider": "vault", "path": "*/db", "options": "second", "message": "two"},
        {"type": "allow", "provider": "vault", "path": "a/d*", "options": "third", "message": "three"},
        {"type": "allow", "provider": "vault", "path": "b/*"},
    ]
    policies = engine(tmp_path, {"references": rules}, providers="vault", providers__vault__class="envvar")
    use = ReferenceUse("other", "vault", "a/db", "password")
    found = policies.check(request(references=(use,), job_type="sql", scope="source"))
    assert "one; two; three" in found.message

"""What many rules and long statements cost, counted in calls and not in time."""

from __future__ import annotations

import pytest

from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import ReferenceUse
from unit.policy.helpers import VAULT, engine, request


def for_teams(count):
    rule = {"type": "allow", "provider": "vault"}
    return {
        "references": [{**rule, "path": f"team{n}/*", "users": f"team{n}-*"} for n in range(count)],
    }


@pytest.fixture
def asked(monkeypatch):
    """How often a pattern was compared."""
    found = []
    real = Pattern.matches
    monkeypatch.setattr(Pattern, "matches", lambda self, name: found.append(name) or real(self, name))
    return found


def test_rules_about_other_folders_are_not_asked(tmp_path, asked):
    policies = engine(tmp_path, for_teams(1000), **VAULT)
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
    policies = engine(tmp_path, for_teams(10), **VAULT)
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
    policies = engine(tmp_path, {"references": rules}, **VAULT)
    use = ReferenceUse("other", "vault", "a/db", "password")
    found = policies.check(request(references=(use,), job_type="sql", scope="source"))
    assert "one; two; three" in found.message

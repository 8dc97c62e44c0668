"""What people see of generations and of who uses what: names, never values."""

from __future__ import annotations

import json
from pathlib import Path

from sparkconfig.agent.factory import make_application
from sparkconfig.agent.generations import GenerationHistory
from sparkconfig.agent.status import status_of
from sparkconfig.agent.users import Users
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.in_use import Use
from sparkconfig.resolution.snapshot import Entry, Snapshot

CANARY = "Canary-value-88"


def test_a_status_has_each_generation_the_keys_in_use_and_who_asked(tmp_path: Path) -> None:
    secrets = tmp_path / "db.properties"
    secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-2\n")
    user, password = (f"${{files:{secrets}:{key}}}" for key in ("user", "password"))
    running = make_application(
        {
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.poll.interval": "1h",
            "spark.shop.user": user,
        },
        system_properties={},
        operator_file=None,
    )
    try:
        running.resolve_confs()
        running.keeper.resolve({password: Expression(password)})
        running.users.asked([password], "worker")
        running.users.asked([password], None)
        secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-3\n")
        running.refresh()
        status = status_of(running)
    finally:
        running.close()
    assert [(each["generation"], each["added"], each["changed"]) for each in status["generations"]] == [
        (2, [], [password]),
        (1, [user], []),
    ]
    assert {use["references"][0]: use["used_by"] for use in status["references"]} == {
        user: ["the conf spark.shop.user"],
        password: ["a Python worker", "a data source, catalog or connection"],
    }
    assert [path["keys"] for path in status["providers"][0]["paths"]] == [["password", "user"]]
    assert CANARY not in json.dumps(status)


def test_a_generation_with_many_changes_names_some_and_counts_the_rest() -> None:
    history = GenerationHistory()
    names = [f"${{files:{number:02}}}" for number in range(25)]
    uses = {name: Use(None, (name,), frozenset(), None, None) for name in names}
    before = Snapshot(1, {name: Entry("old", secret=True) for name in names})
    history.on_round(before, Snapshot(1, before.entries), uses)
    assert history.recent() == []
    history.on_round(before, Snapshot(2, {name: Entry("new", secret=True) for name in names}), uses)
    (found,) = history.recent()
    assert (found["changed"], found["changed_more"], found["lost"]) == (names[:20], 5, [])


def test_who_asked_is_bounded() -> None:
    users = Users()
    users.asked([str(number) for number in range(5000)], "application")
    assert users.of("0") == []
    assert users.of("4999") == ["the driver's code"]

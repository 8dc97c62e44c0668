"""The wire form of a generation: what a restarted side process reads back must still be masked."""

from __future__ import annotations

import json

from sparkconfig.resolution.files import StoredFile
from sparkconfig.resolution.snapshot import Entry, Snapshot

PASSWORD, TOKEN = "corr3ct-horse", "b4ttery-staple"
SNAPSHOT = Snapshot(
    7,
    {
        "url": Entry(f"jdbc:db://h?password={PASSWORD}", secret=True, secrets=(PASSWORD,)),
        "token": Entry(TOKEN, secret=True, files=frozenset({"f"}), secrets=(TOKEN,)),
        "host": Entry("db.example", secret=False),
    },
    {"f": StoredFile("token", b"\x00\xff")},
)


def test_what_must_be_masked_survives_the_wire() -> None:
    read = Snapshot.from_json(json.loads(json.dumps(SNAPSHOT.to_json())))
    assert read == SNAPSHOT
    assert sorted(read.secrets) == sorted([PASSWORD, TOKEN])
    # And once more: this process may be replaced, too.
    assert sorted(Snapshot.from_json(read.to_json()).secrets) == sorted([PASSWORD, TOKEN])


def test_what_says_nothing_else_is_a_secret() -> None:
    read = Snapshot.from_json({"generation": 1, "values": {"a": {"value": "x"}}, "redact": "not a list"})
    assert read.entries["a"].secret
    assert read.secrets == []
    assert Snapshot.from_json({}) == Snapshot(0, {})


def test_changes_say_since_when_and_what_to_mask() -> None:
    assert SNAPSHOT.changes_json(6, ["host", "url", "gone"]) == {
        "since": 6,
        "generation": 7,
        "values": {
            "host": {"value": "db.example", "secret": False, "redact": []},
            "url": {"value": f"jdbc:db://h?password={PASSWORD}", "secret": True, "redact": [PASSWORD]},
        },
        "removed": ["gone"],
    }


def test_no_value_shows() -> None:
    shown = repr(SNAPSHOT) + repr(dict(SNAPSHOT.entries))
    assert PASSWORD not in shown
    assert TOKEN not in shown

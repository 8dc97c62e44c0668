"""Two users of one server at once: 200 statements in turns, each allowed to one of them and refused to the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support.attacks import named

USERS = ("ann", "bob")
TURNS = 25
CONNECTION = named("dbtable 'sysibm.sysdummy1'", name="bobs")
"""A view through a connection that is bob's."""

#: A statement; why it was refused, or None.
Attempt = Callable[[str], str | None]


def make_folders(folder: Path, secret: str) -> None:
    """A folder of each user's with a reference ``line``, and a file that the value divides in two."""
    for user in USERS:
        (folder / "users" / user).mkdir(parents=True)
        (folder / "users" / user / "own.properties").write_text(f"line={secret}\n")
    (folder / "lake").mkdir(exist_ok=True)
    (folder / "lake" / "lines.txt").write_text(f"one{secret}two")


def own_view(folder: Path, owner: str) -> str:
    """A view whose option holds a reference below ``users/OWNER``."""
    line = f"${{files:{folder}/users/{owner}/own.properties:line}}"
    options = f"(path '{folder}/lake/lines.txt', lineSep '{line}')"
    return f"CREATE OR REPLACE TEMPORARY VIEW own_lines USING text OPTIONS {options}"


def take_turns(attempts: Mapping[str, Attempt], folder: Path) -> None:
    """Both send 100 statements, in step: what one is allowed is neither remembered for the other nor mixed up."""
    together = threading.Barrier(len(USERS))

    def all_turns(user: str) -> None:
        own, other = user, USERS[1 - USERS.index(user)]
        for turn in range(TURNS):
            asked = [
                (own_view(folder, own), True),
                (own_view(folder, other), False),
                (CONNECTION, user == "bob"),
            ]
            asked.append(
                ("SELECT assert_true(count(*) = 2) FROM own_lines", True) if turn % 5 == 4 else asked[0]
            )
            for statement, allowed in asked if turn % 2 else asked[::-1] if turn % 5 != 4 else asked:
                try:
                    together.wait(timeout=120)
                    refused = attempts[user](statement)
                    assert (refused is None) == allowed, (user, turn, statement, refused)
                except BaseException:
                    together.abort()
                    raise

    with ThreadPoolExecutor(len(USERS)) as pool:
        for done in [pool.submit(all_turns, user) for user in USERS]:
            done.result()


def nobody_is_mistaken(audit: list[dict[str, Any]], folder: Path) -> None:
    """What the audit recorded of each user's references names that user."""
    seen: set[tuple[str, str, str]] = set()
    for record in audit:
        for owner in USERS:
            if f"{folder}/users/{owner}/" in str(record.get("subject")):
                seen.add((owner, record["user"], record["decision"]))
    decisions = {(owner, user, "allowed" if owner == user else "denied") for owner in USERS for user in USERS}
    assert seen == decisions, seen

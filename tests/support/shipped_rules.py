"""The policy that the project ships for shared servers, for servers of tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparkconfig.policy.rules.document import read
from support.attacks import SHOP

SHIPPED = Path(__file__).resolve().parents[2] / "conf" / "policies" / "shared-server.json"


def shipped_rules(folder: Path) -> dict[str, Any]:
    """The shipped rules; files below ``folder/lake`` are the lake."""
    rules = json.loads(json.dumps(dict(read(SHIPPED).data)))
    (url,) = (rule for rule in rules["rules"] if rule["key"] == "url")
    url["pattern"] += f"|{SHOP}"  # the one database of these tests
    rules["paths"] += [
        {"type": "allow", "path": f"file:{folder}/lake/*"},
        {"type": "allow", "path": f"file:{folder}/state/*", "access": "checkpoint"},
    ]
    rules["statements"].append({"type": "allow", "statement": "list-jars", "users": "bob"})
    files = {"type": "allow", "provider": "files"}
    rules["references"] += [
        files | {"path": f"{folder}/users/{{user}}/*", "options": "lineSep"},
        files | {"path": f"{folder}/shop/*", "formats": "jdbc", "to": SHOP},
    ]
    rules["connections"] += [
        {"type": "allow", "connection": ["shop", "refused", "keyless"]},
        {"type": "allow", "connection": "look", "access": "read"},
        {"type": "allow", "connection": "bobs", "users": "bob"},
    ]
    return rules

"""What a gate reports: each secret in clear, by its place, whether migrate could move it or not; and as SARIF 2.1.0."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sparkconfig._base.version import __version__
from sparkconfig.migrate.plan import FilePlan

__all__ = ["Finding", "findings", "sarif"]

_ALLOWED = re.compile(r"\bsparkconfig:[ \t]?allow\b")
_RULE = "literal-secret"
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"


@dataclass(frozen=True)
class Finding:
    """A secret in clear.

    Attributes:
        path: the file.
        line: where it stands, from 1.
        key: the conf, option or variable; may be empty.
        shape: why it counts as a secret.
        todo: what to do.
    """

    path: Path
    line: int
    key: str
    shape: str
    todo: str


def findings(plans: Iterable[FilePlan], provider: str) -> tuple[list[Finding], int]:
    """Return the secrets in clear, and how many more are allowed by ``sparkconfig: allow`` beside or above them."""
    found: list[Finding] = []
    allowed = 0
    for plan in plans:
        lines = plan.document.content.split("\n")
        each = [
            Finding(plan.path, m.line, m.key, m.shape, f"write ${{{provider}:{m.name}}} in its place")
            for m in plan.moves
        ]
        each += [Finding(plan.path, left.line, left.key, left.shape, left.why) for left in plan.left]
        kept = [one for one in each if not any(map(_ALLOWED.search, lines[max(0, one.line - 2) : one.line]))]
        allowed += len(each) - len(kept)
        found += sorted(kept, key=lambda one: one.line)
    return found, allowed


def sarif(found: Sequence[Finding], unread: Mapping[str, str]) -> dict[str, object]:
    """Return findings as a SARIF log.

    Args:
        found: what was found.
        unread: why files were not read; with any of them, the log says that the run was not complete.
    """
    rule = {
        "id": _RULE,
        "name": "LiteralSecret",
        "shortDescription": {"text": "A secret in clear"},
        "fullDescription": {
            "text": "A file holds a password, a token or a key where a reference could stand."
        },
        "help": {"text": "Replace the value by a reference, and rotate it: others may have read it."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["security"], "security-severity": "8.0"},
    }
    notes = [{"level": "error", "message": {"text": why}} for why in unread.values()]
    run = {
        "tool": {"driver": {"name": "sparkconfig", "version": __version__, "rules": [rule]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not notes, "toolExecutionNotifications": notes}],
        "results": list(_results(found)),
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(found: Sequence[Finding]) -> Iterable[dict[str, object]]:
    seen: Counter[tuple[str, str, str]] = Counter()
    for each in found:
        where = _location(each.path)
        place = (where["uri"], each.key, each.shape)
        seen[place] += 1
        # Of the place alone: from a digest of a short password one could guess it.
        print_ = hashlib.sha256("\0".join((*place, str(seen[place]))).encode()).hexdigest()
        yield {
            "ruleId": _RULE,
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": f"{each.key or 'text'}: {each.shape}: {each.todo}"},
            "locations": [
                {"physicalLocation": {"artifactLocation": where, "region": {"startLine": each.line}}}
            ],
            "partialFingerprints": {"place/v1": print_},
        }


def _location(path: Path) -> dict[str, str]:
    try:
        relative = path.resolve().relative_to(Path.cwd())
    except ValueError:
        return {"uri": path.resolve().as_uri()}
    return {"uri": quote(relative.as_posix()), "uriBaseId": _BASE}

"""Which tests of a parallel run stay together: those of one file, and files that share an application or a cluster."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

#: Each process that took a file of these would start the application of the folder, or a cluster, anew.
_TOGETHER = {
    "fronts": ("tests/spark/fronts/",),
    "options": ("tests/spark/options/",),
    "policy doors": ("tests/spark/policy_doors/",),
    "rotation": ("tests/spark/test_rotation_",),
    "clusters": (
        "tests/spark/test_s3a.py",
        *(f"tests/spark/test_{name}_cluster.py" for name in ("kafka", "files", "grants", "policy")),
        "tests/integration/test_deployments.py",
    ),
}


class SharedApplications(LoadFileScheduling):
    """``--dist loadfile``, with each group above as one file."""

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid) or str(super()._split_scope(nodeid))


def longest_first(items: list[pytest.Item]) -> None:
    """What one process has to run alone begins first: else all others are done long before it."""
    items.sort(key=lambda item: not _group(item.nodeid))


def _group(nodeid: str) -> str:
    return next((name for name, begins in _TOGETHER.items() if nodeid.startswith(begins)), "")

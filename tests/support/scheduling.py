"""Which tests of a parallel run stay together: the tests of one file, or of one folder that shares one application."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

#: Fixtures with ``scope="package"``: each further process that took a file of these would start the application anew.
_ONE_APPLICATION = ("tests/spark/options/", "tests/spark/policy_doors/")


class SharedApplications(LoadFileScheduling):
    """``--dist loadfile``, with the folders above as one file each."""

    def _split_scope(self, nodeid: str) -> str:
        return _folder(nodeid) or str(super()._split_scope(nodeid))


def longest_first(items: list[pytest.Item]) -> None:
    """What one process has to run alone begins first: else all others are done long before it."""
    items.sort(key=lambda item: not _folder(item.nodeid))


def _folder(nodeid: str) -> str:
    return next((folder for folder in _ONE_APPLICATION if nodeid.startswith(folder)), "")

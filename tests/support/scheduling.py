"""Which tests of a parallel run stay together: the tests of one file, or of one folder that shares one application."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

#: Fixtures with ``scope="package"``: each further process that took a file of these would start the application anew.
_ONE_APPLICATION = ("tests/spark/options/", "tests/spark/policy_doors/")


class SharedApplications(LoadFileScheduling):
    """``--dist loadfile``, with the folders above as one file each."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((folder for folder in _ONE_APPLICATION if file.startswith(folder)), file)

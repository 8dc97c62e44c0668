"""The account of the operating system under which this process runs."""

from __future__ import annotations

import os
import pwd

__all__ = ["os_user"]


def os_user() -> str:
    """Return the account's name, ``""`` if the system has no name for it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""

"""What Py4J writes into its log at DEBUG: each command and answer, and so the secrets of its own sockets.

With the gateway's token another user of the host can run code in the driver's JVM.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from sparkconfig._base.late import late

__all__ = ["LOGGERS", "withhold"]

LOGGERS = ("py4j.java_gateway", "py4j.clientserver")
_MASK = "*********(redacted)"
# Spark's secrets, of gateways, of sockets that collect rows and of worker factories, are 256 bits or more.
_SECRET = late(r"(?<![0-9A-Fa-f])[0-9a-f]{64,}(?![0-9A-Fa-f])")
_withheld: list[Callable[[], bool]] = []


def withhold(when: Callable[[], bool]) -> None:
    """Leave records out while ``when`` says so: an answer is logged before what it brings is known."""
    _withheld[:] = [when]


def _mask(record: logging.LogRecord) -> bool:
    if any(when() for when in _withheld):
        return False
    text = record.getMessage()
    shown = _SECRET.sub(_MASK, text)
    if shown != text:
        record.msg, record.args = shown, None
    return True


def mask_secrets() -> None:
    """Mask the secrets of Py4J's and Spark's sockets in Py4J's log; a second call does nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_mask)

"""Start of the side process: handshake on the standard streams, then serve until standard input ends."""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import resource
import signal
import sys
from typing import BinaryIO, NoReturn

from sparkconfig._base.threads import daemon
from sparkconfig._base.version import __version__
from sparkconfig.agent.server import AgentServer
from sparkconfig.agent.service import AgentService
from sparkconfig.redaction.sinks import logging as logging_sink
from sparkconfig.redaction.sinks import streams

__all__ = ["main"]

_PR_SET_DUMPABLE = 4


def main() -> NoReturn:
    """Serve the JVM that started this process; returns never.

    The JVM writes one line of JSON with the token to standard input and reads one line with the port from standard
    output. Both streams are then taken away from the rest of the process: a provider that prints cannot disturb
    the protocol, and the end of standard input is the end of the process, also after a kill -9 of the JVM.
    """
    # Terminals, notebooks and YARN send these to the whole group. They are for the driver, which still needs us
    # while it stops, and whose end is ours.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _hide_memory()
    stdin, stdout = _take_streams()
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("sparkconfig").setLevel(logging.INFO)
    # After the streams were taken away: from now on what providers print and log is masked here already.
    logging_sink.install()
    streams.install()
    hello = json.loads(stdin.readline() or b"{}")
    if "token" not in hello:
        sys.exit("sparkconfig's Spark plugin starts this process; do not start it by hand")
    service = AgentService()
    server = AgentServer(service, token=str(hello["token"]))
    port = server.start()
    stdout.write(json.dumps({"port": port, "pid": os.getpid(), "version": __version__}).encode() + b"\n")
    stdout.close()
    while stdin.read(4096):
        pass
    _finish(service)


def _hide_memory() -> None:
    """Let no other process of this user read this one's memory or environment, by a debugger or a core dump."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):  # the C library has another name for it, or none
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep private copies of standard input and output; point the public ones elsewhere."""
    stdin = os.fdopen(os.dup(0), "rb", buffering=0)
    stdout = os.fdopen(os.dup(1), "wb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return stdin, stdout


def _finish(service: AgentService) -> NoReturn:
    """Close the providers (leases end there), but not for ever, and leave without waiting for threads."""
    closing = daemon("close", service.close)
    closing.start()
    closing.join(timeout=5)
    os._exit(0)

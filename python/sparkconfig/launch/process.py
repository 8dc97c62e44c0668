"""The command itself: its output is masked, signals and its exit code pass."""

from __future__ import annotations

import codecs
import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence

from sparkconfig.redaction import Registry

__all__ = ["run"]

_PASSED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_FROM_KERNEL = 0x80  # SI_KERNEL: a key on the terminal, which the command gets by itself
_PR_SET_PDEATHSIG = 1
_OUTPUT_LEFT = 2.0


def run(command: Sequence[str], environ: Mapping[str, str], registry: Registry) -> int:
    """Run a command to its end; call it in the main thread, once.

    The command gets SIGTERM if this process is killed.

    Args:
        command: program and arguments.
        environ: its whole environment.
        registry: what is masked in its output.

    Returns:
        Its exit code; 128 and the signal's number if a signal ended it.

    Raises:
        OSError: it cannot be started.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    waited = {*_PASSED, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)

    def in_child() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    try:
        child = subprocess.Popen(
            command,
            env=dict(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=in_child,  # noqa: PLW1509 - no other thread runs yet that could hold a lock
        )
        pumps = [
            _pump(stream.fileno(), target, registry)
            for stream, target in ((child.stdout, 1), (child.stderr, 2))
            if stream
        ]
        while child.poll() is None:
            arrived = signal.sigwaitinfo(waited)
            if arrived.si_signo != signal.SIGCHLD and arrived.si_code != _FROM_KERNEL:
                child.send_signal(arrived.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for pump in pumps:
        pump.join(_OUTPUT_LEFT)  # what it started in the background may hold its output for ever
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _pump(source: int, target: int, registry: Registry) -> threading.Thread:
    thread = threading.Thread(
        target=_copy, args=(lambda: os.read(source, 1 << 16), target, registry), daemon=True
    )
    thread.start()
    return thread


def _copy(read: Callable[[], bytes], target: int, registry: Registry) -> None:
    """Copy with masks. An end that could be the beginning of a value waits for what follows."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    held = ""
    while True:
        try:
            chunk = read()
        except OSError:
            chunk = b""
        text = held + decoder.decode(chunk, final=not chunk)
        shown, held = registry.split(text) if chunk else (registry.redact(text), "")
        if not _written(target, shown.encode("utf-8", "surrogateescape")) or not chunk:
            return


def _written(target: int, data: bytes) -> bool:
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(target, left) :]
    except OSError:  # nobody reads any more: the command finds its pipe closed, too
        return False
    return True

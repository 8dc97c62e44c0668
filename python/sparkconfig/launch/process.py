"""The command itself: its output is masked, signals and its exit code pass."""

from __future__ import annotations

import codecs
import ctypes
import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from sparkconfig.redaction import Registry
from sparkconfig.redaction.registry import Unfinished

__all__ = ["run"]

_PASSED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_FROM_KERNEL = 0x80  # SI_KERNEL: a key on the terminal, which the command gets by itself
# Of a terminal that goes away the kernel tells the leader of the session alone, and this process may be that.
_PASSED_ALWAYS = signal.SIGHUP
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
    # If our parent made us ignore the signal, it never arrives here, and the exit code is lost.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    own = os.getpid()

    def in_child() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != own:  # killed before the call: nothing would end the command any more
            os._exit(128 + signal.SIGTERM)

    try:
        child = subprocess.Popen(
            command,
            env=dict(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=in_child,  # noqa: PLW1509 - no other thread runs yet that could hold a lock
        )
        pumps = [
            _Pump(stream, target, registry)
            for stream, target in ((child.stdout, 1), (child.stderr, 2))
            if stream
        ]
        while child.poll() is None:
            arrived = signal.sigwaitinfo(waited)
            from_key = arrived.si_code == _FROM_KERNEL and arrived.si_signo != _PASSED_ALWAYS
            if arrived.si_signo != signal.SIGCHLD and not from_key:
                child.send_signal(arrived.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    for pump in pumps:
        pump.finish()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


class _Pump(threading.Thread):
    """Copies one output, with masks, until it or its reader ends.

    Args:
        source: the output of the command; closed at the end, so that the command finds out.
        target: descriptor to write to.
        registry: what is masked.
    """

    def __init__(self, source: IO[bytes], target: int, registry: Registry) -> None:
        super().__init__(daemon=True)
        self._source = source
        self._target = target
        self._registry = registry
        self._until_ended, self._ended = os.pipe()
        self.start()

    def run(self) -> None:
        """Copy."""
        with self._source, os.fdopen(self._until_ended):
            _copy(self._read, self._target, self._registry)

    def finish(self) -> None:
        """Wait until everything is copied that the command wrote, which has ended.

        The reader may be slow. What the command started in the background may hold its output for ever, so a
        silence of :data:`_OUTPUT_LEFT` seconds counts as the end.
        """
        os.close(self._ended)
        self.join()

    def _read(self) -> bytes:
        # By poll: select fails for descriptors above 1023, of which a caller may have passed as many.
        source = self._source.fileno()
        either, rest = select.poll(), select.poll()
        for waits in (either, rest):
            waits.register(source, select.POLLIN)
        either.register(self._until_ended, select.POLLIN)
        if all(ready != source for ready, _ in either.poll()) and not rest.poll(1000 * _OUTPUT_LEFT):
            return b""
        return os.read(source, 1 << 16)


def _copy(read: Callable[[], bytes], target: int, registry: Registry) -> None:
    """Copy with masks. An end that could be the beginning of a value waits for what follows."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    waiting = Unfinished(registry)
    while True:
        try:
            chunk = read()
        except OSError:
            chunk = b""
        text = decoder.decode(chunk, final=not chunk)
        shown = waiting.add(text) if chunk else waiting.end(text)
        if not _written(target, shown.encode("utf-8", "surrogateescape")) or not chunk:
            return


def _written(target: int, data: bytes) -> bool:
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(target, left) :]
    except OSError:  # the reader is gone: the command finds its pipe closed, too
        return False
    return True

"""Redaction of the tracebacks that Python prints."""

from __future__ import annotations

import sys
import threading
import traceback
from types import TracebackType

from sparkconfig.redaction.registry import REGISTRY, WITHHELD


def hook_tracebacks() -> None:
    """Put redacting hooks around those that print tracebacks."""
    excepthook = sys.excepthook
    thread_hook = threading.excepthook
    unraisable_hook = sys.unraisablehook

    def redacting_excepthook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if not _print_redacted("", kind, error, trace):
            excepthook(kind, error, trace)

    def redacting_thread_hook(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread else "?"
        if args.exc_type is SystemExit or not _print_redacted(
            f"Exception in thread {name}:\n", args.exc_type, args.exc_value, args.exc_traceback
        ):
            thread_hook(args)

    def redacting_unraisable_hook(args: sys.UnraisableHookArgs) -> None:
        head = f"{args.err_msg or 'Exception ignored in'}: {args.object!r}\n"
        if not _print_redacted(head, args.exc_type, args.exc_value, args.exc_traceback):
            unraisable_hook(args)

    sys.excepthook = redacting_excepthook
    threading.excepthook = redacting_thread_hook
    sys.unraisablehook = redacting_unraisable_hook


def _print_redacted(
    head: str, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> bool:
    """Print a traceback that holds a value; return False if it holds none and nothing was printed."""
    try:
        text = head + "".join(traceback.format_exception(kind, error, trace))
    except Exception:  # noqa: BLE001 - a __str__ that fails is not a reason to show anything
        text = f"{head}{kind.__name__}: {WITHHELD}\n"
    shown = REGISTRY.redact(text)
    if shown is text:
        return False
    if sys.stderr is not None:
        sys.stderr.write(shown)
    return True

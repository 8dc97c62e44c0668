"""Redaction of what a Jupyter kernel sends to its notebook: output, results, tracebacks, replies, inspections."""

from __future__ import annotations

import functools
import sys
from typing import Any

from sparkconfig.redaction.deep import redact_deep

__all__ = ["install"]

_MARK = "_sparkconfig_redacted"


def install() -> None:
    """Redact this process's kernel, if it is one; a second call does nothing.

    All that a kernel tells goes through its session's ``send``, while the shell exchanges ``sys.stdout.write`` for
    the time of each cell. IPython in a terminal prints, and needs no hook of its own.
    """
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    session: Any = getattr(getattr(shell, "kernel", None), "session", None)
    if session is None or getattr(session, _MARK, False):
        return
    send = session.send

    @functools.wraps(send)
    def redacted(stream: Any, message: Any, content: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if isinstance(message, dict):
            safe = redact_deep(message.get("content"))
            if safe is not message.get("content"):
                message = {**message, "content": safe}
        return send(stream, message, redact_deep(content), *args, **kwargs)

    session.send = redacted
    setattr(session, _MARK, True)

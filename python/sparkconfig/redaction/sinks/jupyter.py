"""Redaction of what a Jupyter kernel sends to its notebook: output, results, tracebacks, replies, inspections."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from sparkconfig.redaction.deep import redact_deep
from sparkconfig.redaction.registry import REGISTRY, Unfinished

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

    # The ends of its output that could begin a value, and what tells them: they come before the end of the cell.
    ends: dict[str, tuple[Unfinished, Callable[[], object]]] = {}

    @functools.wraps(send)
    def redacted(stream: Any, message: Any, content: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        made = isinstance(message, dict)
        kind, told = (message.get("msg_type"), message.get("content")) if made else (message, content)

        def tell(safe: Any) -> Any:  # noqa: ANN401
            if made:
                return send(stream, {**message, "content": safe}, content, *args, **kwargs)
            return send(stream, message, safe, *args, **kwargs)

        if kind == "status":
            for each in list(ends):
                if waiting := ends.pop(each, None):
                    waiting[1]()
        if kind != "stream":
            return tell(redact_deep(told))
        name = told["name"]
        before = ends.pop(name, None)  # the output has a thread of its own
        end = before[0] if before else Unfinished()
        text = end.held + told["text"]
        shown, end = end.then(REGISTRY, text, last=text.endswith("\n"))
        if end.held:
            ends[name] = end, functools.partial(tell, {"name": name, "text": REGISTRY.redact(end.held)})
        return tell({"name": name, "text": shown}) if shown else None

    session.send = redacted
    setattr(session, _MARK, True)

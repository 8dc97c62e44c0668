"""The calls that the side process answers. JSON text both ways; nothing ever raises through the bridge."""

from __future__ import annotations

import json
import logging
import math
import mmap
import os
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from sparkconfig._base import jvm
from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.agent.application import Application, conf_id
from sparkconfig.agent.factory import make_application
from sparkconfig.agent.jvm_requests import JvmRequests
from sparkconfig.agent.status import status_of
from sparkconfig.errors import AgentError, SparkConfigError
from sparkconfig.language.expression import Expression
from sparkconfig.redaction.registry import REGISTRY
from sparkconfig.resolution import odd_values
from sparkconfig.resolution.snapshot import Entry, Snapshot

__all__ = ["AgentService", "UnmaskedValues"]


# Warnings for values that redaction leaves alone, and for those that look as if it should.
_log = logging.getLogger(__name__)
#: `inventory`, `us-east-1`, `etl_service`: passwords have more than letters of one case.
_ORDINARY = late(r"[A-Z]?[a-z]{3,}(?:[-_. ][a-z]+)*(?:-\d)?|[a-z]{2}(?:-[a-z]+)+-\d")


class UnmaskedValues:
    """Warns once for each reference whose value is too short to be masked, or an ordinary word that is masked."""

    def __init__(self) -> None:
        self._warned: set[str] = set()
        self._seen: Mapping[str, Entry] = {}

    def check(self, snapshot: Snapshot) -> None:
        """Warn of the references in a snapshot that were not seen before; names, never values."""
        from sparkconfig.redaction.forms import worth_registering

        seen, self._seen = self._seen, snapshot.entries
        for id_, entry in snapshot.entries.items():
            if entry is seen.get(id_) or id_ in self._warned:
                continue
            # What follows the zero byte are the raw texts of sibling keys.
            name = shorten(id_.split("\0", 1)[0])
            masked = [text for text in entry.secrets if worth_registering(text)]
            if len(masked) < len(entry.secrets):
                self._warned.add(id_)
                _log.warning(
                    "a value in %s is short or a common word: it is not masked in pages and logs;"
                    " use a longer secret",
                    name,
                )
            if any(map(_ORDINARY.fullmatch, masked)):
                self._warned.add(id_)
                _log.warning(
                    "a value in %s looks like an ordinary word, and is masked in free text wherever that word appears;"
                    " if it is not a secret, name the reference in spark.config.redaction.plain",
                    name,
                )


_ASKED_FROM_OUTSIDE = ("executor", "worker")
"""Who is not the driver: its code runs where others may run theirs, too."""

_MAX_WAIT_MS = 60_000
_WORKING_MEMORY = 16 << 20  # bytes; what a round of reading needs at least
_NO_MEMORY = 137  # the exit code of a process that the kernel ends for want of memory
Json = dict[str, Any]


class AgentService:
    """Answers ``ping``, ``start``, ``resolve``, ``check``, ``await_change``, ``refresh``, ``renew``, ``status``.

    Three more: ``announce`` tells the application its id, ``problem`` why a session may not set a conf, and
    ``jvm_request`` is how the JVM learns what to do for a provider. An answer is ``{"ok": true, ...}`` or
    ``{"ok": false, "type": ..., "message": ...}``. Messages come from errors of this package, which hold no values; of
    any other exception only its type is passed on, since a Python traceback through Py4J would carry values.
    """

    def __init__(self) -> None:
        self._application: Application | None = None
        self._lock = threading.Lock()
        self._unmasked = UnmaskedValues()
        self._masked: Snapshot | None = None
        self._jvm_requests = JvmRequests()
        jvm.connect(self._jvm_requests.ask)
        self._methods = {
            "ping": self._ping,
            "start": self._start,
            "resolve": self._resolve,
            "check": self._check,
            "await_change": self._await_change,
            "refresh": self._refresh,
            "renew": self._renew,
            "status": self._status,
            "announce": self._announce,
            "jvm_request": self._jvm_requests.serve,
            "problem": lambda request: {
                "problem": self._running.problem(str(request["key"]), str(request["text"]))
            },
        }

    def call(self, method: str, request: str) -> str:
        """Answer one call."""
        try:
            answer: Json = {"ok": True, **self._handler(method)(json.loads(request))}
        except SparkConfigError as error:
            answer = {"ok": False, "type": type(error).__name__, "message": str(error)}
        except MemoryError:
            # A process without memory fails at everything. The driver's snapshot serves while it starts another one.
            os._exit(_NO_MEMORY)
        except Exception as error:  # noqa: BLE001 - only its type may pass the bridge
            _log.error("call %s failed with %s", method, type(error).__name__)
            answer = {
                "ok": False,
                "type": type(error).__name__,
                "message": f"the side process failed in '{method}' with {type(error).__name__}",
            }
        return json.dumps(answer)

    def _handler(self, method: str) -> Callable[[Json], Json]:
        if method not in self._methods:
            raise AgentError(f"the side process knows no call named '{method}'")
        return self._methods[method]

    def close(self) -> None:
        """End the application's brain; called once at the end."""
        with self._lock:
            before, self._application = self._application, None
        if before is not None:
            before.close()

    @property
    def _running(self) -> Application:
        if self._application is None:
            raise AgentError("the side process was not started with an application's confs")
        return self._application

    def _ping(self, request: Json) -> Json:  # noqa: ARG002 - all calls have one form
        """Tell that the process is well: a provider that runs out of memory is an outage, this process is not."""
        try:
            mmap.mmap(-1, _WORKING_MEMORY).close()
        except OSError:
            raise MemoryError from None
        return {}

    def _start(self, request: Json) -> Json:
        held = Snapshot.from_json(request["held"]) if request.get("held") else None
        operator_file = request.get("operator_file")
        application = make_application(
            request["confs"],
            system_properties=request.get("system_properties") or {},
            operator_file=Path(operator_file) if operator_file else None,
            held=held,
            parent=request.get("parent") or (),
            file_key=str(request.get("file_key", "")).encode(),
        )
        with self._lock:
            before, self._application = self._application, application
        if before is not None:
            before.close()
        confs, problems = application.resolve_confs(
            _expressions(request.get("known") or []), request.get("left") or (), wait=held is None
        )
        settings = application.settings
        application.keeper.start()
        self._mask(application.keeper.snapshot)
        if held is None:  # a new side process for a running application repeats no advice
            entries = application.keeper.snapshot.entries
            for key, expression in confs.items():
                if (entry := entries.get(conf_id(key, expression.text))) is not None:
                    for text in odd_values.of_conf(key, expression.text, entry.value):
                        _log.warning("%s", text)
        return {
            "snapshot": application.keeper.snapshot.to_json(),
            "confs": {key: {"id": conf_id(key, e.text), "text": e.text} for key, e in confs.items()},
            "inplace": application.in_place(confs),
            "problems": [*_violations(application), *problems],
            "dropped": application.dropped,
            "policy": _policy(application),
            "settings": {
                "poll_interval_ms": settings.poll_interval,
                "stale_expiry_ms": settings.stale_expiry,
                "rpc_insecure": settings.rpc_insecure,
                "reload_action": settings.reload_action,
                "worker_access": application.worker_access,
                "redaction_require": settings.redaction_require,
                "redaction_keys": settings.redaction_keys or "",
                "resolve_prefixes": {key: list(found) for key, found in settings.resolve_prefixes.items()},
                "files_directory": settings.files_directory,
                "files_keep_ms": settings.files_keep,
            },
            "connections": [
                {
                    "name": each.name,
                    "format": each.format,
                    "options": dict(each.options),
                    "user_options": list(each.user_options),
                }
                for each in settings.connections.values()
            ],
        }

    def _resolve(self, request: Json) -> Json:
        keeper = self._running.keeper
        wanted = _expressions(request.get("expressions") or [])
        if request.get("scope") in _ASKED_FROM_OUTSIDE:
            self._running.check_executor(wanted)
        if not wanted:
            return self._news(keeper.refresh(), request)
        self._running.refuse_near_misses(wanted.values())
        if request.get("fresh"):
            self._running.read_now(wanted.keys())
        snapshot = keeper.resolve(wanted)
        # What is in no generation has no reference that a provider answers: it is its own value.
        texts = [id_ for id_ in wanted if id_ not in snapshot.entries]
        return {**self._news(snapshot, request, wanted.keys()), "texts": texts}

    def _news(self, snapshot: Snapshot, request: Json, wanted: Collection[str] = ()) -> Json:
        """A snapshot, or what differs from the one that the driver has, with what it wants."""
        self._mask(snapshot)
        known = request.get("known")
        if known is None:
            return {"snapshot": snapshot.to_json()}
        # Files travel with a whole generation.
        changed = None if snapshot.files else self._running.keeper.changed_since(int(known), snapshot)
        return {
            "snapshot": snapshot.to_json()
            if changed is None
            else snapshot.changes_json(int(known), sorted(changed.union(wanted)))
        }

    def _mask(self, snapshot: Snapshot) -> None:
        """Mask the snapshot's secrets in what this process shows; warn of those that are not masked anywhere."""
        if snapshot is self._masked:
            return
        REGISTRY.register(snapshot.secrets, generation=snapshot.generation)
        self._unmasked.check(snapshot)
        self._masked = snapshot

    def _check(self, request: Json) -> Json:
        """A door asks the policies; any answer but ``"ok": true`` is a refusal."""
        policies = self._running.policies
        if policies is None:
            raise AgentError("this application has no policies")
        return policies.ask(request)

    def _await_change(self, request: Json) -> Json:
        wait_s = min(int(request.get("wait_ms", 0)), _MAX_WAIT_MS) / 1000
        known = int(request["generation"])
        self._running.keeper.touch(str(id_) for id_ in request.get("used") or ())
        snapshot = self._running.keeper.await_change(known, wait_s)
        records = self._running.records
        return {
            "snapshot": None,
            **(self._news(snapshot, request) if snapshot.generation > known else {}),
            "audit": [] if records is None else records.drain(),
        }

    def _refresh(self, request: Json) -> Json:
        return self._news(self._running.refresh(), request)

    def _renew(self, request: Json) -> Json:
        """A use of these values was refused: their stores are asked, each path as often as it may be."""
        snapshot, wait_ms = self._running.renew([str(id_) for id_ in request["ids"]])
        return {**self._news(snapshot, request), "wait_ms": math.ceil(wait_ms)}

    def _status(self, request: Json) -> Json:  # noqa: ARG002
        return {"status": status_of(self._running)}

    def _announce(self, request: Json) -> Json:
        """The application has its id: from now on 'sparkconfig refresh' finds it."""
        running = self._running
        running.announce(str(request["application_id"]), self._jvm_requests.ask)
        return {}


def _violations(application: Application) -> tuple[str, ...]:
    return application.start_check.problems if application.start_check else ()


def _policy(application: Application) -> Json | None:
    """What the doors have to know; None: there are no policies, and no doors."""
    policies, check = application.policies, application.start_check
    if policies is None or check is None:
        return None
    return {
        "tables": policies.engine.evaluates_tables,
        "statements": policies.evaluates_statements,
        **policies.limits,
        "defaults": dict(check.defaults),
        "audit_logger": policies.engine.audit.logger,
        "audit": list(check.audit),
        "surface": list(application.settings.surface_files),
        "sessions": application.settings.user_sessions,
    }


def _expressions(items: list[Json]) -> dict[str, Expression]:
    return {
        str(item["id"]): Expression(
            str(item["text"]), key=item.get("key"), siblings=_texts(item.get("siblings"))
        )
        for item in items
    }


def _texts(node: Mapping[str, Any] | None) -> dict[str, str]:
    return {str(key): str(value) for key, value in (node or {}).items()}

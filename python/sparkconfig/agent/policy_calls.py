"""Questions of the JVM's doors, and the answers: JSON objects, as dictionaries.

A question::

    {"op": "check", "job_name": "daily", "job_type": "batch", "application": "com.acme.Daily",
     "scope": "session", "props": {"spark.sql.shuffle.partitions": "10"}, "complete": false, "streaming": false,
     "references": [["", "vault", "db/prod", "password"]], "explain": false}

    {"op": "create_table", "job_type": "sql", "name": "sales.orders", "statement": "ctas", "provider": "parquet",
     "columns": {"id": "bigint"}, "partitioning": ["day"], "buckets": null, "location": null, "options": {},
     "properties": {}, "comment": null}

    {"op": "use", "job_type": "connect", "scope": "worker", "expressions": [{"text": "${vault:db/prod:password}"}]}

    {"op": "connection", "job_type": "connect", "formats": ["jdbc"], "options": {"url": "jdbc:postgresql://db", ...}}

    {"op": "statement", "job_type": "connect", "items": [["path", "s3a://lake/orders", "read"], ...]}

    {"op": "job_type", "application": "com.acme.Daily", "main_class": "...", "command": "...", "confs": {...}}

``user`` and ``session`` may say who sent the statement; they go into the records. ``front`` names who says so:
``connect``, ``thrift`` or ``os``. A ``statement`` lists kind, name and detail of what it does and names.

``props`` are the texts as they are in confs or options, references unresolved: the engine resolves what a rule
has to evaluate, and compares the rest with the operator's own texts. Session questions hold what differs from the
application's confs; null takes a property away, so that no value is left (a RESET to the application's value
is a question about that value). A table's name has its catalog and database filled in. ``use`` asks about references
whose values somebody wants by themselves; without a scope it is a point of use behind the doors. ``formats`` say whose
options ``props`` are, in ``check``; ``connection`` asks about the options with which a connection is about to be made.

Instead of ``job_type`` a question may hold ``facts`` (``main_class``, ``command``, ``confs``). An answer::

    {"ok": true, "allowed": false, "message": "...", "violations": [...], "warned": [...], "defaults": {...},
     "values": [{"name": ..., "errors": [...], "decided_by": ..., "visible": true}], "audit": [...]}

Of a ``connection`` ``everyones`` says that the operator's own text allows it, in any session.

``values`` lists only what has errors; values themselves never come back. ``defaults`` are the operator's texts.
``audit`` holds records for the log4j logger ``audit_logger``, if the operator named one. ``{"ok": false, "type",
"message"}`` says that the question could not be answered: the caller must refuse.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.policy.evaluation import Decision
from sparkconfig.policy.jobtype import detect
from sparkconfig.policy.request import OverrideRequest, ReferenceUse, StatementItem
from sparkconfig.policy.tables import CreateTableRequest

if TYPE_CHECKING:
    from sparkconfig.policy.engine import PolicyEngine

__all__ = ["answer"]

_Json = dict[str, Any]


def answer(engine: PolicyEngine, question: _Json) -> _Json:
    """Answer one question; the answer always fits into JSON and holds no value."""
    try:
        return {"ok": True, **_answer(engine, question)}
    except SparkConfigError as error:
        return {"ok": False, "type": type(error).__name__, "message": str(error)}
    except Exception as error:  # noqa: BLE001 - its text may hold values; the caller refuses
        kind = type(error).__name__
        return {"ok": False, "type": kind, "message": f"the policy check failed with {kind}"}


def _answer(engine: PolicyEngine, question: _Json) -> _Json:
    if not isinstance(question, dict):
        raise ConfigurationError("a question must be a JSON object")
    op = question.get("op", "check")
    if op == "check":
        request = OverrideRequest(
            job_name=str(question.get("job_name") or ""),
            job_type=_job_type(question),
            application=str(question.get("application") or ""),
            scope=question.get("scope", "application"),
            props=question.get("props") or {},
            references=tuple(ReferenceUse(*map(str, item)) for item in question.get("references") or ()),
            complete=bool(question.get("complete")),
            formats=tuple(map(str, question.get("formats") or ())),
            **_who(engine, question),
        )
        decision = engine.check(request, streaming=bool(question.get("streaming")))
        return _decided(engine, decision, explain=bool(question.get("explain")))
    if op == "create_table":
        fields = {name: question[name] for name in _TABLE if question.get(name) is not None}
        table = CreateTableRequest(
            **{
                **fields,
                "job_type": engine.job_type(str(question.get("application") or ""), _job_type(question)),
            }
        )
        return _decided(engine, engine.check_table(table), explain=bool(question.get("explain")))
    if op == "use":
        scope = question.get("scope")
        request = OverrideRequest(
            str(question.get("job_name") or ""),
            _job_type(question),
            str(question.get("application") or ""),
            scope or "application",
            **_who(engine, question),
        )
        texts = [_text_of(item) for item in question.get("expressions") or ()]
        return _decided(engine, engine.check_use(request, texts, point_of_use=scope is None), explain=False)
    if op == "statement":
        request = OverrideRequest(
            str(question.get("job_name") or ""),
            _job_type(question),
            str(question.get("application") or ""),
            "session",
            **_who(engine, question),
        )
        items = [StatementItem(*map(str, item)) for item in question.get("items") or ()]
        return _decided(engine, engine.check_statement(request, items), explain=bool(question.get("explain")))
    if op == "connection":
        options = {str(name): str(text) for name, text in (question.get("options") or {}).items()}
        request = OverrideRequest(
            str(question.get("job_name") or ""),
            _job_type(question),
            str(question.get("application") or ""),
            "source",
            formats=tuple(map(str, question.get("formats") or ())),
            target=options,
            **_who(engine, question),
        )
        found = engine.check_connection(request, options)
        return {**_decided(engine, found, explain=False), "everyones": found.everyones}
    if op == "job_type":
        kind = engine.job_type(str(question.get("application") or ""), _detected(question))
        return {"job_type": kind, "worker_access": engine.worker_access(kind)}
    raise ConfigurationError("a question's op is check, create_table, use, connection, statement or job_type")


_TABLE = (
    "name",
    "statement",
    "provider",
    "columns",
    "partitioning",
    "buckets",
    "location",
    "options",
    "properties",
    "comment",
)


def _text_of(item: _Json) -> dict[str, str]:
    """A text under ``""``, with what says which of its references are Kafka's own."""
    siblings = {str(key): str(text) for key, text in (item.get("siblings") or {}).items()}
    return {"": str(item["text"]), **kafka_options.of_map(siblings)}


def _who(engine: PolicyEngine, question: _Json) -> _Json:
    """Who asks, as fields of a request."""
    return {
        "user": _text(question, "user"),
        "session": _text(question, "session"),
        "authenticated": engine.authenticates(_text(question, "front")),
    }


def _text(question: _Json, name: str) -> str:
    return str(question.get(name) or "")


def _job_type(question: _Json) -> str:
    given = question.get("job_type")
    return str(given) if given else _detected(question.get("facts") or {})


def _detected(facts: _Json) -> str:
    return detect(
        facts.get("confs") or {}, str(facts.get("command") or ""), str(facts.get("main_class") or "")
    )


def _decided(engine: PolicyEngine, decision: Decision, *, explain: bool) -> _Json:
    found: _Json = {
        "allowed": decision.allowed,
        "message": decision.message,
        "violations": list(decision.violations),
        "warned": list(decision.warned),
        "defaults": dict(decision.defaults),
        "values": [
            {
                "name": value.name,
                "errors": list(value.errors),
                "decided_by": value.decided_by,
                "visible": value.visible,
            }
            for value in decision.values
            if value.errors
        ],
    }
    if explain:
        found["explanation"] = [item._asdict() for item in decision.explanation]
    if engine.audit.logger is not None:
        found["audit_logger"] = engine.audit.logger
        found["audit"] = [json.dumps(record) for record in decision.records]
    return found

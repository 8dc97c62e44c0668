"""Questions of the JVM's doors, and the answers: JSON objects, as dictionaries.

A question::

    {"op": "check", "scope": "session", "props": {"spark.sql.shuffle.partitions": "10"}, "streaming": false}

    {"op": "create_table", "name": "sales.orders", "statement": "ctas", "provider": "parquet",
     "columns": {"id": "bigint"}, "partitioning": ["day"], "buckets": null, "location": null, "options": {},
     "properties": {}, "comment": null}

    {"op": "use", "scope": "worker", "expressions": [{"text": "${vault:db/prod:password}"}]}

    {"op": "connection", "formats": ["jdbc"], "options": {"url": "jdbc:postgresql://db", ...}}

    {"op": "statement", "items": [["path", "s3a://lake/orders", "read"], ...]}

:class:`.policies.Policies` adds ``job_name``, ``job_type`` and ``application``. ``user`` and ``session`` may say who
sent the statement; they go into the records. ``front`` names who says so: ``connect``, ``thrift`` or ``os``. A
``statement`` lists kind, name and detail of what it does and names.

``props`` are the texts as they are in confs or options, references unresolved: the engine resolves what a rule
has to evaluate, and compares the rest with the operator's own texts. Session questions hold what differs from the
application's confs; null takes a property away, so that no value is left (a RESET to the application's value
is a question about that value). A table's name has its catalog and database filled in. ``use`` asks about references
whose values are wanted by themselves; without a scope it is a point of use behind the doors. ``formats`` say whose
options ``props`` are, in ``check``; ``connection`` asks about the options with which a connection is about to be made;
about those of ``judged`` the rules for sources decide, too.

An answer::

    {"ok": true, "allowed": false, "message": "...", "names": [...], "audit": [...]}

Of a ``connection`` ``everyones`` says that the operator's own text allows it, in any session. ``names`` are those of
the properties that are refused; values never come back. ``audit`` holds records for the log4j logger that the operator
named. ``{"ok": false, "type", "message"}`` says that the question could not be answered: the caller must refuse.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.policy.evaluation import Decision
from sparkconfig.policy.request import OverrideRequest, StatementItem
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
        request = _request(
            engine,
            question,
            question.get("scope", "application"),
            props=question.get("props") or {},
            formats=_formats(question),
        )
        return _decided(engine, engine.check(request, streaming=bool(question.get("streaming"))))
    if op == "create_table":
        fields = {name: question[name] for name in _TABLE if question.get(name) is not None}
        kind = engine.job_type(_text(question, "job_type"))
        return _decided(engine, engine.check_table(CreateTableRequest(**{**fields, "job_type": kind})))
    if op == "use":
        scope = question.get("scope")
        request = _request(engine, question, scope or "application")
        texts = [_text_of(item) for item in question.get("expressions") or ()]
        return _decided(engine, engine.check_use(request, texts, point_of_use=scope is None))
    if op == "statement":
        items = [StatementItem(*map(str, item)) for item in question.get("items") or ()]
        return _decided(engine, engine.check_statement(_request(engine, question, "session"), items))
    if op == "connection":
        options = {str(name): str(text) for name, text in (question.get("options") or {}).items()}
        request = _request(engine, question, "source", formats=_formats(question), target=options)
        found = engine.check_connection(request, options, tuple(map(str, question.get("judged") or ())))
        return {**_decided(engine, found), "everyones": found.everyones}
    raise ConfigurationError("a question's op is check, create_table, use, connection or statement")


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


def _request(engine: PolicyEngine, question: _Json, scope: str, **more: Any) -> OverrideRequest:  # noqa: ANN401
    return OverrideRequest(
        _text(question, "job_name"),
        _text(question, "job_type"),
        _text(question, "application"),
        scope,
        user=_text(question, "user"),
        session=_text(question, "session"),
        authenticated=engine.authenticates(_text(question, "front")),
        **more,
    )


def _formats(question: _Json) -> tuple[str, ...]:
    return tuple(map(str, question.get("formats") or ()))


def _text(question: _Json, name: str) -> str:
    return str(question.get(name) or "")


def _decided(engine: PolicyEngine, decision: Decision) -> _Json:
    found: _Json = {
        "allowed": decision.allowed,
        "message": decision.message,
        "names": [value.name for value in decision.values if value.errors],
    }
    if engine.audit.logger is not None:
        found["audit"] = [json.dumps(record) for record in decision.records]
    return found

"""References in the driver's own Python code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from sparkconfig import redaction, secret
from sparkconfig._spark.wanted import check_reference, check_texts
from sparkconfig.errors import AgentError, SparkConfigError, UnresolvedReferenceError
from sparkconfig.redaction.jvm import driver_api
from sparkconfig.secret import Secret

__all__ = [
    "await_generation",
    "configs",
    "current",
    "generation",
    "query_restarted",
    "reload_action",
    "status",
]


def current(text: str, *, fresh: bool = False) -> Secret:
    """Return the newest value of a text with references, such as ``"${vault:db/prod:password}"``.

    Ask again at each use instead of keeping the value: then a rotation needs no restart.

    Args:
        text: with references.
        fresh: whether to ask their stores now, instead of taking the value as soon as a change has arrived.

    Raises:
        UnresolvedReferenceError: a reference has no value, or the text has none; the message says which and why.
        ConfigurationError: it is no text.
        PolicyViolation: the operator's policy does not let this job use it.
        AgentError: no Spark application with the plugin runs in this process.
    """
    check_reference(text)
    api = _driver_api()
    failure: SparkConfigError
    try:
        answer = json.loads(_asked(api, "freshJson" if fresh else "currentJson", text))
        # The JVM masks its parts, and so does this process by now: a call that returns brings them.
        return Secret(answer["value"], ())
    except Exception as error:  # noqa: BLE001 - Py4J wraps everything; its traceback holds JVM objects
        failure = _translated(error)
    raise failure


def configs(given: Mapping[str, str]) -> dict[str, Secret | str]:
    """Resolve a whole map in one generation (KIP-297: a task's ``configs()``).

    Returns:
        Every key; what was resolved and is secret is a :class:`Secret`, any other value is text.

    Raises:
        UnresolvedReferenceError: as :func:`current`; a text without a reference stays what it is.
        ConfigurationError: it is no map of texts.
        PolicyViolation: as :func:`current`.
        AgentError: as :func:`current`.
    """
    check_texts(given)
    api = _driver_api()
    failure: SparkConfigError
    try:
        answer = json.loads(api.configsJson(json.dumps(dict(given))))
        found, plain = answer["values"], set(answer.get("plain", ()))
        return {
            key: found[key] if found[key] == text or key in plain else Secret(found[key], ())
            for key, text in given.items()
        }
    except Exception as error:  # noqa: BLE001 - as in current()
        failure = _translated(error)
    raise failure


def generation() -> int:
    """Return the generation that the driver has published last.

    Raises:
        AgentError: as :func:`current`.
    """
    return int(_driver_api().generation())


def await_generation(known: int, wait_ms: int) -> int:
    """Return the newest generation as soon as it is newer than ``known``, or after ``wait_ms`` milliseconds.

    Raises:
        AgentError: as :func:`current`.
    """
    api = _driver_api()
    failure: SparkConfigError
    try:
        return int(api.awaitGeneration(known, wait_ms))
    except Exception as error:  # noqa: BLE001 - as in current()
        failure = _translated(error)
    raise failure


def reload_action() -> str:
    """Return ``spark.config.reload.action`` of the application.

    Raises:
        AgentError: as :func:`current`.
    """
    return str(_driver_api().reloadAction())


def query_restarted(restart: Mapping[str, object]) -> None:
    """Say in Spark's listener events, and on the page Config, that a managed query was started again.

    Raises:
        AgentError: as :func:`current`.
    """
    api = _driver_api()
    failure: SparkConfigError
    try:
        api.queryRestarted(json.dumps({**restart, "query": restart["query_id"]}))
    except Exception as error:  # noqa: BLE001 - as in current()
        failure = _translated(error)
    else:
        return
    raise failure


def status() -> dict[str, Any]:
    """Return the state of references, providers and executors: names and times, never values.

    Raises:
        AgentError: as :func:`current`.
    """
    return dict(json.loads(_driver_api().status()))


def _asked(api: Any, method: str, text: str) -> str:  # noqa: ANN401 - a Py4J view has no type
    """Call a method with a text. Py4J's own way looks for a converter of it first, which takes as long as the call."""
    from py4j import protocol

    client, target = api._gateway_client, api._target_id  # noqa: SLF001 - what Py4J's own call uses
    command = f"{protocol.CALL_COMMAND_NAME}{target}\n{method}\n{protocol.get_command_part(text)}"
    answer = client.send_command(command + protocol.END_COMMAND_PART)
    return str(protocol.get_return_value(answer, client, target, method))


#: The streams that are known to be redacted.
_streams: tuple[object, object] = (None, None)


def _redact() -> None:
    """Redact what this process shows, unless that is known."""
    global _streams  # noqa: PLW0603 - one per process, as the hooks are
    if _streams != (sys.stdout, sys.stderr) or secret.on_reveal is None:
        redaction.install()
        _streams = (sys.stdout, sys.stderr)


def _driver_api() -> Any:  # noqa: ANN401 - a Py4J view of a JVM class has no type
    try:
        from pyspark import SparkContext
    except ImportError:
        raise AgentError("sparkconfig.current() needs pyspark and a running Spark application") from None
    context = SparkContext._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
    if context is None or context._jvm is None:  # noqa: SLF001
        raise AgentError(
            "no Spark application runs in this process. sparkconfig.current() works in the driver's Python; in a UDF"
            " and other code on executors, call sparkconfig.worker.current(); a Spark Connect client has no values,"
            " and the server resolves the references of its options"
        )
    # Before the first value: from now on nothing that this process shows holds one.
    _redact()
    return driver_api(context._jvm)  # noqa: SLF001


def _translated(error: Exception) -> SparkConfigError:
    java = getattr(error, "java_exception", None)
    if java is None:
        return AgentError(
            "the driver's JVM has no sparkconfig plugin; set spark.plugins=io.sparkconfig.ConfigPlugin"
        )
    name = str(java.getClass().getName())
    if not name.startswith("io.sparkconfig."):
        return AgentError(f"the driver's JVM failed with {name}")
    # The shim's own messages hold no values.
    message = str(java.getMessage())
    if name.endswith("AgentUnavailableException"):
        return AgentError(message)
    if name.endswith("PolicyRefusedException"):
        # Imported here: only refusals need it.
        from sparkconfig.policy import PolicyViolation

        return PolicyViolation.of_text(message)
    # The brain's error came as text: its problems again, without the headline.
    _, *problems = message.split("\n  - ")
    return UnresolvedReferenceError(problems or [message])

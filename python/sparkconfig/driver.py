"""References in the driver's own Python code."""

from __future__ import annotations

from typing import Any

from sparkconfig.errors import AgentError, SparkConfigError, UnresolvedReferenceError
from sparkconfig.secret import Secret

__all__ = ["current"]


def current(text: str) -> Secret:
    """Return the newest value of a text with references, such as ``"${vault:db/prod:password}"``.

    Ask again at each use instead of keeping the value: then a rotation needs no restart.

    Raises:
        UnresolvedReferenceError: a reference has no value; the message says which and why.
        AgentError: no Spark application with the plugin runs in this process.
    """
    api = _driver_api()
    failure: SparkConfigError
    try:
        return Secret(str(api.current(text)))
    except Exception as error:  # noqa: BLE001 - Py4J wraps everything; its traceback holds JVM objects
        failure = _translated(error)
    raise failure


def _driver_api() -> Any:  # noqa: ANN401 - a Py4J view of a JVM class has no type
    try:
        from pyspark import SparkContext
    except ImportError:
        raise AgentError("sparkconfig.current() needs pyspark and a running Spark application") from None
    context = SparkContext._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
    if context is None or context._jvm is None:  # noqa: SLF001
        raise AgentError(
            "no Spark application runs in this process. sparkconfig.current() works in the driver's Python;"
            " a Spark Connect client has no values, and the server resolves the references of its options"
        )
    # Looked up by class loader: a jar that came with --jars is not on the gateway's own class path.
    return context._jvm.io.sparkconfig.api.DriverApi  # noqa: SLF001


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
    # The brain's error came as text: its problems again, without the headline.
    _, *problems = message.split("\n  - ")
    return UnresolvedReferenceError(problems or [message])

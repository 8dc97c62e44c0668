"""The values that the driver's JVM masks: this process learns them when a call into the JVM returns.

Before the result of the call is handed on, one number in shared memory tells whether the JVM masks more than this
process knows. **Nothing that shows a text comes here**: a write, a log record, a finalizer or an exception hook masks
with what is known, makes no call, imports nothing and waits for no lock.
"""

from __future__ import annotations

import functools
import json
import mmap
import os
import sys
from collections.abc import Iterable
from typing import Any

from sparkconfig._base import py4j_log
from sparkconfig.redaction.finalizers import MINE
from sparkconfig.redaction.registry import REGISTRY

__all__ = ["driver_api", "install", "tell"]


_owner = os.getpid()
_hooked = False
_driver: _Driver | None = None
# The client and the application that were looked at last, whether or not the plugin was found there.
_met: tuple[object, object] = (None, None)
# What this process has revealed by itself.
_revealed: dict[str, None] = {}


class _Driver:
    """The plugin in a driver's JVM.

    Args:
        client: of the gateway.
        api: the plugin's object.
    """

    def __init__(self, client: Any, api: Any) -> None:  # noqa: ANN401 - Py4J's have no types
        self._client = client
        self._api = api
        self._known = 0
        self._told = 0
        self._shared = _shared(self._ask("valueCounter"))

    def news(self) -> bool:
        """Whether the JVM masks more values than were fetched; where no memory is shared, perhaps."""
        return self._shared is None or self._shared[0] != self._known

    def fetch(self) -> None:
        """Mask what the JVM masks by now, if that is more than is known."""
        if self.news():
            news = json.loads(self._ask("maskedValues", f"L{self._known}\n"))
            REGISTRY.forget(news["forgotten"])
            REGISTRY.declare(news["values"], generation=1)
            self._known = max(self._known, news["count"])

    def tell(self, values: list[str]) -> None:
        """Have the JVM and its executors mask values that this process resolved by itself."""
        if self._told < len(values):
            self._api.mask(values[self._told :])
            self._told = len(values)

    def _ask(self, method: str, argument: str = "") -> str:
        # As a command: Py4J's own way asks converters first, and these import what they convert.
        protocol: Any = sys.modules["py4j.protocol"]
        target = self._api._target_id  # noqa: SLF001 - what Py4J's own call uses
        command = f"{protocol.CALL_COMMAND_NAME}{target}\n{method}\n{argument}{protocol.END_COMMAND_PART}"
        answer = self._client.send_command(command)
        return str(protocol.get_return_value(answer, self._client, target, method))


def _shared(path: str) -> memoryview | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return memoryview(mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)).cast("q")
    except (OSError, ValueError):
        return None


def install() -> None:
    """Learn what the JVM masks, now and whenever a call into it returns; a second call hooks nothing more."""
    global _hooked  # noqa: PLW0603 - one per process
    for name in ("PYTHON_WORKER_FACTORY_SECRET", "PYSPARK_GATEWAY_SECRET"):
        if secret := os.environ.get(name):
            REGISTRY.register([secret])
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    if context is None:
        return
    if not _hooked:
        _hooked = True
        py4j_log.withhold(_unknown)
        _hook(context)
    gateway = context._gateway  # noqa: SLF001
    if gateway is not None:
        _learn(context, gateway._gateway_client)  # noqa: SLF001


def _hook(context: Any) -> None:  # noqa: ANN401 - pyspark's SparkContext
    from py4j.java_gateway import GatewayClient
    from py4j.protocol import MEMORY_COMMAND_NAME

    send = GatewayClient.send_command

    @functools.wraps(send)
    def learning(self: Any, command: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as Py4J has it
        answer = send(self, command, *args, **kwargs)
        # Finalizers send these, in any thread at any moment.
        if not command.startswith(MEMORY_COMMAND_NAME):
            _learn(context, self)
        return answer

    GatewayClient.send_command = learning


def _learn(context: Any, client: Any) -> None:  # noqa: ANN401 - as in _hook()
    """Fetch what is new, in the thread that has just made a call. Never raises: a JVM that ended brings no values."""
    global _driver, _met  # noqa: PLW0603
    # A child process shares the sockets of its parent, and must not speak on them.
    if MINE.asking or os.getpid() != _owner:
        return
    MINE.asking = True
    try:
        application = context._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
        if _met[0] is not client or (application is not None and _met[1] is not application):
            _met = (client, application)
            _driver = _found(context, client)
        if _driver is not None:
            _driver.fetch()
            if application is not None:
                _driver.tell(list(_revealed))
    except Exception:  # noqa: BLE001, S110 - as above
        pass
    finally:
        MINE.asking = False


def _found(context: Any, client: Any) -> _Driver | None:  # noqa: ANN401 - as in _hook()
    jvm = getattr(context._active_spark_context, "_jvm", None) or context._jvm  # noqa: SLF001
    token = getattr(getattr(client, "gateway_parameters", None), "auth_token", None)
    if token:
        REGISTRY.register([token])
    if jvm is None:
        return None
    api = driver_api(jvm)
    # So Py4J calls what the JVM does not have, or not yet.
    return None if type(api).__name__ == "JavaPackage" else _Driver(client, api)


def _unknown() -> bool:
    return MINE.asking or (_driver is not None and _driver.news())


def tell(values: Iterable[str]) -> None:
    """Have the JVM and its executors mask values that this process resolved by itself. Never raises.

    Without a JVM they wait for the next one.
    """
    fresh = [value for value in values if value not in _revealed]
    if fresh:
        _revealed.update(dict.fromkeys(fresh))
        context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
        if context is not None and context._gateway is not None:  # noqa: SLF001
            _learn(context, context._gateway._gateway_client)  # noqa: SLF001


def driver_api(jvm: Any) -> Any:  # noqa: ANN401 - a Py4J view of a JVM has no type
    """Return what this package's own code may ask the driver's JVM.

    It is the Scala object's instance, in a field: none of its methods is public and static, or SQL's ``reflect``
    could call it.
    """
    spark = sys.modules.get("pyspark")
    # Another application may have come with another jar.
    return _found_api(jvm, None if spark is None else spark.SparkContext._active_spark_context)  # noqa: SLF001


@functools.lru_cache(maxsize=1)
def _found_api(jvm: Any, _application: object) -> Any:  # noqa: ANN401
    # It takes five calls. By class loader: a jar that came with --jars is not on the gateway's own class path.
    return getattr(getattr(jvm.io.sparkconfig.driver, "DriverApi$"), "MODULE$")

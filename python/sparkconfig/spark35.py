"""References in the options of PySpark's readers on Spark 3.5.

From 4.0 on, ``load()`` only writes down what to load, and the session's rules resolve it. On 3.5 it connects at once,
with the options as they were written. :func:`install` lets the readers of this process load through the shim, which
hands the source values and puts the references back into the plan. The plugin calls it in the Python that has started
the driver, when a session starts. JDBC needs none of it: its connections resolve.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError

__all__ = ["install"]

_TERMINAL = frozenset({"load", "csv", "json", "parquet", "orc", "text", "textFile"})


class _Reader:
    """A Py4J view of a JVM reader whose terminal calls go through the shim."""

    def __init__(self, reader: Any, context: Any) -> None:  # noqa: ANN401 - Py4J views have no types
        self._reader = reader
        self._context = context

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        member = getattr(self._reader, name)
        if name in _TERMINAL:
            return lambda *arguments: self._load(name, arguments)
        if name in ("format", "option", "options", "schema"):
            return lambda *arguments: self._fluent(member, arguments)
        return member

    def _fluent(self, member: Any, arguments: tuple[Any, ...]) -> _Reader:  # noqa: ANN401
        member(*arguments)
        return self

    def _load(self, method: str, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
        jvm = self._context._jvm  # noqa: SLF001 - PySpark publishes no way to its JVM
        bridge = jvm.io.sparkconfig.bindings.sources.LoadOptions
        if not isinstance(bridge, JavaClass):  # a session of this process whose JVM has no jar of ours
            return getattr(self._reader, method)(*arguments)
        packed = self._context._gateway.new_array(jvm.java.lang.Object, len(arguments))  # noqa: SLF001
        for position, argument in enumerate(arguments):
            packed[position] = argument
        try:
            return bridge.call(self._reader, method, packed)
        except Py4JJavaError as error:
            # As without us: what was called is the reader's method.
            error.errmsg = f"An error occurred while calling {self._reader._target_id}.{method}.\n"  # noqa: SLF001
            raise


def install() -> bool:
    """Let the readers of this process resolve references; once is enough, before or after the session starts.

    Returns:
        Whether there was something to do: False on Spark 4, whose rules need no help.
    """
    import pyspark

    if not pyspark.__version__.startswith("3."):
        return False
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

    for reader in (DataFrameReader, DataStreamReader):
        _patch(reader)
    return True


def _patch(reader: Any) -> None:  # noqa: ANN401
    original = reader.__init__
    if getattr(original, "_sparkconfig", False):
        return

    def init(self: Any, spark: Any) -> None:  # noqa: ANN401
        original(self, spark)
        self._jreader = _Reader(self._jreader, spark._sc)  # noqa: SLF001

    init._sparkconfig = True  # type: ignore[attr-defined]  # noqa: SLF001
    reader.__init__ = init

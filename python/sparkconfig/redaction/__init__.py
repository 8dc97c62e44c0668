"""Values that nothing may show: which they are, how texts are masked, what is hooked."""

from __future__ import annotations

from collections.abc import Iterable

from sparkconfig.redaction.data import COMMON_WORDS, FLOOR
from sparkconfig.redaction.forms import worth_registering
from sparkconfig.redaction.registry import MASK, REGISTRY, WITHHELD, Registry, redact, register

__all__ = [
    "COMMON_WORDS",
    "FLOOR",
    "MASK",
    "REGISTRY",
    "WITHHELD",
    "Registry",
    "install",
    "redact",
    "register",
    "worth_registering",
]


def install() -> None:
    """Redact what this process shows: its output, log records, tracebacks, and the errors that come from Spark.

    In a Spark application with the plugin it need not be called: the plugin calls it in the Python that has started
    the driver, when a session starts, and ``import sparkconfig`` does in Python workers;
    ``sparkconfig.session.configure()`` and ``sparkconfig.current()`` call it too. From then on every value that
    ``Secret.reveal()`` returns is registered, and in a Spark driver all that its JVM masks. A call again covers
    what was not there yet: pyspark, a notebook's kernel, streams that were replaced.
    """
    from sparkconfig import secret
    from sparkconfig.redaction import jvm
    from sparkconfig.redaction.sinks import all_sinks

    for sink in all_sinks():
        sink.install()
    jvm.install()
    secret.on_reveal = revealed


def revealed(values: Iterable[str]) -> None:
    """Mask what a Secret reveals in this process and, in a Spark driver, in its JVM and on its executors."""
    from sparkconfig.redaction import jvm

    found = list(values)
    REGISTRY.register(found)
    jvm.tell(found)

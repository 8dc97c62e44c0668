"""Scala objects by Py4J: the methods that SQL could call have no public static form."""

from __future__ import annotations

from typing import Any


def scala_object(jvm: Any, name: str) -> Any:
    """The instance behind a Scala object.

    Args:
        jvm: Py4J's view of a JVM.
        name: the object's full name, such as ``io.sparkconfig.driver.DriverApi``.
    """
    view = jvm
    *packages, last = name.split(".")
    for package in packages:
        view = getattr(view, package)
    return getattr(getattr(view, f"{last}$"), "MODULE$")

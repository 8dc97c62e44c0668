"""From the name of a provider class to the class: built-in alias, entry point, or dotted Python path."""

from __future__ import annotations

from sparkconfig._base.built_in import BuiltIn
from sparkconfig._base.gone import GONE
from sparkconfig._base.loading import import_object
from sparkconfig._base.text import nearest, shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers.base import ConfigProvider

__all__ = ["BUILT_IN", "ENTRY_POINTS", "find_class"]

ENTRY_POINTS = "sparkconfig.providers"
"""The entry point group in which third parties publish aliases."""

BUILT_IN: BuiltIn[Described] = BuiltIn("sparkconfig.providers", "alias", Described)  # type: ignore[type-abstract]
"""The project's own aliases; they work without installed metadata, and no entry point replaces them."""

_JAVA_PACKAGES = ("org.apache.kafka.", "com.github.jcustenborder.", "io.lenses.", "io.strimzi.")


def find_class(name: str) -> type[ConfigProvider]:
    """Return the provider class called ``name``.

    Raises:
        ConfigurationError: nothing has that name, it cannot be imported, or it is not a ConfigProvider.
    """
    own = BUILT_IN.find(name)
    if own is not None:
        return own
    if advice := GONE.get(f"provider {name}"):
        raise ConfigurationError(f"the provider '{name}' is gone: {advice}")
    target = _published().get(name)
    if target is None:
        if "." not in name and ":" not in name:
            known = sorted({*BUILT_IN.all, *_published()})
            near = nearest(name, known)
            guess = f" (did you mean '{near}'?)" if near else ""
            raise ConfigurationError(
                f"no provider is called '{shorten(name)}'{guess}; known: {', '.join(known)}; or give a dotted"
                " Python path such as package.module.Class"
            )
        target = name
    java = _alias_for_java(name) if target == name else None
    try:
        found = import_object(target)
    except ConfigurationError:
        if java is None:
            raise
        found = None
    if found is None:
        raise ConfigurationError(
            f"'{shorten(name)}' is a Java class, and providers here are Python classes; write {java}"
        )
    if not (isinstance(found, type) and issubclass(found, ConfigProvider)):
        raise ConfigurationError(f"'{shorten(name)}' is not a class derived from sparkconfig.ConfigProvider")
    return found


def _alias_for_java(name: str) -> str | None:
    """What to write instead of a Java class; None: the name does not look like one."""
    package, _, simple = name.rpartition(".")
    if package.startswith(_JAVA_PACKAGES) or simple.endswith("Provider"):
        for alias, kind in BUILT_IN.all.items():
            if package and simple in kind.java:
                return f"{alias}, the alias of its counterpart"
    if package.startswith(_JAVA_PACKAGES):
        return f"one of {', '.join(sorted(BUILT_IN.all))}"
    return None


def _published() -> dict[str, str]:
    from importlib.metadata import entry_points  # 20 ms, and seldom needed

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}

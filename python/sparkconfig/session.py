"""Turn sparkconfig on for a ``SparkSession.builder``: ``configure(SparkSession.builder).getOrCreate()``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sparkconfig import redaction
from sparkconfig._spark import jars
from sparkconfig.errors import ConfigurationError

if TYPE_CHECKING:
    from pyspark import SparkConf

__all__ = ["PLUGIN", "configure"]

PLUGIN = "io.sparkconfig.ConfigPlugin"
_Builder = TypeVar("_Builder")


def configure(
    builder: _Builder,
    *,
    providers: Mapping[str, Mapping[str, str | Path]] | None = None,
    settings: Mapping[str, str] | None = None,
    class_path: bool = False,
    jar: Path | str | None = None,
) -> _Builder:
    """Add the jar and the plugin to a builder and return it. What the builder and spark-defaults list stays.

    ::

        from pyspark.sql import SparkSession
        from sparkconfig.session import configure

        sealed = {"class": "sealed", "file": "/etc/shop/shop.sealed", "key.file": "/etc/shop/shop.key"}
        spark = configure(SparkSession.builder, providers={"sealed": sealed}).getOrCreate()

    Works for ``python app.py``, and for local Spark Connect, which overwrites ``spark.plugins``: there
    ``spark.plugins.defaultList`` is used. Under ``spark-submit`` the JVM runs already; then the jar has to come
    with ``--jars "$(sparkconfig jar)"``.

    From here on this process masks secret values in what it prints, logs and raises
    (``sparkconfig.redaction.install``).

    Args:
        builder: a ``SparkSession.builder``, not started yet.
        providers: name to its params, and ``class`` if the name is not an alias (``spark.config.providers``).
        settings: other ``spark.config.*``, with or without that prefix.
        class_path: put the jar on the class paths of driver and executors instead of into ``spark.jars``, as
            Hadoop's credential providers need it; executors must then find it at the same path.
        jar: another jar than the package's own.

    After ``spark.stop()`` it may be called again for the next session of this process, with other providers.

    Raises:
        ConfigurationError: the plugin could not be loaded this way, or an application runs already, which does not get
            other providers or settings; the message says what to do.
    """
    redaction.install()
    given: Mapping[str, Any] = getattr(builder, "_options", {})
    own = {**_provider_confs(providers or {}), **_setting_confs(settings or {})}
    list_key = _plugins_key(given)
    running = _running_confs(own)
    before = _Before(given, running)
    if running is None:
        own.update(_jar_confs(str(jar or jars.find_jar()), before, class_path=class_path))
    plugins = before.listed(list_key)
    misspelt = [name for name in plugins if name != PLUGIN and name.lower().startswith("io.sparkconfig")]
    if misspelt:
        raise ConfigurationError(
            f"{list_key} names {misspelt[0]}, which Spark would not find; the plugin is {PLUGIN}"
        )
    if PLUGIN not in plugins:
        own[list_key] = ",".join([*plugins, PLUGIN])
    for key, value in own.items():
        builder.config(key, value)  # type: ignore[attr-defined]
    return builder


class _Before:
    """What is configured already: by the builder, in the running JVM, or in spark-defaults.conf."""

    def __init__(self, given: Mapping[str, Any], running: SparkConf | None) -> None:
        self._given = given
        self._running = running
        self._defaults = _spark_defaults() if running is None else {}

    def text(self, key: str) -> str:
        if key in self._given:
            return str(self._given[key])
        if self._running is not None:
            return self._running.get(key, "") or ""
        return self._defaults.get(key, "")

    def listed(self, key: str) -> list[str]:
        return [part.strip() for part in self.text(key).split(",") if part.strip()]


def _jar_confs(jar: str, before: _Before, *, class_path: bool) -> dict[str, str]:
    if class_path:
        keys = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
        return {key: os.pathsep.join(_with(before.text(key).split(os.pathsep), jar)) for key in keys}
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    if any(argument == "--jars" or argument.startswith("--jars=") for argument in arguments):
        if any("sparkconfig_" in argument for argument in arguments):
            return {}
        raise ConfigurationError(
            "PYSPARK_SUBMIT_ARGS has --jars, which would win over this builder's jar; add the path that"
            " 'sparkconfig jar' prints to it"
        )
    return {"spark.jars": ",".join(_with(before.listed("spark.jars"), jar))}


def _with(parts: Iterable[str], jar: str) -> list[str]:
    """Add the jar, and leave out older ones of its kind: of two versions the first on the path would load."""
    others = [part for part in parts if part and not Path(part).name.startswith("sparkconfig_2.")]
    return [*others, jar]


def _plugins_key(given: Mapping[str, Any]) -> str:
    """Return the conf that lists plugins in this kind of session."""
    remote = str(given.get("spark.remote") or os.environ.get("SPARK_REMOTE") or "")
    if remote.startswith("sc://"):
        raise ConfigurationError(
            "this session is a Spark Connect client: the server resolves references; turn sparkconfig on there"
        )
    mode = str(given.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or "").lower()
    if mode not in ("classic", "connect"):
        mode = _default_mode()
    return "spark.plugins.defaultList" if remote or mode == "connect" else "spark.plugins"


def _default_mode() -> str:
    try:
        from pyspark.util import default_api_mode
    except ImportError:  # Spark 3.5 knows no modes
        return "classic"
    return str(default_api_mode())


def _running_confs(own: Mapping[str, str]) -> SparkConf | None:
    """Return the confs of the JVM that this process uses already, or None if it has none yet.

    Args:
        own: the confs of sparkconfig for the next session; those of a session that was stopped give way to them.

    Raises:
        ConfigurationError: it cannot load the plugin any more, or runs with others.
    """
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError:
        raise ConfigurationError("configure() needs pyspark: pip install pyspark") from None
    context = SparkContext._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
    if context is not None:
        if (
            PLUGIN
            in f"{context.getConf().get('spark.plugins')},{context.getConf().get('spark.plugins.defaultList')}"
        ):
            _require_same(own, context.getConf())
            return context.getConf()
        raise ConfigurationError(
            "a Spark application without sparkconfig runs in this process; stop it first, or configure it at its start"
        )
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if SparkContext._gateway is None and not submitted:  # noqa: SLF001
        return None
    SparkContext._ensure_initialized()  # noqa: SLF001 - connects to the JVM that spark-submit started
    jvm: Any = SparkContext._jvm  # noqa: SLF001
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(PLUGIN)
    except Exception:  # noqa: BLE001 - Py4J wraps ClassNotFoundException
        missing = True
    else:
        missing = False
    if missing:
        raise ConfigurationError(
            "the JVM of this application runs already and cannot load the plugin; start it with"
            ' spark-submit --jars "$(sparkconfig jar)", or call configure() before the first session'
        )
    if own and not submitted:
        _forget_stopped(jvm.java.lang.System)
    return SparkConf()


def _require_same(own: Mapping[str, str], running: SparkConf) -> None:
    """Refuse confs that the running application does not have: the builder would drop them without a word."""
    other = sorted(key for key, text in own.items() if running.get(key) != text)
    if other:
        raise ConfigurationError(
            "a Spark application runs in this process already, and providers and settings count at its start: it does"
            f" not get {', '.join(other)}. Call spark.stop() before configure(), or configure the first session so"
        )


def _forget_stopped(system: Any) -> None:  # noqa: ANN401 - Py4J has no types
    """Take the settings of sessions that were stopped out of the JVM.

    PySpark passes the confs of a process' first session to its JVM as system properties, where each later session finds
    them. What is in spark-defaults.conf or PYSPARK_SUBMIT_ARGS is for all sessions.
    """
    from sparkconfig.settings.schema import PREFIX

    kept = _spark_defaults()
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    for key in list(system.getProperties().stringPropertyNames()):
        if key.startswith(PREFIX) and key not in kept and key not in arguments:
            system.clearProperty(key)


def _spark_defaults() -> Mapping[str, str]:
    """Read spark-defaults.conf, since a builder's value would replace its lists."""
    from sparkconfig.formats import properties

    try:
        folder = os.environ.get("SPARK_CONF_DIR") or jars.find_spark().home / "conf"
        return properties.load((Path(folder) / "spark-defaults.conf").read_bytes())
    except (OSError, ValueError, ConfigurationError):
        return {}  # Spark itself says what is wrong with it


def _provider_confs(providers: Mapping[str, Mapping[str, str | Path]]) -> dict[str, str]:
    confs = {"spark.config.providers": ",".join(providers)} if providers else {}
    for name, params in providers.items():
        for param, value in params.items():
            kind = "class" if param == "class" else f"param.{param}"
            confs[f"spark.config.providers.{name}.{kind}"] = str(value)
    return confs


def _setting_confs(settings: Mapping[str, str]) -> dict[str, str]:
    from sparkconfig.settings.schema import PREFIX

    return {PREFIX + key.removeprefix(PREFIX): str(value) for key, value in settings.items()}

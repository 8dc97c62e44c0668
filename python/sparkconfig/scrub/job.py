"""The search as a Spark job: executors read, search and replace logs on any Hadoop file system."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkconfig._spark import driver, jars
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.redaction import worth_registering
from sparkconfig.scrub import logs
from sparkconfig.scrub.engine import Counts
from sparkconfig.scrub.executor import Searched, named, path_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Job", "application"]

_LARGE = 64 << 20
_SMALL = 1 << 20
_TASKS_A_CORE = 4
_FILES_A_TASK = 500


@contextmanager
def application(confs: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start an application with the plugin, by ``confs`` over spark-defaults, and stop it at the end.

    Raises:
        ConfigurationError: there is no pyspark, or it did not start.
    """
    _find_pyspark()
    from pyspark.sql import SparkSession

    from sparkconfig.session import configure  # needs Py4J, which may come with Spark

    builder = SparkSession.builder.appName("sparkconfig scrub")
    for key, value in confs.items():
        builder = builder.config(key, value)
    session = None
    try:
        session = configure(builder).getOrCreate()
    except SparkConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - Py4J wraps everything, and Spark's own log says it in full
        kind = type(error).__name__
    if session is None:
        raise ConfigurationError(f"the Spark application did not start ({kind}); Spark's log above says why")
    try:
        yield session
    finally:
        session.stop()


class Job:
    """Searches and cleans logs on the executors of one application.

    Args:
        session: an application with the plugin.
        wanted: references by the names that results show; their providers are the application's.
        by_shape: as for the engine.
        mask_shapes: as for the engine.

    Attributes:
        unfit: names of values that are too short or too common to be searched for.

    Raises:
        UnresolvedReferenceError: a reference has no value.
        PolicyViolation: the operator's policy does not let this application use one.
    """

    def __init__(
        self,
        session: SparkSession,
        wanted: Mapping[str, str],
        *,
        by_shape: bool = True,
        mask_shapes: bool = False,
    ) -> None:
        self._context: Any = session.sparkContext
        secret = named(driver.configs(wanted)) if wanted else {}
        self._wanted = {name: wanted[name] for name in secret}
        self._shapes = {"by_shape": by_shape or mask_shapes, "mask_shapes": mask_shapes}
        self.unfit = sorted(name for name, value in secret.items() if not worth_registering(value))
        jvm: Any = self._context._jvm  # noqa: SLF001
        self._scrub = jvm.io.sparkconfig.scrub.ScrubJob(self._context._jsc)  # noqa: SLF001
        # Executors may have no package; the jar carries it.
        jar = jars.find_jar()
        if jar.name not in {Path(each).name for each in self._context._python_includes or ()}:  # noqa: SLF001
            self._context.addPyFile(str(jar))

    def logs_in(self, paths: Iterable[str], *, since: float = 0.0) -> list[logs.Log]:
        """Return the logs among ``paths`` and in the folders among them, large ones first.

        Args:
            paths: of this machine, which executors have to see as well, and addresses of Hadoop's file systems.
            since: seconds since 1970; files that were changed before are left out.

        Raises:
            OSError: a path cannot be read.
        """
        local = [text for text in paths if "://" not in text or text.startswith("file:")]
        found = {log.path: log for log in logs.logs_in(local, since=since)}
        for text in paths:
            if text in local:
                continue
            for address, size, changed in self._listed(text):
                path = path_of(address)
                if changed >= since * 1000:
                    found[path] = logs.Log(path, size, logs.why_not(path))
        return sorted(found.values(), key=lambda log: (-log.size, str(log.path)))

    def find(self, found: Sequence[logs.Log]) -> list[logs.Result]:
        """Count what is in logs."""
        return self._results(found, self._searched("find", found))

    def clean(self, found: Sequence[logs.Log]) -> list[logs.Result]:
        """Rewrite those logs that have anything to mask, each in one step."""
        looked = self._searched("look", found)
        again = [log for log in found if looked.get(_address(log), {}).get("keep")]
        if again:
            rdd = self._frames("clean", again)
            rdd._bypass_serializer = True  # noqa: SLF001 - as RDD.saveAsTextFile does: the JVM takes these bytes
            with _clear():
                written = json.loads(self._scrub.write(rdd._jrdd))  # noqa: SLF001
            looked |= {each["address"]: each for each in written}
        return self._results(found, looked)

    def _searched(self, action: str, found: Sequence[logs.Log]) -> dict[str, dict[str, Any]]:
        if not any(log.skip is None for log in found):
            return {}
        with _clear():
            said = [json.loads(each) for each in self._frames(action, found).collect()]
        return {each["address"]: each for each in said}

    def _frames(self, action: str, found: Sequence[logs.Log]) -> Any:  # noqa: ANN401 - an RDD of bytes
        from pyspark.rdd import RDD
        from pyspark.serializers import NoOpSerializer

        groups = _groups([log for log in found if log.skip is None], self._context.defaultParallelism)
        source: RDD[bytes] = RDD(self._scrub.blocks(json.dumps(groups)), self._context, NoOpSerializer())
        return source.mapPartitionsWithIndex(Searched(self._wanted, **self._shapes, action=action))

    def _listed(self, address: str) -> list[tuple[str, int, int]]:
        found = None
        try:
            found = json.loads(self._scrub.list(address))
        except Exception as error:  # noqa: BLE001 - Py4J's, with Hadoop's text, which may quote what an address holds
            java = getattr(error, "java_exception", None)
            kind = type(error).__name__ if java is None else str(java.getClass().getSimpleName())
        if found is None:
            raise ConfigurationError(
                f"an address of {address.partition('://')[0]}:// cannot be listed ({kind})"
            )
        return [(each[0], each[1], each[2]) for each in found]

    @staticmethod
    def _results(found: Sequence[logs.Log], said: Mapping[str, Mapping[str, Any]]) -> list[logs.Result]:
        results = []
        for log in found:
            result = logs.Result(log.path, log.size, skip=log.skip)
            if log.skip is None:
                each = said[_address(log)]
                result.counts = Counts(Counter(each["values"]), Counter(each["shapes"]), each["withheld"])
                result.skip = each["skip"]
                result.changed = each.get("changed", False)
            results.append(result)
        return results


def _address(log: logs.Log) -> str:
    return f"file:{log.path.absolute()}" if isinstance(log.path, Path) else str(log.path)


def _groups(found: Sequence[logs.Log], cores: int) -> list[list[str]]:
    """Logs for one task each: large ones alone, small ones together, so that tasks are many and not tiny."""
    total = sum(log.size for log in found)
    enough = max(_SMALL, min(_LARGE, total // max(1, cores * _TASKS_A_CORE)))
    groups: list[list[str]] = []
    size = enough
    for log in found:
        if size >= enough or len(groups[-1]) >= _FILES_A_TASK:
            groups.append([])
            size = 0
        groups[-1].append(_address(log))
        size += log.size
    return groups


@contextmanager
def _clear() -> Iterator[None]:
    """A job that failed as an error of ours, without what Spark's own holds."""
    kind = None
    try:
        yield
    except SparkConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - Py4J wraps everything
        kind = type(error).__name__
    if kind is not None:
        raise SparkConfigError(f"the Spark job failed ({kind}); Spark's log above says why")


def _find_pyspark() -> None:
    """Use the pyspark of ``SPARK_HOME`` if this Python has none."""
    if importlib.util.find_spec("pyspark") is not None:
        return
    home = os.environ.get("SPARK_HOME", "")
    folder = Path(home) / "python"
    if not home or not (folder / "pyspark").is_dir():
        raise ConfigurationError("--spark needs Spark: set SPARK_HOME, or pip install pyspark")
    sys.path += [str(folder), *map(str, folder.glob("lib/py4j-*-src.zip"))]

"""The same search as a Spark job: each task searches files, with values that its executor resolves.

The job holds references. Values come from the executor's snapshot when a task begins, so that none is in a plan, in
the job's code, in a broadcast or on a disk. What comes back are counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sparkconfig import session
from sparkconfig.scrub import logs
from sparkconfig.scrub.engine import Engine
from sparkconfig.scrub.logs import Log, Result
from sparkconfig.secret import Secret, parts_of

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["engine_of", "run", "search"]


def run(
    found: Sequence[Log],
    references: Sequence[str],
    confs: Mapping[str, str],
    *,
    clean: bool,
    by_shape: bool,
    mask_shapes: bool,
) -> tuple[list[Result], list[str]]:
    """Search logs, or clean them, as a job of an application of its own.

    Args:
        found: the logs; executors have to see them at the same paths.
        references: whose values to search for.
        confs: of the application: master, providers and the rest.
        clean: whether to rewrite.
        by_shape: whether to count what looks like a secret.
        mask_shapes: whether to mask that too.

    Returns:
        What became of each log, and the references whose values are too short or too common to be searched for.

    Raises:
        SparkConfigError: a reference has no value, or the application may not use it.
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("sparkconfig scrub")
    for key, value in confs.items():
        builder = builder.config(key, value)
    spark = session.configure(builder).getOrCreate()
    try:
        return search(
            spark.sparkContext, found, references, clean=clean, by_shape=by_shape, mask_shapes=mask_shapes
        )
    finally:
        spark.stop()


def search(
    context: SparkContext,
    found: Sequence[Log],
    references: Sequence[str],
    *,
    clean: bool,
    by_shape: bool,
    mask_shapes: bool,
) -> tuple[list[Result], list[str]]:
    """Do the same in a running application.

    Raises:
        SparkConfigError: as :func:`run`.
    """
    # What is wrong is said here, and not by each task.
    unfit = engine_of(tuple(references), by_shape, mask_shapes).unfit
    if not found:
        return [], unfit
    work = [(str(log.path), log.size, log.skip) for log in found]
    task = _task(list(references), clean=clean, by_shape=by_shape, mask_shapes=mask_shapes)
    # One task for a file, large ones first; one that is tried again begins anew.
    results: list[Result] = context.parallelize(work, len(work)).mapPartitions(task).collect()
    return results, unfit


def _task(
    references: list[str], *, clean: bool, by_shape: bool, mask_shapes: bool
) -> Callable[[Iterable[tuple[str, int, str | None]]], Iterator[Result]]:
    """What a task does; it is pickled, and holds no value."""

    def search(work: Iterable[tuple[str, int, str | None]]) -> Iterator[Result]:
        from sparkconfig.scrub.spark_job import engine_of

        engine = engine_of(tuple(references), by_shape, mask_shapes)
        for path, size, skip in work:
            log = Log(logs.at(path), size, skip)
            yield logs.clean(log, engine) if clean else logs.find(log, engine)

    return search


def engine_of(references: tuple[str, ...], by_shape: bool, mask_shapes: bool) -> Engine:  # noqa: FBT001
    """Return an engine with the values that this worker may use now."""
    from sparkconfig import worker

    values = worker.configs({text: text for text in references})
    secrets = {
        text: value.reveal()
        for text, value in values.items()
        if isinstance(value, Secret) and parts_of(value)
    }
    return Engine(secrets, by_shape=by_shape, mask_shapes=mask_shapes)

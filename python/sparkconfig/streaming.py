"""Streaming queries that are started again, from their checkpoint, when a secret that they use has changed.

A running query keeps the options with which it was started. Where its source or sink connects once, a rotated
credential reaches it only by a restart:

    from sparkconfig.streaming import managed

    def orders(options):
        return (spark.readStream.format("kafka").options(**options).load()
                .writeStream.option("checkpointLocation", "/checkpoints/orders").start("/orders"))

    query = managed(orders, {"kafka.sasl.jaas.config": "...password='${vault:kafka:password}';", ...},
                    action="restart")
    query.awaitTermination()

Options keep their references; Spark resolves them when the query starts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from sparkconfig._base.threads import daemon
from sparkconfig._spark import driver
from sparkconfig._spark.query_watch import Watch
from sparkconfig.errors import AgentError, ConfigurationError, SparkConfigError
from sparkconfig.secret import Secret

__all__ = ["ManagedQuery", "Restart", "managed"]

_log = logging.getLogger(__name__)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
# Spark writes a batch's offsets before it reads the data, so a first batch that takes longer is past that.
_FIRST_BATCH_S = 10.0
_Query = Any  # pyspark's StreamingQuery; this module does not import pyspark


@dataclass(frozen=True)
class Restart:
    """One restart.

    Attributes:
        query_id: the query's id, which its checkpoint keeps over restarts.
        generation: the generation that was the newest then.
        changed: the options whose values had changed.
        seconds: from the beginning of the stop until the new run is up.
        attempts: how often the start was tried.
    """

    query_id: str
    generation: int
    changed: tuple[str, ...]
    seconds: float
    attempts: int


def managed(
    factory: Callable[[Mapping[str, str]], _Query],
    options: Mapping[str, str],
    *,
    action: str | None = None,
    stop_timeout: float = 60.0,
    failure_grace: float = 60.0,
    on_restart: Callable[[Restart], None] = lambda _: None,
) -> ManagedQuery:
    """Start a query and start it again when the value of one of its options has changed.

    Queries of one application are restarted one after the other.

    Args:
        factory: takes the options and starts the query, with a checkpoint location; called at each start.
        options: what the query depends on; values with references stay as they are written.
        action: ``restart``, ``refresh`` or ``none``; None: ``spark.config.reload.action`` of the application. Only
            ``restart`` restarts.
        stop_timeout: seconds to wait for the end of a run; after that the stop is asked for again later.
        failure_grace: seconds during which a run that failed is started again if a value changes: a rotation can
            break a query before it is known here.
        on_restart: called after each restart.

    Raises:
        ConfigurationError: ``action`` is another word.
        SparkConfigError: the options' references cannot be resolved.
    """
    if action not in (None, "restart", "refresh", "none"):
        raise ConfigurationError("action must be restart, refresh or none")
    return ManagedQuery(
        factory,
        options,
        action=action,
        stop_timeout=stop_timeout,
        failure_grace=failure_grace,
        on_restart=on_restart,
    )


@dataclass
class _Run:
    """What the query runs with."""

    query: _Query
    values: Mapping[str, Secret | str] = field(repr=False)


class ManagedQuery:
    """A query that outlives its runs; made by :func:`managed`.

    Attributes:
        restarts: what happened so far.
    """

    def __init__(
        self,
        factory: Callable[[Mapping[str, str]], _Query],
        options: Mapping[str, str],
        *,
        action: str | None,
        stop_timeout: float,
        failure_grace: float,
        on_restart: Callable[[Restart], None],
    ) -> None:
        self._factory = factory
        self._options = MappingProxyType(dict(options))
        self._action = action or driver.reload_action()
        self._stop_timeout = stop_timeout
        self._failure_grace = failure_grace
        self._on_restart = on_restart
        self._ended = threading.Event()
        self._not_before = 0.0
        self._pause = _FIRST_PAUSE_S
        self._restarting = False
        self._attempts = 0
        self._failed_at: float | None = None
        self.restarts: list[Restart] = []
        # Values first: a change between the two starts is then found, at worst, once too often.
        values = driver.configs(self._options)
        self._run = _Run(factory(self._options), values)
        Watch.of_application().add(self)

    @property
    def query(self) -> _Query:
        """The present run, a StreamingQuery."""
        return self._run.query

    @property
    def isActive(self) -> bool:  # noqa: N802 - as StreamingQuery
        """Whether this query runs or will run again."""
        return not self._ended.is_set()

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802 - as StreamingQuery
        """Wait for the end: :meth:`stop`, the end of the query's data, or a failure that no rotation explains.

        Returns:
            False if ``timeout`` seconds passed first.

        Raises:
            StreamingQueryException: the query failed.
        """
        if not self._ended.wait(timeout):
            return False
        failure = self.query.exception()
        if failure is not None:
            raise failure
        return True

    def stop(self) -> None:
        """Stop the query for good; a run that is being started is stopped when it is up."""
        # In this order: who starts a run looks afterwards whether it is still wanted.
        self._ended.set()
        Watch.of_application().remove(self)
        self.query.stop()

    def check(self) -> None:
        """Restart if that is due; called by the watch thread alone, never raises."""
        try:
            if self.isActive and time.monotonic() >= self._not_before:
                self._check_query()
        except AgentError:
            # The side process may be starting again; the generation needs only the application.
            if not _application_runs():
                self._ended.set()
        except Exception as error:  # noqa: BLE001 - the next check tries again
            _log.warning("the state of query %s cannot be read: %s", _id(self.query), type(error).__name__)

    def _check_query(self) -> None:
        alive = bool(self.query.isActive)
        if not alive and not self._restarting and self.query.exception() is None:
            self._ended.set()  # it ended by itself, or was stopped
            return
        if self._action != "restart":
            if not alive:
                self._ended.set()
            return
        try:
            values = driver.configs(self._options)
        except AgentError:
            raise
        except SparkConfigError as error:
            _log.warning("query %s keeps running unchanged: %s", _id(self.query), error)
            return
        changed = tuple(sorted(k for k in values if values[k] != self._run.values.get(k)))
        if changed or self._restarting:
            self._restart(values, changed)
        elif not alive:
            self._give_up_in_time()

    def _give_up_in_time(self) -> None:
        now = time.monotonic()
        self._failed_at = self._failed_at or now
        if now - self._failed_at > self._failure_grace:
            self._ended.set()

    def _restart(self, values: Mapping[str, Secret | str], changed: tuple[str, ...]) -> None:
        # From here on the end of the run is ours, also when it comes after our patience.
        self._restarting = True
        began = time.monotonic()
        query_id = _id(self.query)
        if self.query.isActive and not self._stopped():
            _log.warning(
                "query %s has not stopped within %g s; asking it again", query_id, self._stop_timeout
            )
            return
        if not self.isActive:
            return
        self._attempts += 1
        try:
            query = self._factory(self._options)
        except Exception as error:  # noqa: BLE001 - the next attempt may do better
            self._not_before = time.monotonic() + self._pause
            _log.warning(
                "query %s cannot be started again (%s); next attempt in %g s",
                query_id,
                type(error).__name__,
                self._pause,
            )
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_S)
            return
        self._run = _Run(query, values)
        if not self.isActive:
            _quietly(query.stop)()
            return
        restart = Restart(query_id, driver.generation(), changed, time.monotonic() - began, self._attempts)
        self._restarting, self._attempts = False, 0
        self._pause, self._failed_at = _FIRST_PAUSE_S, None
        _say(restart)
        self.restarts.append(restart)
        _log.info(
            "query %s was restarted in %.1f s with generation %d; changed: %s",
            query_id,
            restart.seconds,
            restart.generation,
            ", ".join(changed),
        )
        self._on_restart(restart)

    def _stopped(self) -> bool:
        """Stop the run, but do not wait for ever: Spark's own limit is off by default."""
        _await_first_batch(self.query)
        stopping = daemon("stop", _quietly(self.query.stop))
        stopping.start()
        stopping.join(self._stop_timeout)
        return not self.query.isActive


def _await_first_batch(query: _Query) -> None:
    """Let a run write its first offsets.

    A stop meanwhile leaves a partial file; Spark 4.1 and later then refuse the checkpoint for ever
    (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY).
    """
    until = time.monotonic() + _FIRST_BATCH_S
    while query.isActive and query.lastProgress is None and time.monotonic() < until:
        time.sleep(0.05)


def _quietly(action: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - what counts is whether the query ended
            _log.warning("a query's stop failed with %s", type(error).__name__)

    return run


def _say(restart: Restart) -> None:
    try:
        driver.query_restarted(asdict(restart))
    except SparkConfigError as error:
        _log.warning("Spark's listeners do not know of the restart of query %s: %s", restart.query_id, error)


def _application_runs() -> bool:
    try:
        driver.generation()
    except AgentError:
        return False
    return True


def _id(query: _Query) -> str:
    return str(query.name or query.id)

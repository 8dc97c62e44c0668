"""Makes the brain of one Spark application from its confs: each part after those that it needs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig._base.record import Record
from sparkconfig.agent.application import Application, Parts
from sparkconfig.agent.caches import Caches
from sparkconfig.agent.executor_access import ExecutorAccess
from sparkconfig.agent.generations import GenerationHistory, changes
from sparkconfig.policy.jobtype import Launch
from sparkconfig.resolution.files import FileRules
from sparkconfig.resolution.in_use import Use
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.schema import PREFIX, Parsed, read

if TYPE_CHECKING:
    from sparkconfig.agent.policies import Policies, StartCheck
    from sparkconfig.agent.records import RotationRecords
    from sparkconfig.settings.operator_file import OperatorFile

__all__ = ["make_application"]

_log = logging.getLogger(__name__)
_POLICY_ROOTS = tuple(f"{PREFIX}{name}" for name in ("override.", "create.table.policy", "audit."))


class _Confs(Record):
    """An application's confs, those that configure sparkconfig itself, and the operator's file if there is one."""

    all: Mapping[str, str]
    own: Mapping[str, str]
    operator_file: OperatorFile | None = None

    @property
    def operator(self) -> bool:
        return self.operator_file is not None

    @property
    def of_job(self) -> Mapping[str, str]:
        """What the job may be told about: with an operator's file not the settings of sparkconfig."""
        return {key: text for key, text in self.all.items() if not (self.operator and key.startswith(PREFIX))}


def make_application(
    confs: Mapping[str, str],
    *,
    system_properties: Mapping[str, str],
    operator_file: Path | None,
    held: Snapshot | None = None,
    parent: Sequence[str] = (),
    file_key: bytes = b"",
) -> Application:
    """Make the brain of an application.

    Args:
        confs: all Spark confs of the application.
        system_properties: the driver JVM's, for KIP-269's ``sysProp``.
        operator_file: the operator's file, from which all ``spark.config.*`` come when it is given.
        held: what a side process before this one had published.
        parent: the command of the process that started the driver's JVM, for the job type.
        file_key: see :class:`sparkconfig.resolution.files.FileRules`; the driver's JVM keeps it over restarts of the
            side process.

    Raises:
        SparkConfigError: the settings or providers are wrong; one message lists all problems.
    """
    given = _divide(confs, operator_file)
    parsed = read(given.own)
    caches = Caches(parsed.settings)
    resolver = Resolver.from_confs(
        given.own,
        environ=os.environ,
        sysprops=system_properties,
        operator=given.operator,
        wrap=caches.add,
        parsed=parsed,
    )
    settings = resolver.settings
    launch = Launch(system_properties.get("sun.java.command", ""), tuple(parent))
    if held is None:  # a new side process for a running application repeats no advice
        for text in conf_warnings.of_start(given.of_job, resolver.providers):
            _log.warning("%s", text)
    job_type = settings.job_type or launch.detect(confs)
    policies, check = _policies(given, resolver, launch, restarted=held is not None)
    history = GenerationHistory()
    executors = ExecutorAccess(settings)
    records = _records(policies, caches)
    keeper = SnapshotKeeper(
        resolver,
        poll_ms=settings.poll_interval,
        next_due_ms=caches.next_due_ms,
        held=held,
        stale_ms=settings.stale_expiry,
        manual=settings.reload_trigger == "manual",
        files=FileRules.from_settings(settings, file_key),
        on_round=_tell(executors, history, records),
    )

    caches.on_push = keeper.wake
    return Application(
        Parts(
            own=given.own,
            confs=given.all if check is None else {**given.all, **check.defaults},
            resolver=resolver,
            caches=caches,
            keeper=keeper,
            history=history,
            executors=executors,
            job_type=job_type,
            policies=policies,
            start_check=check,
            records=records,
        )
    )


def _policies(
    confs: _Confs, resolver: Resolver, launch: Launch, *, restarted: bool
) -> tuple[Policies | None, StartCheck | None]:
    """Load the policies and evaluate the confs; what the operator puts in place counts from here on."""
    if not _has_policies(confs):
        return None, None
    # Imported here: most applications have no policies, and the side process starts with each of them.
    from sparkconfig.agent.policies import Policies

    try:
        policies = Policies.load(
            confs.all, confs.operator_file, resolver.resolve_map, launch, Parsed(resolver.settings)
        )
        # A new side process for a running application: its start was evaluated and recorded before.
        return policies, policies.start(record=not restarted)
    except BaseException:
        resolver.close()
        raise


def _records(policies: Policies | None, caches: Caches) -> RotationRecords | None:
    """The audit of rotations, if the operator, or the job that owns its configuration, asked for one."""
    if policies is None or not policies.engine.audit.enabled:
        return None
    from sparkconfig.agent.records import RotationRecords

    return RotationRecords(policies.engine.audit, policies.who, caches.states)


def _tell(
    executors: ExecutorAccess, history: GenerationHistory, records: RotationRecords | None
) -> Callable[[Snapshot, Snapshot, Mapping[str, Use]], None]:
    """Return what the keeper calls after each round."""

    def on_round(before: Snapshot, after: Snapshot, uses: Mapping[str, Use]) -> None:
        executors.on_round(uses)
        found = changes(before, after, uses) if after.generation != before.generation else None
        if found is not None:
            history.add(after.generation, found)
        if records is not None:
            records.on_round(before.generation, after.generation, found)

    return on_round


def _has_policies(confs: _Confs) -> bool:
    """Whether there are policies to load: without an operator's file only if the job's own confs ask for it."""
    return confs.operator or any(key.startswith(_POLICY_ROOTS) for key in confs.own)


def _divide(confs: Mapping[str, str], operator_file: Path | None) -> _Confs:
    """Tell who configures sparkconfig: the operator's file alone if there is one (KIP-421), else the job.

    What the job sets in spite of the file has no effect; the policies report it as violations.
    """
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    if operator_file is None:
        return _Confs(confs, own)
    # Imported here: most applications have no operator, and the side process starts with each of them.
    from sparkconfig.settings import operator_file as operators

    loaded = operators.load(operator_file)
    return _Confs(confs, loaded.settings, loaded)

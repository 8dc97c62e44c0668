"""What the side process does with an application's confs at its start: check everything, report together."""

from __future__ import annotations

import fnmatch
import logging
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparkconfig._text import shorten
from sparkconfig.agent.control import ControlServer
from sparkconfig.agent.generations import GenerationHistory
from sparkconfig.agent.status import status_of
from sparkconfig.agent.users import Users
from sparkconfig.errors import ConfigurationError, SparkConfigError, UnresolvedReferenceError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import scan
from sparkconfig.policy.jobtype import JobTypes, Launch, parse_map
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.cache_entry import Kept
from sparkconfig.resolution.files import FileRules, matcher, name_of
from sparkconfig.resolution.keeper import SnapshotKeeper, Use
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.schema import PREFIX, Settings, parse

if TYPE_CHECKING:
    from sparkconfig.agent.policies import Policies, StartCheck
    from sparkconfig.agent.records import RotationRecords
    from sparkconfig.settings.operator_file import OperatorFile

__all__ = ["Application", "conf_id"]

_log = logging.getLogger(__name__)
_POLICY_ROOTS = tuple(f"{PREFIX}{name}" for name in ("override.", "create.table.policy", "audit."))


def conf_id(key: str, text: str) -> str:
    """Identify a conf's expression. KIP-269 texts may name other confs, so their place is part of them.

    The shim forms the same text in ``Expression.ofConf``.
    """
    return f"{text}\0conf:{key}" if "$[" in text else text


@dataclass(frozen=True)
class _Confs:
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


class Application:
    """The brain of one Spark application: providers, the expressions in use and their snapshot.

    Args:
        confs: all Spark confs of the application.
        system_properties: the driver JVM's, for KIP-269's ``sysProp``.
        operator_file: the operator's file, from which all ``spark.config.*`` come when it is given.
        held: what a side process before this one had published.
        parent: the command of the process that started the driver's JVM, for the job type.
        file_key: see :class:`.files.FileRules`; the driver's JVM keeps it over restarts of the side process.

    Raises:
        SparkConfigError: the settings or providers are wrong; one message lists all problems.
    """

    def __init__(
        self,
        confs: Mapping[str, str],
        *,
        system_properties: Mapping[str, str],
        operator_file: Path | None,
        held: Snapshot | None = None,
        parent: Sequence[str] = (),
        file_key: bytes = b"",
    ) -> None:
        self._confs = _divide(confs, operator_file)
        self.caches: dict[str, CachingProvider] = {}
        self._timing = _timing(self._confs.own)
        self._manual = self._timing.reload_trigger == "manual"
        self.resolver = Resolver.from_confs(
            self._confs.own,
            environ=os.environ,
            sysprops=system_properties,
            operator=self._confs.operator,
            wrap=self._cached,
        )
        self.settings = self.resolver.settings
        launch = Launch(system_properties.get("sun.java.command", ""), tuple(parent))
        self._python = launch.is_python
        self.policies: Policies | None = None
        self.start_check: StartCheck | None = None
        if held is None:  # a new side process for a running application repeats no advice
            for text in conf_warnings.of_start(self._confs.of_job, self.resolver.providers):
                _log.warning("%s", text)
        self.job_type = JobTypes(self.settings.job_type, parse_map(self.settings.job_type_map)).of(
            launch.application, launch.detect(confs)
        )
        self.worker_access = self.job_type in self.settings.worker_job_types
        if _has_policies(self._confs):
            self._load_policies(launch, restarted=held is not None)
        self.records = self._records()
        self._used: set[str] = set()
        self._for_workers = matcher(self.settings.worker_references)
        self.history = GenerationHistory()
        self.users = Users()
        self._control: ControlServer | None = None
        self.keeper = SnapshotKeeper(
            self.resolver,
            poll_ms=self.settings.poll_interval,
            next_due_ms=self._next_due_ms,
            held=held,
            stale_ms=self.settings.stale_expiry,
            manual=self._manual,
            files=FileRules.from_settings(self.settings, file_key),
            on_round=self._on_round,
        )

    def _on_round(self, before: Snapshot, after: Snapshot, uses: Mapping[str, Use]) -> None:
        self._used.update(reference for use in uses.values() for reference in use.references)
        self.history.on_round(before, after, uses)
        if self.records is not None:
            self.records.on_round(before, after, uses)

    def _load_policies(self, launch: Launch, *, restarted: bool) -> None:
        """Load the policies and evaluate the confs; what the operator puts in place counts from here on."""
        # Imported here: most applications have no policies, and the side process starts with each of them.
        from sparkconfig.agent.policies import Policies

        try:
            self.policies = Policies.load(
                self._confs.all, self._confs.operator_file, self.resolver.resolve_map, launch
            )
            # A new side process for a running application: its start was evaluated and recorded before.
            check = self.policies.start(record=not restarted)
        except BaseException:
            self.resolver.close()
            raise
        self._confs = replace(self._confs, all={**self._confs.all, **check.defaults})
        self.start_check = check

    def resolve_confs(
        self, in_use: Mapping[str, Expression] | None = None
    ) -> tuple[dict[str, Expression], list[str]]:
        """Resolve every reference in the confs, and what else was in use before a restart, in one round.

        One round, since each round publishes: a generation without the rest would take values away.

        Args:
            in_use: id to expression; what fails of these fails again at its next use.

        Returns:
            The confs that hold references, by key, and every problem that was found.
        """
        siblings = MappingProxyType(dict(self._confs.all))  # one for all: it is not copied
        places = ConfPlaces.of(self.settings, self._confs.all, python=self._python)
        found = {
            key: Expression(text, key=key, siblings=siblings if "$[" in text else {})
            for key, text in self._confs.all.items()
            if not key.startswith(PREFIX)
            and self.resolver.is_expression(text)
            and not places.is_of_shell(key, text)
        }
        for key in self.start_check.refused if self.start_check else ():
            found.pop(key, None)  # a problem of the start already
        problems: list[str] = []
        early = {key: advice for key in found if (advice := places.advice(key)) is not None}
        usable = {key: e for key, e in found.items() if key not in early}
        problems += [f"{early[key]}." for key in sorted(early) if self._is_ours(found[key].text)]
        try:
            self.keeper.resolve({**(in_use or {}), **{conf_id(key, e.text): e for key, e in usable.items()}})
        except UnresolvedReferenceError as error:
            problems += error.problems
        held = self.keeper.snapshot.entries
        return {key: e for key, e in usable.items() if conf_id(key, e.text) in held}, problems

    def in_place(self, keys: Mapping[str, Expression]) -> list[str]:
        """Return those of ``keys`` whose value goes into the conf itself (``spark.config.inplace.keys``)."""
        patterns = self.settings.inplace_keys
        return sorted(k for k in keys if any(fnmatch.fnmatchcase(k, pattern) for pattern in patterns))

    def refresh(self) -> Snapshot:
        """Ask all stores now and publish what changed (KIP-421's second step).

        With the manual trigger nothing is published, or used, unless every reference in use has a value.

        Raises:
            UnresolvedReferenceError: manual trigger only: what has no value.
        """
        kept: dict[str, dict[str, Kept]] = {}

        def prepare() -> None:
            for name, cache in self.caches.items():
                kept[name] = cache.keep()
                cache.expire()

        def undo() -> None:
            for name, cache in self.caches.items():
                cache.restore(kept[name])

        return self.keeper.refresh(strict=self._manual, prepare=prepare, undo=undo)

    def renew(self, ids: Collection[str]) -> tuple[Snapshot, float]:
        """Ask the stores again for expressions whose values were refused where they were used.

        Each (provider, path) is read as often as :meth:`.CachingProvider.renew` lets it, and however many ask at the
        same time, once.

        Args:
            ids: of expressions in use; others have nothing to renew.

        Returns:
            The newest generation, and the milliseconds after which asking again reads what was left out; 0: nothing
            was.
        """
        asked_at = time.monotonic() * 1000
        waits = [0.0]

        def prepare() -> None:
            uses = self.keeper.uses()
            places = {place for id_ in ids if id_ in uses for place in uses[id_].places}
            waits.extend(
                self.caches[name].renew(path, asked_at) for name, path in places if name in self.caches
            )

        if self._manual:
            return self.keeper.snapshot, 0.0
        return self.keeper.refresh(prepare=prepare), max(waits)

    def check_asked(self, wanted: Mapping[str, Expression]) -> None:
        """Check what an executor asks for: what the driver has used, or ``spark.config.worker.references`` names.

        Whoever holds the cluster's RPC secret could be an executor, and must not have the whole store.

        Raises:
            UnresolvedReferenceError: names what it may not ask for; no store was asked.
        """
        # Imported here: an application whose executors ask for nothing new needs no policies.
        from sparkconfig.policy.rules.references import SUBSTITUTION, uses_in

        known = self.keeper.uses()
        problems: dict[str, None] = {}
        for id_, expression in wanted.items():
            if id_ in known:
                continue
            beside = kafka_options.of_map(expression.siblings)
            uses = uses_in(
                {"": expression.text, **beside},
                self.settings.foreign_providers,
                substitution=self.settings.substitution_enabled,
            )
            for use in uses:
                name = name_of(use.provider, use.path, use.key)
                shown = "a substitution $[...]" if use.provider == SUBSTITUTION else f"${{{shorten(name)}}}"
                if f"${{{name}}}" not in self._used and self._for_workers.fullmatch(name) is None:
                    problems[
                        f"{shown}: executors may ask for what the driver has used, and for what"
                        f" {PREFIX}worker.references names; use it on the driver first, or name it there"
                    ] = None
        if problems:
            raise UnresolvedReferenceError(tuple(problems))

    def announce(self, application_id: str) -> None:
        """Listen for ``sparkconfig refresh``. Without it the application is only not to be refreshed by hand."""
        if self.records is not None:
            self.records.set_application_id(application_id)
        calls: dict[str, Callable[[], dict[str, Any]]] = {
            "refresh": self._refreshed,
            "status": lambda: {"status": status_of(self)},
        }
        try:
            self._control = ControlServer(application_id, calls)
        except SparkConfigError as error:
            _log.warning("'sparkconfig refresh' cannot reach this application: %s", error)

    def _refreshed(self) -> dict[str, Any]:
        before = self.keeper.snapshot
        after = self.refresh()
        changed = {
            reference
            for id_, use in self.keeper.uses().items()
            if before.entries.get(id_) != after.entries.get(id_)
            for reference in use.references
        }
        return {
            "before": before.generation,
            "generation": after.generation,
            "changed": sorted(changed),
        }

    def close(self) -> None:
        """Stop the rotation and close the providers."""
        if self._control is not None:
            self._control.close()
        self.keeper.close()
        if self.policies is not None:
            self.policies.close()
        self.resolver.close()

    def _cached(self, name: str, provider: ConfigProvider) -> ConfigProvider:
        cache = CachingProvider(
            provider,
            name,
            poll_ms=self._timing.poll_interval,
            stale_expiry_ms=self._timing.stale_expiry,
            # Less than the resolver's own deadline, so that the cache has the time to serve last good values.
            timeout_ms=max(1, self._timing.provider_timeout * 9 // 10),
            frozen=self._manual,
            wake=self._wake,
        )
        self.caches[name] = cache
        return cache

    def _wake(self) -> None:
        """A provider pushed; during the start nobody waits for that yet."""
        keeper: SnapshotKeeper | None = getattr(self, "keeper", None)
        if keeper is not None:
            keeper.wake()

    def _records(self) -> RotationRecords | None:
        """The audit of rotations, if the operator, or the job that owns its configuration, asked for one."""
        if self.policies is None or not self.policies.engine.audit.enabled:
            return None
        from sparkconfig.agent.records import RotationRecords

        return RotationRecords(
            self.policies.engine.audit,
            self.policies.who,
            lambda: {name: cache.states() for name, cache in self.caches.items()},
        )

    def _next_due_ms(self) -> float | None:
        due = [ms for cache in self.caches.values() if (ms := cache.next_due_ms()) is not None]
        return min(due, default=None)

    def _is_ours(self, text: str) -> bool:
        """Whether the text holds something that sparkconfig, not Spark or Hadoop, would resolve."""
        foreign = self.settings.foreign_providers
        return "$[" in text or any(reference.provider not in foreign for reference in scan(text))


def _has_policies(confs: _Confs) -> bool:
    """Whether there are policies to load: without an operator's file only if the job's own confs ask for it."""
    return confs.operator or any(key.startswith(_POLICY_ROOTS) for key in confs.own)


def _timing(own: Mapping[str, str]) -> Settings:
    """The settings, or the defaults if they are wrong: the resolver reports that, with the providers' problems."""
    try:
        return parse(own)
    except ConfigurationError:
        return Settings()


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

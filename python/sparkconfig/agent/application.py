"""What the side process does with an application's confs at its start: check everything, report together."""

from __future__ import annotations

import fnmatch
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparkconfig._base.record import Record
from sparkconfig.agent.control import ControlServer
from sparkconfig.agent.generations import GenerationHistory
from sparkconfig.agent.status import status_of
from sparkconfig.errors import SparkConfigError, UnresolvedReferenceError
from sparkconfig.language import kafka as kafka_options
from sparkconfig.language.expression import Expression
from sparkconfig.language.references import scan
from sparkconfig.resolution.cache_entry import Kept
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings import shipped
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.conf_warnings import near_misses
from sparkconfig.settings.schema import PREFIX

if TYPE_CHECKING:
    from sparkconfig.agent.caches import Caches
    from sparkconfig.agent.executor_access import ExecutorAccess
    from sparkconfig.agent.policies import Policies, StartCheck
    from sparkconfig.agent.records import RotationRecords

__all__ = ["Application", "conf_id"]

_log = logging.getLogger(__name__)


def conf_id(key: str, text: str) -> str:
    """Identify a conf's expression. KIP-269 texts may name other confs, so their place is part of them.

    The shim forms the same text in ``Expression.ofConf``.
    """
    return f"{text}\0conf:{key}" if "$[" in text else text


class Parts(Record):
    """What an application is made of.

    Attributes:
        confs: all its confs, with what the operator puts in place.
        own: those that configure sparkconfig: the operator's, else the job's.
        resolver: with its providers and settings.
        caches: in front of the providers.
        keeper: publishes generations.
        history: of the last generations.
        executors: what they may ask for.
        job_type: what kind of job this is.
        policies: None: there are none.
        start_check: what the policies said of the confs; None without policies.
        records: the audit of rotations, if there is one.
    """

    confs: Mapping[str, str]
    own: Mapping[str, str]
    resolver: Resolver
    caches: Caches
    keeper: SnapshotKeeper
    history: GenerationHistory
    executors: ExecutorAccess
    job_type: str
    policies: Policies | None = None
    start_check: StartCheck | None = None
    records: RotationRecords | None = None


AskJvm = Callable[[str, Mapping[str, Any], float], Mapping[str, Any]]
_JVM_SECONDS = 10.0


class Application:
    """The brain of one Spark application: providers, the expressions in use and their snapshot.

    Args:
        parts: what :func:`sparkconfig.agent.factory.make_application` made of the confs.
    """

    def __init__(self, parts: Parts) -> None:
        self._confs = parts.confs
        self._own = parts.own
        self._manual = parts.resolver.settings.reload_trigger == "manual"
        self.caches = parts.caches.by_name
        self.resolver = parts.resolver
        self.settings = parts.resolver.settings
        self.job_type = parts.job_type
        self.worker_access = parts.job_type in self.settings.worker_job_types
        self.policies = parts.policies
        self.start_check = parts.start_check
        self.records = parts.records
        self.history = parts.history
        self._executors = parts.executors
        self.keeper = parts.keeper
        self.dropped: list[str] = []
        self._control: ControlServer | None = None

    def resolve_confs(
        self,
        in_use: Mapping[str, Expression] | None = None,
        left: Collection[str] = (),
        *,
        wait: bool = True,
    ) -> tuple[dict[str, Expression], list[str]]:
        """Resolve every reference in the confs, and what else was in use before a restart, in one round.

        One round, since each round publishes: a generation without the rest would take values away.

        Args:
            in_use: id to expression; what fails of these fails again at its next use.
            left: confs of an application that was stopped in the same JVM: what of them has no value is ``dropped``.
            wait: whether to wait for stores, as at an application's start; otherwise what was held serves until
                they answer.

        Returns:
            The confs that hold references, by key, and every problem that was found.
        """
        siblings = MappingProxyType(dict(self._confs))  # one for all: it is not copied
        places = ConfPlaces.of(self.settings, self._confs)
        found = {
            key: Expression(text, key=key, siblings=siblings if "$[" in text else {})
            for key, text in self._confs.items()
            if not key.startswith(PREFIX)
            and self.resolver.is_expression(text)
            and not places.is_of_shell(key, text)
        }
        for key in self.start_check.refused if self.start_check else ():
            found.pop(key, None)  # a problem of the start already
        problems: list[str] = []
        early = {key: advice for key in found if (advice := places.advice(key)) is not None}
        usable = {key: e for key, e in found.items() if key not in early}
        if not self.settings.rpc_insecure:
            found_in = shipped.problems({**self._confs, **self._own})
            problems += [f"{key}: {why}; {shipped.REMEDY}" for key, why in found_in]
        for key in sorted(usable.keys() & set(left)):
            self._drop_without_value(key, usable)
        problems += [f"{early[key]}." for key in sorted(early) if self._is_ours(found[key].text)]
        try:
            self.keeper.resolve(
                {**(in_use or {}), **{conf_id(key, e.text): e for key, e in usable.items()}}, wait=wait
            )
        except UnresolvedReferenceError as error:
            problems += error.problems
        held = self.keeper.snapshot.entries
        return {key: e for key, e in usable.items() if conf_id(key, e.text) in held}, problems

    def _drop_without_value(self, key: str, usable: dict[str, Expression]) -> None:
        try:
            self.keeper.resolve({conf_id(key, usable[key].text): usable[key]})
        except UnresolvedReferenceError as error:
            del usable[key]
            self.dropped.append(key)
            _log.warning(
                "%s is left from an application that was stopped in this process, and is dropped since it has no value:"
                " %s",
                key,
                "; ".join(error.problems),
            )

    def problem(self, key: str, text: str) -> str | None:
        """Why a connector would use the text of a conf that a session sets; None: it would not."""
        places = ConfPlaces.of(self.settings, self._confs)
        return places.of_connector(key) if self._is_ours(text) else None

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

    def read_now(self, ids: Collection[str]) -> Snapshot:
        """Ask the stores of expressions in use, whether they are due or not; not with the manual trigger."""

        def prepare() -> None:
            uses = self.keeper.uses()
            for name, path in {place for id_ in ids if id_ in uses for place in uses[id_].places}:
                if name in self.caches:
                    self.caches[name].expire(path)

        return self.keeper.snapshot if self._manual else self.keeper.refresh(ids=ids, prepare=prepare)

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
        return self.keeper.refresh(ids=ids, prepare=prepare), max(waits)

    def refuse_near_misses(self, wanted: Iterable[Expression]) -> None:
        """Refuse texts in which something looks like a reference and is none: they are about to be used as values.

        Raises:
            UnresolvedReferenceError: says what to write.
        """
        if self.settings.unresolved == "keep":
            return
        problems: list[str] = []
        for each in wanted:
            providers = self.resolver.providers.keys() - kafka_options.declared(each.siblings).keys()
            problems += near_misses(each.text, providers)
        if problems:
            raise UnresolvedReferenceError(problems)

    def check_executor(self, wanted: Mapping[str, Expression]) -> None:
        """Check what an executor asks for; no store is asked.

        Raises:
            UnresolvedReferenceError: names what it may not ask for.
        """
        self._executors.check(wanted, self.keeper.uses())

    def announce(self, application_id: str, ask_jvm: AskJvm) -> None:
        """Listen for ``sparkconfig refresh``. Without it the application is only not to be refreshed by hand.

        Args:
            application_id: under which the command finds it.
            ask_jvm: asks the driver's JVM: name, request and seconds to an answer.
        """
        if self.records is not None:
            self.records.set_application_id(application_id)
        calls: dict[str, Callable[[], dict[str, Any]]] = {
            "refresh": self._refreshed,
            "status": lambda: {"status": status_of(self)},
            "executors": lambda: dict(ask_jvm("executors", {}, _JVM_SECONDS)),
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

    def _is_ours(self, text: str) -> bool:
        """Whether the text holds something that sparkconfig, not Spark or Hadoop, would resolve."""
        foreign = self.settings.foreign_providers
        return "$[" in text or any(reference.provider not in foreign for reference in scan(text))

"""The one entry of policies: what is asked at every door, at the start, and by ``sparkconfig validate``."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from sparkconfig._base.text import shorten
from sparkconfig.policy.audit import Audit, Record, records
from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.decisions import merged
from sparkconfig.policy.evaluation import Decision, Evaluator, Explained
from sparkconfig.policy.jobtype import SHARED
from sparkconfig.policy.keys.keys import canonical
from sparkconfig.policy.keys.overrides import Overrides
from sparkconfig.policy.loader import Parts, load_parts
from sparkconfig.policy.request import (
    SOMEWHERE,
    OverrideRequest,
    PolicyViolation,
    ReferenceUse,
    StatementItem,
)
from sparkconfig.policy.tables import CreateTablePolicy, CreateTableRequest
from sparkconfig.settings.connections import FAMILY as CONNECTIONS
from sparkconfig.settings.connections import OPTION as CONNECTION
from sparkconfig.settings.operator_file import OperatorFile
from sparkconfig.settings.schema import PREFIX, Parsed, Settings
from sparkconfig.settings.scopes import DOOR_SCOPES, OPTION_SCOPES

__all__ = ["PolicyEngine", "Resolve"]

Resolve = Callable[[Mapping[str, str]], Mapping[str, object]]
"""Returns the values that take effect for texts with references: name to text or Secret."""

_log = logging.getLogger(__name__)
_RECENT = 100


class PolicyEngine:
    """Decides what jobs may set, by the policies of one configuration. Safe for use by several threads.

    Args:
        policies: job type to its policy.
        settings: mode, job type and what else concerns policies.
        overrides: tells overrides from free properties.
        table_policy: checks new tables; None: every table is allowed.
        audit: where decisions are recorded.
        resolve: returns effective values for texts that hold references; None: such texts cannot be evaluated.

    Attributes:
        audit: where decisions are recorded.
        recent: the records of the last decisions, for people who look at the running application.
    """

    def __init__(
        self,
        policies: Mapping[str, OverridePolicy],
        settings: Settings,
        overrides: Overrides,
        *,
        table_policy: CreateTablePolicy | None = None,
        audit: Audit | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._policies = dict(policies)
        self._settings = settings
        self._table_policy = table_policy
        self.audit = audit or Audit()
        self.recent: deque[Record] = deque(maxlen=_RECENT)
        self._evaluator = Evaluator(overrides, settings, resolve)
        self._put_in_place: frozenset[str] = frozenset()
        self._connections = settings.connections
        self._connected = frozenset(
            text for each in self._connections.values() for text in each.options.values()
        )
        self._counts: Counter[str] = Counter()
        self._counting = threading.Lock()

    @classmethod
    def from_operator(
        cls,
        confs: Mapping[str, str],
        operator_file: OperatorFile | None = None,
        *,
        resolve: Resolve | None = None,
        parsed: Parsed | None = None,
    ) -> PolicyEngine:
        """Make the engine that the operator's file describes, or the job's own confs if there is none.

        With an operator's file, policies come from it alone and the default policy is ``None``; without one the
        job owns its configuration, and the default is ``All``. ``parsed`` are their settings, if they were read before.

        Raises:
            ConfigurationError: everything that is wrong; a policy that cannot be loaded stops the start.
        """
        owned = operator_file is not None
        given = dict(confs) if operator_file is None else operator_file.confs
        own = {key: text for key, text in given.items() if key.startswith(PREFIX)}
        # A connection's references are for the connection alone: anything else there is not the operator's text.
        operators = {key: text for key, text in given.items() if not key.startswith(PREFIX + CONNECTIONS)}
        parts = load_parts(given if owned else own, "None" if owned else "All", parsed)
        return cls(
            parts.policies,
            parts.settings,
            Overrides(operators if owned else {}, owned=owned),
            table_policy=parts.table_policy,
            audit=parts.audit,
            resolve=resolve,
        )

    @property
    def enforcing(self) -> bool:
        """Whether a violation is an error (else it is logged and recorded)."""
        return self._settings.override_mode == "enforce"

    @property
    def counts(self) -> Mapping[str, int]:
        """How many violations there were: ``denied``, and ``warned`` in mode warn."""
        with self._counting:
            return {"denied": self._counts["denied"], "warned": self._counts["warned"]}

    @property
    def evaluates_tables(self) -> bool:
        """Whether there is a policy for new tables."""
        return self._table_policy is not None

    def job_type(self, detected: str) -> str:
        """The job type that counts: the operator's word, else what was detected."""
        return self._settings.job_type or detected

    def policy(self, job_type: str) -> OverridePolicy:
        """The policy of jobs of this type."""
        return self._policies[job_type]

    def worker_access(self, job_type: str) -> bool:
        """Whether Python workers of such jobs may ask for values.

        Off on servers that several users share, unless the operator lists the type in
        ``spark.config.worker.job.types``.
        """
        return job_type in self._settings.worker_job_types

    def check(self, request: OverrideRequest, *, streaming: bool = False, record: bool = True) -> Decision:
        """Evaluate what a job wants to set.

        Args:
            request: who, where and what. Its job type is what was detected; the operator's word replaces it.
            streaming: whether it is about a streaming query inside the application. Such a query is evaluated as a
                streaming job; on shared servers by the server's own policy, too.
            record: whether the audit gets to know.
        """
        if not (request.props or request.references or request.complete or request.scope == "worker"):
            return Decision()  # nothing was changed
        job_type = self.job_type(request.job_type)
        job_types = [job_type]
        if streaming and job_type != "streaming":
            job_types = [job_type, "streaming"] if job_type in SHARED else ["streaming"]
        decisions = [
            self._check(request if request.job_type == kind else request._replace(job_type=kind))
            for kind in job_types
        ]
        decision = decisions[0] if len(decisions) == 1 else merged(decisions)
        return self._finish(decision, request, job_types[-1], record=record)

    def check_use(
        self, request: OverrideRequest, texts: Sequence[Mapping[str, str]], *, point_of_use: bool = False
    ) -> Decision:
        """Evaluate references whose values are wanted by themselves: by name, or at a point of use.

        Args:
            request: who asks, and in which scope: ``application`` is the driver's own code, ``worker`` a Python
                worker. Its properties and references do not count.
            texts: each a map that holds a text under ``""``, and what else of its map decides whose references
                they are.
            point_of_use: whether this is a point of use, such as a connection, behind doors that decide in their own
                scopes and record. Then what any door would let pass may be used, and what the operator wrote.
        """
        uses: list[ReferenceUse] = []
        for text in texts:
            found = [use for use in self._evaluator.uses(text) if not use.where]
            if point_of_use and (text[""] in self._connected or self._is_operators(text[""])):
                continue  # its use is not known here; check_connection knows it
            somewhere = [use._replace(where=SOMEWHERE) for use in found]
            if not point_of_use or self._refused_everywhere(request, somewhere):
                uses += found
        if not uses:
            return Decision()
        return self.check(request.with_props({}, dict.fromkeys(uses)))

    def check_connection(
        self, request: OverrideRequest, options: Mapping[str, str], judged: Sequence[str] = ()
    ) -> Decision:
        """Evaluate a connection that is about to be made, wherever its options came from.

        Args:
            request: who asks, with the options as its ``target``.
            options: what the connection gets, references unresolved.
            judged: the options about which the rules for sources decide, since no door may have seen them.
        """
        name = next((text for key, text in options.items() if key.lower() == CONNECTION), None)
        job_type = self.job_type(request.job_type)
        if name is not None:
            problem = self._differs(name, options) or self._unusable(request, name)
            found = Decision(violations=(problem,) if problem else (), head=_head(job_type))
            return self._finish(found, request, job_type)
        # The operator's endpoint is where its own credentials go; anybody else's could be anywhere.
        target = {
            option: text
            for option, text in options.items()
            if not option.startswith("fs.")
            or not self._evaluator.overrides.is_default(canonical(option, "hadoop"), text)
        }
        request = request._replace(target=target)
        held = [(text, use) for name, text in options.items() for use in self._evaluator.uses({name: text})]
        uses = [use for text, use in held if not self._is_operators(text)]
        if not self._refused_everywhere(request, uses):
            uses = []
        uses += [use for text, use in held if self._is_operators(text) and self._goes_elsewhere(request, use)]
        if uses:
            return self.check(request.with_props({}, dict.fromkeys(uses)))
        if judged:
            props = {option: options[option] for option in judged}
            # As a source or as a sink: the same connection serves both.
            tried = [
                self.check(request._replace(scope=scope, props=props), record=False)
                for scope in OPTION_SCOPES
            ]
            if not any(found.allowed and not found.warned for found in tried):
                return self._finish(tried[0], request, job_type)
        own = not judged and all(self._is_operators(text) for text, _ in held)
        return Decision(everyones=own and not self._policies[job_type].depends_on_users())

    def evaluates_statements(self, job_type: str) -> bool:
        """Whether there are rules about the statements of such jobs."""
        return self._policies[job_type].evaluates_statements(job_type)

    def limits(self, job_type: str) -> Mapping[str, tuple[str, ...] | None]:
        """What users of a server that they share see of it: patterns of ``paths`` and ``confs``; None: no limit."""
        policy = self._policies[job_type]
        limited = job_type in SHARED and self.enforcing
        return {
            "paths": policy.paths(job_type) if limited else None,
            "confs": policy.confs(job_type) if limited else None,
        }

    def check_statement(
        self, request: OverrideRequest, items: Sequence[StatementItem], *, record: bool = True
    ) -> Decision:
        """Evaluate a statement before it is analysed.

        Args:
            request: who sends it. Its properties and references do not count.
            items: its kind, and the functions, paths and data sources that it names.
            record: whether the audit gets to know.
        """
        job_type = self.job_type(request.job_type)
        request = request._replace(job_type=job_type)
        decision = self._evaluator.evaluate_statement(
            self._policies[job_type], request, items, _head(job_type)
        )
        return self._finish(decision, request, job_type, record=record)

    def authenticates(self, front: str) -> bool:
        """Whether users whom ``front`` names are who they say they are: ``thrift``, ``connect`` or ``os``."""
        return front in ("thrift", "os") or (front == "connect" and self._settings.connect_user_trusted)

    def _differs(self, name: str, options: Mapping[str, str]) -> str:
        """Why these are not the options of the named connection, and what users may set beside it; ``""``: they are."""
        connection = self._connections.get(name)
        if connection is None:
            return f"the connection '{shorten(name, 64)}' does not exist"
        for option, text in options.items():
            own = connection.text(option)
            if own is None:
                if option.lower() in (CONNECTION, "driver") or connection.lets_users_set(option):
                    continue
                return f"the option '{shorten(option)}' may not stand beside the connection '{name}'"
            if text not in (own, self._evaluator.value_of(option, own)):
                return f"the option '{shorten(option)}' differs from what the connection '{name}' sets"
        return ""

    def _unusable(self, request: OverrideRequest, name: str) -> str:
        """Why this user may neither read nor write through the connection; ``""``: he may."""
        tried = [
            self.check_statement(request, [StatementItem("connection", name, access)], record=False)
            for access in ("read", "write")
        ]
        return "" if any(found.allowed for found in tried) else tried[0].violations[0]

    def _is_operators(self, text: str) -> bool:
        return text in self._put_in_place or self._evaluator.overrides.holds_text(text)

    def put_in_place(self, texts: Iterable[str]) -> None:
        """Note texts that the policy itself has set: they may be used as if the operator's file held them."""
        self._put_in_place |= frozenset(texts)

    def _refused_everywhere(self, request: OverrideRequest, uses: Sequence[ReferenceUse]) -> bool:
        """Whether no door would let all of them pass."""
        tried = (
            self.check(
                request._replace(scope=scope, props={}, references=tuple(uses)),
                streaming=streaming,
                record=False,
            )
            for streaming, scope in itertools.product((False, True), DOOR_SCOPES)
        )
        return bool(uses) and not any(found.allowed and not found.warned for found in tried)

    def _goes_elsewhere(self, request: OverrideRequest, use: ReferenceUse) -> bool:
        """Whether a rule binds what the operator set, and the user has chosen another place: a bucket of his."""
        job_type = self.job_type(request.job_type)
        return self._policies[job_type].goes_elsewhere(request._replace(job_type=job_type), use)

    def _check(self, request: OverrideRequest) -> Decision:
        if request.scope == "worker" and not self.worker_access(request.job_type):
            text = (
                f"Python workers of {request.job_type} jobs may not ask for values: their server is shared; the"
                " operator can allow it in spark.config.worker.job.types"
            )
            uses = tuple(
                Explained(str(use), "", "denied", "worker access is off", "") for use in request.references
            )
            return Decision(violations=(text,), explanation=uses, head=_head(request.job_type))
        return self._evaluator.evaluate(self._policies[request.job_type], request, _head(request.job_type))

    def _finish(
        self, decision: Decision, request: OverrideRequest, job_type: str, *, record: bool = True
    ) -> Decision:
        enforced = self.enforcing
        if not enforced and decision.violations:
            decision = replace(decision, violations=(), warned=decision.violations)
        if record:
            with self._counting:
                self._counts["denied"] += len(decision.violations)
                self._counts["warned"] += len(decision.warned)
        if decision.warned and record:
            _log.warning(
                "%d policy violations (mode warn): %s", len(decision.warned), "; ".join(decision.warned[:20])
            )
        if record:
            written = tuple(records(decision, request, job_type, enforced=enforced))
            self.recent.extend(written)
            if self.audit.enabled:
                self.audit.write(written)
                decision = replace(decision, records=written)
        return decision

    def check_table(self, request: CreateTableRequest) -> Decision:
        """Evaluate a table before it is created (KIP-108); the job type is taken as it is given."""
        if self._table_policy is None:
            return Decision()
        problems: tuple[str, ...] = ()
        try:
            self._table_policy.validate(request)
        except PolicyViolation as error:
            problems = (str(error),)
        except Exception as error:  # noqa: BLE001 - third-party code; its text may hold options
            problems = (
                f"the table {shorten(request.name)} may not be created: the policy failed with {type(error).__name__}",
            )
        explained = Explained(
            request.name,
            "",
            "denied" if problems else "allowed",
            problems[0] if problems else "",
            "create.table.policy",
        )
        decision = Decision(violations=problems, explanation=(explained,))
        as_override = OverrideRequest(request.name, request.job_type, scope="catalog")
        return self._finish(decision, as_override, request.job_type)

    def close(self) -> None:
        """Close the policies and the audit file."""
        Parts(self._settings, self._policies, self._table_policy, self.audit).close()


def _head(job_type: str) -> str:
    article = "an" if job_type[0] in "aeiou" else "a"
    return f"the operator's policy does not allow this for {article} {job_type} job"

"""The policies of one running application: the check at its start, and the questions of the doors after it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparkconfig._base.os_user import os_user
from sparkconfig._base.text import shorten
from sparkconfig.agent.policy_calls import answer
from sparkconfig.policy.jobtype import SHARED, Launch
from sparkconfig.policy.keys.keys import canonical, fold
from sparkconfig.policy.keys.overrides import is_internal
from sparkconfig.policy.request import OverrideRequest
from sparkconfig.settings.early import is_read_early
from sparkconfig.settings.schema import Parsed

if TYPE_CHECKING:
    from sparkconfig.policy.engine import PolicyEngine, Resolve
    from sparkconfig.settings.operator_file import OperatorFile

__all__ = ["Policies", "StartCheck"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StartCheck:
    """What the check of an application's confs gave.

    Attributes:
        problems: violations, and defaults that come too late.
        defaults: texts that are put in place, since the job sets none.
        audit: records for the log4j logger that the operator named.
        refused: confs that hold a reference which the job may not use; no store is asked for them.
    """

    problems: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict, repr=False)
    audit: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()


_SHELL = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"


class Policies:
    """The policy engine, and who is asking.

    Args:
        engine: makes the decisions.
        launch: what was started.
        confs: the application's confs, as they stand there.
        operator: the operator's file, if there is one.
    """

    def __init__(
        self,
        engine: PolicyEngine,
        launch: Launch,
        confs: Mapping[str, str],
        operator: OperatorFile | None,
    ) -> None:
        self.engine = engine
        self._confs = confs
        self._launch = launch
        self._operator = operator
        self._name = confs.get("spark.app.name", "")
        self.job_type = engine.job_type(launch.detect(confs))
        self._owner = "" if self.job_type in SHARED else os_user()

    @classmethod
    def load(
        cls,
        confs: Mapping[str, str],
        operator: OperatorFile | None,
        resolve: Resolve,
        launch: Launch,
        parsed: Parsed | None = None,
    ) -> Policies:
        """Load the policies.

        Raises:
            ConfigurationError: everything that is wrong with them.
        """
        from sparkconfig.policy.engine import PolicyEngine

        engine = PolicyEngine.from_operator(confs, operator, resolve=resolve, parsed=parsed)
        return cls(engine, launch, confs, operator)

    @property
    def evaluates_statements(self) -> bool:
        """Whether there are rules about statements of this application."""
        return self.engine.evaluates_statements(self.job_type)

    @property
    def limits(self) -> Mapping[str, tuple[str, ...] | None]:
        """What this application's users see of machine and confs, if it is shared; who starts a shell has both."""
        return {} if self._launch.main_class == _SHELL else self.engine.limits(self.job_type)

    @property
    def who(self) -> dict[str, str]:
        """What records say of the application."""
        return {
            "job_name": shorten(self._name),
            "job_type": self.job_type,
            "application": shorten(self._launch.application),
        }

    def start(self, *, record: bool = True) -> StartCheck:
        """Evaluate the application's confs, and say what has to be put in place; ``record``: for the audit, too."""
        decision = self.engine.check(
            OverrideRequest(
                self._name,
                self.job_type,
                self._launch.application,
                "application",
                dict(self._confs),
                complete=True,
                user=self._owner,
                authenticated=bool(self._owner),
            ),
            record=record,
        )
        self.engine.put_in_place(decision.defaults.values())
        given = {fold(canonical(key)) for key in self._confs}
        problems = [f"{text} (policy of {self.job_type} jobs)" for text in decision.violations]
        defaults: dict[str, str] = {}
        for key, text in decision.defaults.items():
            if not is_read_early(key):
                defaults[key] = text
            elif self.engine.enforcing:
                problems.append(
                    f"{key}: the policy sets this conf, but Spark has read it already; set it in the"
                    " cluster's spark-defaults.conf, or with the job"
                )
        late: list[str] = []
        for key, text in (self._operator.defaults if self._operator else {}).items():
            folded = fold(canonical(key))
            if folded in given or is_internal(folded):
                continue
            if is_read_early(key):
                late.append(key)
            else:
                defaults.setdefault(key, text)
        if late:
            _log.warning(
                "the operator's file sets confs that Spark reads before plugins start, and this job does not set them:"
                " put them into the cluster's spark-defaults.conf, too: %s",
                ", ".join(sorted(late)),
            )
        audit = tuple(json.dumps(record) for record in decision.records) if self.engine.audit.logger else ()
        refused = decision.refused if self.engine.enforcing else frozenset[str]()
        return StartCheck(tuple(problems), defaults, audit, refused)

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question of a door (:mod:`sparkconfig.agent.policy_calls`); who asks is filled in here."""
        known = {"job_name": self._name, "job_type": self.job_type, "application": self._launch.application}
        # What Connect and Thrift know of their users comes with the question.
        owner = {"user": self._owner, "front": "os"} if self._owner else {}
        return answer(self.engine, {**owner, **question, **known})

    def status(self) -> dict[str, Any]:
        """The mode, how many violations there were since the side process started, and whether users share this."""
        mode = "enforce" if self.engine.enforcing else "warn"
        failures = self.engine.audit.failures
        shared = self.job_type in SHARED
        return {"mode": mode, "shared": shared, "audit_failures": failures, **self.engine.counts}

    def close(self) -> None:
        """Close the policies and the audit file."""
        self.engine.close()

"""What configuration gives a policy engine, loaded so that all problems are reported at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.audit import Audit
from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.jobtype import parse_map
from sparkconfig.policy.loader import close_quietly, load_policies, load_table_policy
from sparkconfig.policy.request import JOB_TYPES
from sparkconfig.policy.tables import CreateTablePolicy
from sparkconfig.references import shorten
from sparkconfig.settings import PREFIX, Settings, parse

__all__ = ["Parts", "load_parts"]


@dataclass
class Parts:
    """The settings, the policy of each job type, the policy of new tables and the audit."""

    settings: Settings = field(default_factory=Settings)
    policies: dict[str, OverridePolicy] = field(default_factory=dict)
    table_policy: CreateTablePolicy | None = None
    audit: Audit | None = None

    def close(self) -> None:
        """Close every part."""
        policies: list[OverridePolicy | CreateTablePolicy] = list(dict.fromkeys(self.policies.values()))
        for policy in policies if self.table_policy is None else [*policies, self.table_policy]:
            close_quietly(policy)
        if self.audit is not None:
            self.audit.close()


def load_parts(confs: Mapping[str, str], default: str) -> Parts:
    """Load every part.

    Args:
        confs: ``spark.config.*`` and, from an operator, the defaults that policies get to see.
        default: the policy of job types for which none is named.

    Raises:
        ConfigurationError: the problems of all parts; what was loaded is closed.
    """
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    parts = Parts()
    problems: list[str] = []

    def load_settings() -> None:
        parts.settings = parse(own)
        parse_map(parts.settings.job_type_map)
        unknown = [kind for kind in parts.settings.worker_job_types if kind not in JOB_TYPES]
        if unknown:
            raise ConfigurationError(
                f"{PREFIX}worker.job.types: '{shorten(unknown[0], 40)}' is no job type; use {', '.join(JOB_TYPES)}"
            )

    def load_audit() -> None:
        parts.audit = Audit.from_confs(own)

    def load_override_policies() -> None:
        parts.policies = load_policies(confs, default)

    def load_create_table_policy() -> None:
        parts.table_policy = load_table_policy(confs)

    for step in (load_settings, load_audit, load_override_policies, load_create_table_policy):
        try:
            step()
        except ConfigurationError as error:
            problems += error.problems
    if problems:
        parts.close()
        raise ConfigurationError.of(list(dict.fromkeys(problems)))
    return parts

"""Creating tables under a policy (KIP-108, ``CreateTopicPolicy``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.request import JOB_TYPES

__all__ = ["CreateTablePolicy", "CreateTableRequest"]


@dataclass(frozen=True)
class CreateTableRequest:
    """A table that a job wants to create. Read-only; the constructor is public for tests.

    Attributes:
        name: the table's name with catalog and database, as the statement has it.
        job_type: the kind of job.
        statement: ``create``, ``ctas``, ``replace`` or ``saveAsTable``.
        provider: format, such as ``parquet`` or ``delta``; None: Spark's default.
        columns: column name to type; empty if the query decides.
        partitioning: columns or transforms, such as ``days(ts)``.
        buckets: number of buckets; None: no bucketing.
        location: path of an external table; None: a managed one.
        options: the OPTIONS; values may hold references.
        properties: the TBLPROPERTIES.
        comment: the table's comment.
    """

    name: str
    job_type: str = "batch"
    statement: str = "create"
    provider: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    partitioning: tuple[str, ...] = ()
    buckets: int | None = None
    location: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    properties: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    comment: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.job_type not in JOB_TYPES:
            raise ConfigurationError(
                f"'{shorten(str(self.job_type), 40)}' is not a job type; use one of {', '.join(JOB_TYPES)}"
            )
        for name in ("columns", "options", "properties"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        object.__setattr__(self, "partitioning", tuple(self.partitioning))


class CreateTablePolicy(ABC):
    """Sees each CREATE TABLE, CTAS and saveAsTable before it runs.

    Life cycle as :class:`~sparkconfig.policy.base.OverridePolicy`. Other statements go on.

    Attributes:
        policy_name: what it is called; the alias of one that ships with sparkconfig.
    """

    policy_name: str = ""

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Take the params (``spark.config.create.table.policy.param.*``) and the operator's defaults."""

    @abstractmethod
    def validate(self, request: CreateTableRequest) -> None:
        """Return if the table may be created.

        Raises:
            PolicyViolation: it may not; the text is shown to the user and holds no values of options.
        """

    def close(self) -> None:  # noqa: B027 - optional
        """Release what the policy holds. Called once, also after a failed configure."""

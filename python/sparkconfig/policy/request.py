"""What a policy is asked: an immutable request (KIP-458, ``ConnectorClientConfigRequest``)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from sparkconfig._base.late import late
from sparkconfig._base.record import Record, field
from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError, PolicyViolationError
from sparkconfig.settings.job_types import JOB_TYPES
from sparkconfig.settings.scopes import SCOPES

__all__ = [
    "JOB_TYPES",
    "SCOPES",
    "ConfigValue",
    "OverrideRequest",
    "PolicyViolation",
    "ReferenceUse",
    "StatementItem",
    "read_only",
]


# What a policy answers: one ConfigValue for each property (Kafka: ``org.apache.kafka.common.config.ConfigValue``).
_MOST = 100


class ConfigValue(Record):
    """The decision about one property.

    Attributes:
        name: the property, as the job wrote it.
        value: its value. Never shown by ``repr`` or ``str``; keep it out of messages.
        errors: why it is not allowed; empty: it is allowed.
        decided_by: what decided: a rule with its place in the policy's document, or the policy's name.
    """

    name: str
    value: object = None
    errors: tuple[str, ...] = ()
    decided_by: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        errors = (self.errors,) if isinstance(self.errors, str) else tuple(self.errors)
        object.__setattr__(self, "errors", errors)

    @property
    def allowed(self) -> bool:
        """True if the policies refused nothing."""
        return not self.errors

    def __str__(self) -> str:
        verdict = "; ".join(self.errors) if self.errors else "allowed"
        return f"{shorten(self.name)}: {verdict}"

    __repr__ = __str__


class PolicyViolation(PolicyViolationError):  # noqa: N818 - its name in KIP-108
    """Properties, references or a table are not allowed; names keys, never values.

    Attributes:
        problems: one text for each problem.
    """

    def __init__(self, problems: Iterable[str], *, head: str = "") -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        shown = list(self.problems[:_MOST])
        if len(self.problems) > _MOST:
            shown.append(f"... and {len(self.problems) - _MOST} more")
        super().__init__("\n  - ".join([head + ":", *shown]) if head else "\n".join(shown))

    @classmethod
    def of_text(cls, message: str) -> PolicyViolation:
        """The violation whose text came over a bridge."""
        head, *problems = message.split("\n  - ")
        return cls(problems, head=head.removesuffix(":")) if problems else cls([message])


SOMEWHERE = "*"
"""Where a reference stands of which only the text is known: in some option, which a door decides about."""


class ReferenceUse(NamedTuple):
    """A reference that a job wants to use.

    Attributes:
        where: the property in whose value it stands, ``""`` when it is asked for by itself, or :data:`SOMEWHERE`.
        provider: the provider's name.
        path: the path, may be empty.
        key: the key.
    """

    where: str
    provider: str
    path: str
    key: str

    def __str__(self) -> str:
        path = f"{shorten(self.path)}:" if self.path else ""
        return f"${{{shorten(self.provider, 40)}:{path}{shorten(self.key)}}}"


_USER_INFO = late(r"^([^/?#]{0,64}//[^/@]{0,300}:)[^/@]{1,300}@")


class StatementItem(NamedTuple):
    """A statement that a job wants to run, or something that a statement names.

    Attributes:
        kind: ``statement``, ``function``, ``path``, ``source`` or ``connection``.
        name: the statement's kind such as ``add-jar``, the class, the canonical path, the data source, or the named
            connection.
        detail: what the statement names, such as the jar; ``read`` or ``write`` for paths, sources and connections.
        shown: what is told of it instead of the name; ``""``: the name. Users are not told where links lead.
    """

    kind: str
    name: str
    detail: str = ""
    shown: str = ""

    def __str__(self) -> str:
        texts = (self.shown or self.name, self.detail)
        name, detail = (shorten(_USER_INFO.sub(r"\1***@", text)) for text in texts)
        if self.kind == "statement":
            return f"statement {name}" + (f" ({detail})" if detail else "")
        return f"{self.kind} {name}"


def read_only(props: Mapping[str, object]) -> Mapping[str, object]:
    """A read-only copy; what is read-only already is its own, however many questions one message makes."""
    return props if isinstance(props, MappingProxyType) else MappingProxyType(dict(props))


class OverrideRequest(Record):
    """The properties that a job wants to set, and who asks. Read-only; the constructor is public for tests.

    Attributes:
        job_name: name of the application or query.
        job_type: one of :data:`JOB_TYPES`.
        application: main class or script, ``""`` if unknown.
        scope: one of :data:`SCOPES`.
        props: name to value. Values are what takes effect, references resolved where that is possible; they
            are text, but null and other types are allowed (KIP-458: ``Map<String, Object>``).
        references: the references in use, in the values before they were resolved, or asked for by themselves.
        complete: whether ``props`` are all properties of this scope, so that required ones can be missed.
        user: who sent the statement, as the server knows it, ``""`` if unknown; for records.
        session: the session's id, ``""`` if unknown; for records.
        authenticated: whether ``user`` is authenticated; else no rule sees the user.
        formats: what the data source is called whose options these are, as written and by its short name.
        target: all options of that source, as they were written; without them ``props``.
    """

    job_name: str
    job_type: str
    application: str = ""
    scope: str = "application"
    props: Mapping[str, object] = field(default_factory=dict)
    references: tuple[ReferenceUse, ...] = ()
    complete: bool = False
    user: str = ""
    session: str = ""
    authenticated: bool = False
    formats: tuple[str, ...] = ()
    target: Mapping[str, object] = field(default_factory=dict)

    @functools.cached_property
    def texts(self) -> Mapping[str, str]:
        """Those of ``target`` that are text: the same object each time, by which a table knows them again."""
        return {name: text for name, text in self.target.items() if isinstance(text, str)}

    @property
    def principal(self) -> str:
        """The authenticated user, ``""`` if there is none."""
        return self.user if self.authenticated else ""

    def __post_init__(self) -> None:
        if self.job_type not in JOB_TYPES:
            raise ConfigurationError(
                f"'{shorten(str(self.job_type), 40)}' is not a job type; use one of {', '.join(JOB_TYPES)}"
            )
        if self.scope not in SCOPES:
            raise ConfigurationError(
                f"'{shorten(str(self.scope), 40)}' is not a scope; use one of {', '.join(SCOPES)}"
            )
        for name in self.props:
            if not isinstance(name, str):
                raise ConfigurationError(f"the name of a property is {type(name).__name__}, not text")
        object.__setattr__(self, "props", read_only(self.props))
        object.__setattr__(self, "target", read_only(self.target or self.props))
        object.__setattr__(self, "references", tuple(self.references))

    def __hash__(self) -> int:
        return hash((self.job_name, self.job_type, self.scope, *self.props, *self.references))

    def with_props(
        self, props: Mapping[str, object], references: Iterable[ReferenceUse] = ()
    ) -> OverrideRequest:
        """The same request about other properties."""
        return self._replace(props=props, references=tuple(references))

    def __repr__(self) -> str:
        names = sorted(self.props)
        shown = ", ".join(repr(shorten(name, 60)) for name in names[:10])
        more = f", ... {len(names) - 10} more" if len(names) > 10 else ""
        return (
            f"OverrideRequest(job_name={shorten(self.job_name, 60)!r}, job_type={self.job_type!r},"
            f" application={shorten(self.application, 60)!r}, scope={self.scope!r}, props=[{shown}{more}])"
        )

    __str__ = __repr__

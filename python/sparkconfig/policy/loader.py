"""Policies from configuration: alias, entry point or dotted Python path; params by job type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sparkconfig._base.built_in import BuiltIn
from sparkconfig._base.loading import import_object
from sparkconfig._base.text import nearest, shorten
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.policy.audit import Audit
from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.request import JOB_TYPES
from sparkconfig.policy.tables import CreateTablePolicy
from sparkconfig.settings.schema import PREFIX, Parsed, Settings, read

__all__ = [
    "BUILT_IN",
    "ENTRY_POINTS",
    "Parts",
    "load_parts",
    "load_policies",
    "load_table_policy",
    "make_policy",
]

ENTRY_POINTS = "sparkconfig.policies"
"""The entry point group in which third parties publish aliases."""

_PACKAGE = "sparkconfig.policy.builtin"
BUILT_IN: BuiltIn[OverridePolicy] = BuiltIn(_PACKAGE, "policy_name", OverridePolicy)  # type: ignore[type-abstract]
"""The project's own aliases; they work without installed metadata, and no entry point replaces them."""

_BUILT_IN_TABLES: BuiltIn[CreateTablePolicy] = BuiltIn(
    _PACKAGE,
    "policy_name",
    CreateTablePolicy,  # type: ignore[type-abstract]
)
_ROOT = f"{PREFIX}override.policy"
_TABLE_ROOT = f"{PREFIX}create.table.policy"
_Kind = TypeVar("_Kind", OverridePolicy, CreateTablePolicy)


def make_policy(name: str, params: Mapping[str, str], defaults: Mapping[str, str]) -> OverridePolicy:
    """Create and configure the policy called ``name``.

    Raises:
        ConfigurationError: there is none, it cannot be loaded, or its params are wrong.
    """
    kind = _find(name, BUILT_IN, OverridePolicy)  # type: ignore[type-abstract]
    return _configured(kind, name, params, defaults)


def load_policies(confs: Mapping[str, str], default: str) -> dict[str, OverridePolicy]:
    """Make the policy of every job type.

    Args:
        confs: the operator's confs, or the job's if there is no operator; all of them are given to policies as
            defaults, except ``spark.config.*``.
        default: the policy of job types for which none is named.

    Raises:
        ConfigurationError: all problems, by conf key; policies made so far are closed.
    """
    names, params, problems = _sorted(confs)
    defaults = {key: text for key, text in confs.items() if not key.startswith(PREFIX)}
    base = names.get("", default)
    made: dict[tuple[str, str], OverridePolicy] = {}
    policies: dict[str, OverridePolicy] = {}
    for job_type in JOB_TYPES if not problems else ():
        name = names.get(job_type, base)
        # The params without a job type belong to the policy named without one.
        source = job_type if params[job_type] or name != base else ""
        try:
            if (name, source) not in made:
                made[name, source] = make_policy(name, params[source], defaults)
            policies[job_type] = made[name, source]
        except ConfigurationError as error:
            key = f"{_ROOT}.{job_type}" if job_type in names or source else _ROOT
            problems.append(f"{key}: {error}")
    for job_type, given in params.items():
        if given and job_type and job_type not in names and not problems:
            problems.append(f"{_ROOT}.{job_type}.param.*: name the policy itself, too: {_ROOT}.{job_type}")
    if problems:
        for policy in dict.fromkeys(made.values()):
            policy.close()
        raise ConfigurationError.of(list(dict.fromkeys(problems)))
    return policies


def load_table_policy(confs: Mapping[str, str]) -> CreateTablePolicy | None:
    """Make the policy of ``spark.config.create.table.policy``, or None if none is named.

    Raises:
        ConfigurationError: it cannot be loaded, or its params are wrong.
    """
    name = confs.get(_TABLE_ROOT, "").strip()
    prefix = f"{_TABLE_ROOT}.param."
    params = {key[len(prefix) :]: text for key, text in confs.items() if key.startswith(prefix)}
    stray = [key for key in confs if key.startswith(f"{_TABLE_ROOT}.") and not key.startswith(prefix)]
    if stray:
        raise ConfigurationError(f"{shorten(stray[0])}: no such setting; params belong under {prefix}")
    if not name:
        if params:
            raise ConfigurationError(f"{prefix}*: name the policy itself, too: {_TABLE_ROOT}")
        return None
    defaults = {key: text for key, text in confs.items() if not key.startswith(PREFIX)}
    try:
        kind = _find(name, _BUILT_IN_TABLES, CreateTablePolicy)  # type: ignore[type-abstract]
        return _configured(kind, name, params, defaults)
    except ConfigurationError as error:
        problem = f"{_TABLE_ROOT}: {error}"
    raise ConfigurationError(problem)


def _sorted(confs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[str, str]], list[str]]:
    """Sort the keys below ``override.policy`` into names and params by job type (``""``: all)."""
    names: dict[str, str] = {}
    params: dict[str, dict[str, str]] = {job_type: {} for job_type in ("", *JOB_TYPES)}
    problems: list[str] = []
    for key, text in confs.items():
        if key != _ROOT and not key.startswith(f"{_ROOT}."):
            continue
        first, _, rest = key[len(_ROOT) + 1 :].partition(".")
        job_type = first if first in JOB_TYPES else ""
        below = rest if job_type else key[len(_ROOT) + 1 :]
        if not below:
            if text.strip():
                names[job_type] = text.strip()
        elif below.startswith("param.") and below != "param.":
            params[job_type][below[len("param.") :]] = text
        else:
            near = nearest(first, [*JOB_TYPES, "param"])
            guess = f"; did you mean {_ROOT}.{near}?" if near else ""
            problems.append(f"{shorten(key)}: no such setting{guess}")
    return names, params, problems


def _find(name: str, built_in: BuiltIn[_Kind], base: type[_Kind]) -> type[_Kind]:
    own = built_in.find(name)
    if own is not None:
        return own
    target: str | None = None
    if "." not in name and ":" not in name:
        published: dict[str, str] = _published()
        target = published.get(name)
        if target is None:
            known = sorted({*built_in.all, *published})
            same = [word for word in known if word.lower() == name.lower()]
            near = same[0] if same else nearest(name, known)
            guess = f" (did you mean '{near}'?)" if near else ""
            raise ConfigurationError(
                f"no policy is called '{shorten(name)}'{guess}; known: {', '.join(known)}; or give a dotted Python"
                " path such as package.module.Class"
            )
    found = import_object(target or name)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ConfigurationError(
            f"'{shorten(name)}' is not a class derived from sparkconfig.policy's {base.__name__}"
        )
    return found


def _configured(
    kind: type[_Kind], name: str, params: Mapping[str, str], defaults: Mapping[str, str]
) -> _Kind:
    policy: _Kind | None = None
    failure: ConfigurationError
    try:
        policy = kind()
        policy.configure(params, defaults)
    except SparkConfigError as error:
        failure = ConfigurationError(str(error))
    except Exception as error:  # noqa: BLE001 - third-party code; its text may hold params
        failure = ConfigurationError(
            f"the policy '{shorten(name)}' failed to start with {type(error).__name__}"
        )
    else:
        return policy
    if policy is not None:
        close_quietly(policy)
    raise failure


def close_quietly(policy: OverridePolicy | CreateTablePolicy) -> None:
    """Close a policy, and log what it raises: the others still have to be closed."""
    try:
        policy.close()
    except Exception as error:  # noqa: BLE001 - third-party code
        import logging

        logging.getLogger(__name__).warning(
            "closing a policy (%s) failed with %s", type(policy).__name__, type(error).__name__
        )


def _published() -> dict[str, str]:
    from importlib.metadata import entry_points  # 20 ms, and seldom needed

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


# What a policy engine gets from configuration, loaded so that all problems are reported at once.
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


def load_parts(confs: Mapping[str, str], default: str, parsed: Parsed | None = None) -> Parts:
    """Load every part.

    Args:
        confs: ``spark.config.*`` and, from an operator, the defaults that policies get to see.
        default: the policy of job types for which none is named.
        parsed: the settings of ``confs``, if they were read before.

    Raises:
        ConfigurationError: the problems of all parts; what was loaded is closed.
    """
    own = {key: text for key, text in confs.items() if key.startswith(PREFIX)}
    parts = Parts()
    problems: list[str] = []

    def load_settings() -> None:
        settings, found = parsed or read(own)
        if found:
            raise ConfigurationError.of(list(found))
        parts.settings = settings

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

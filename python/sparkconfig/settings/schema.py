"""Every ``spark.config.*`` conf, declared once: name, type, default, check and doc."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from sparkconfig._base.gone import GONE
from sparkconfig._base.late import late
from sparkconfig._base.record import Field, Record, field
from sparkconfig._base.text import nearest, shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.connections import FAMILY as CONNECTIONS
from sparkconfig.settings.connections import Connection, read_connections
from sparkconfig.settings.connectors import PREFIXES
from sparkconfig.settings.foreign import DEFAULT_FOREIGN
from sparkconfig.settings.job_types import JOB_TYPES, job_types
from sparkconfig.settings.kinds import (
    Kind,
    boolean,
    choice,
    count,
    duration,
    names,
    optional_text,
    patterns,
    references,
    variables,
)
from sparkconfig.settings.readers import CONNECTOR_CODE

__all__ = ["PREFIX", "Parsed", "Settings", "declared", "parse", "read"]

PREFIX = "spark.config."


def _conf(name: str, kind: Kind[Any], default: str | None, doc: str) -> Any:  # noqa: ANN401
    """Declare one setting; ``default`` is written as a user would write it."""
    metadata = {"name": PREFIX + name, "kind": kind, "default": default, "doc": doc}
    return field(default_factory=functools.partial(kind.parse, default), metadata=metadata)


def _foreign(given: str | None) -> frozenset[str]:
    listed = (given or "").strip()
    default = DEFAULT_FOREIGN if listed.startswith("+") else frozenset()
    return default | frozenset(names.parse(listed.removeprefix("+")))


#: Keys under which a secret's neighbours stand, in the documents that database services make.
_PLAIN_KEYS = ("user", "username", "host", "hostname", "port", "dbname", "database", "region", "engine")
#: The default of ``redaction.plain``. With it, what a store itself does not treat as a secret is plain too.
DEFAULT_PLAIN = tuple(f"*:{key}" for key in _PLAIN_KEYS)


def _plain(given: str | None) -> tuple[str, ...]:
    """Patterns of references that are not secrets."""
    listed = (given or "").strip()
    default = DEFAULT_PLAIN if listed.startswith("+") else ()
    return default + references.parse(listed.removeprefix("+"))


_PLAIN: Kind[tuple[str, ...]] = Kind("patterns of references, separated by commas", _plain)
_FOREIGN: Kind[frozenset[str]] = Kind("names, separated by commas", _foreign)


class Settings(Record):
    """The parsed settings of one application. Durations are milliseconds.

    What belongs to a named thing (``providers.NAME.*``, ``override.policy.*``) is read by that thing's
    loader; :data:`FAMILIES` only lists these names, so that :func:`parse` can tell them from misspelt ones.
    ``connections`` holds the named connections.
    """

    providers: tuple[str, ...] = _conf("providers", names, "", "Names of the config providers.")
    unresolved: str = _conf(
        "unresolved",
        choice("fail", "keep"),
        "fail",
        "fail: a reference without a value stops the start, with one error that lists all of them;"
        " keep: it stays as it is written (KIP-297).",
    )
    foreign_providers: frozenset[str] = _conf(
        "foreign.providers",
        _FOREIGN,
        "+",
        "Provider names that something else expands (Spark, Hadoop, log4j2)."
        " A list that begins with + adds to the default: " + ", ".join(sorted(DEFAULT_FOREIGN)) + ".",
    )
    inplace_keys: tuple[str, ...] = _conf(
        "inplace.keys",
        patterns,
        "",
        "Conf keys that hold the value itself, so that an unmodified job's spark.conf.get returns it.",
    )
    reference_keys: tuple[str, ...] = _conf(
        "reference.keys",
        patterns,
        "",
        "Conf keys of connectors in which a reference may stay: only the job's own code reads them.",
    )
    resolve_prefixes: Mapping[str, tuple[str, ...]] = _conf(
        "resolve.prefixes",
        PREFIXES,
        "+",
        "Connectors that read confs by themselves: the package's code gets values for references under the prefix."
        " A list that begins with + adds to the default: " + ", ".join(sorted(CONNECTOR_CODE)) + ".",
    )
    surface_files: tuple[str, ...] = _conf(
        "surface.files",
        names,
        "",
        "Files that say what a shared server lets through of another library's plans, expressions and functions.",
    )
    substitution_enabled: bool = _conf(
        "substitution.enabled", boolean, "false", "Evaluate $[type=id] substitutions (KIP-269)."
    )
    substitution_file_paths: tuple[str, ...] = _conf(
        "substitution.file.allowed.paths",
        names,
        "",
        "Files and directories that $[file=...] may read, by real path. Empty: nothing. Unset: everything, but"
        " with an operator file nothing.",
    )
    substitution_env_pattern: str | None = _conf(
        "substitution.envVar.allowlist.pattern",
        optional_text,
        None,
        "Regular expression for the whole name of a variable that $[envVar=...] may read; empty, unset: as above.",
    )
    substitution_sysprop_pattern: str | None = _conf(
        "substitution.sysProp.allowlist.pattern",
        optional_text,
        None,
        "The same for system properties and $[sysProp=...].",
    )
    files_text: tuple[str, ...] = _conf(
        "files.text",
        references,
        "",
        "Values that clients need as files: the reference then yields the path of a file with the value's text.",
    )
    files_base64: tuple[str, ...] = _conf(
        "files.base64",
        references,
        "",
        "The same for binary files (keystores, keytabs), in base64 in the store.",
    )
    files_directory: str | None = _conf(
        "files.directory",
        optional_text,
        None,
        "Where these files are, for example in memory; unset: /tmp, or the JVM's directory for temporary files.",
    )
    files_keep: int = _conf(
        "files.keep",
        duration(),
        "1h",
        "How long the file of an earlier generation stays for those that have its path.",
    )
    reload_action: str = _conf(
        "reload.action",
        choice("refresh", "restart", "none"),
        "refresh",
        "What a changed value triggers: refresh: new values at next use; restart: also managed streaming queries"
        " restart; none: nothing.",
    )
    reload_trigger: str = _conf(
        "reload.trigger",
        choice("auto", "manual"),
        "auto",
        "auto: changes are looked for; manual: only 'sparkconfig refresh APP' reads again.",
    )
    poll_interval: int = _conf(
        "poll.interval",
        duration(low=100),
        "5s",
        "How often providers without ttl are read again. Executors ask as often where the driver cannot push.",
    )
    provider_timeout: int = _conf(
        "provider.timeout", duration(low=100), "30s", "Deadline of one call of a provider."
    )
    stale_expiry: int = _conf(
        "stale.expiry",
        duration(),
        "1h",
        "How long a last good value serves while its provider cannot be reached; never after 'not allowed'"
        " or 'not found'.",
    )
    rpc_insecure: bool = _conf(
        "rpc.insecure",
        boolean,
        "false",
        "Serve executors although Spark's RPC is not authenticated and encrypted.",
    )
    override_mode: str = _conf(
        "override.mode",
        choice("enforce", "warn"),
        "enforce",
        "enforce: a policy violation is an error; warn: it is logged and recorded.",
    )
    override_policy: str | None = _conf(
        "override.policy",
        optional_text,
        None,
        "None, Principal, All, Allowlist, Rules or a dotted class; default None with an operator file,"
        " All without. override.policy.JOBTYPE sets it for one job type.",
    )
    job_type: str | None = _conf(
        "job.type",
        choice(*JOB_TYPES, optional=True),
        None,
        "The kind of job; detected when unset.",
    )
    worker_job_types: tuple[str, ...] = _conf(
        "worker.job.types",
        job_types,
        "batch,streaming,interactive",
        "Job types in which Python workers may ask for values; add connect or sql for a shared server.",
    )
    connect_user_trusted: bool = _conf(
        "connect.user.trusted",
        boolean,
        "false",
        "Whether a proxy or token in front of a Spark Connect server authenticates its users.",
    )
    user_sessions: int = _conf(
        "user.sessions",
        count(low=1),
        "200",
        "How many sessions a user of a server whose statements a policy judges may have at once.",
    )
    worker_references: tuple[str, ...] = _conf(
        "worker.references",
        references,
        "",
        "What executors and their Python workers may ask for although the driver has not used it.",
    )
    create_table_policy: str | None = _conf(
        "create.table.policy",
        optional_text,
        None,
        "Rules or a dotted class: checks each CREATE TABLE, CTAS and saveAsTable before it runs (KIP-108).",
    )
    defaults_file: str | None = _conf(
        "defaults.file",
        optional_text,
        None,
        "In an operator file: the cluster's spark-defaults.conf, which then counts as the operator's defaults.",
    )
    agent_python: str | None = _conf(
        "agent.python", optional_text, None, "The Python that runs the side process."
    )
    agent_variables: tuple[str, ...] = _conf(
        "agent.variables",
        variables,
        "",
        "Beside an operator file: environment variables that the side process keeps, such as AWS_*.",
    )
    redaction_require: bool = _conf(
        "redaction.require",
        boolean,
        "true",
        "Whether the application must not start if a redaction sink (event log, log4j2, streams) cannot be hooked.",
    )
    redaction_keys: str | None = _conf(
        "redaction.keys",
        optional_text,
        None,
        "Regular expressions, separated by commas, for more keys of confs that hold secrets in clear.",
    )
    redaction_plain: tuple[str, ...] = _conf(
        "redaction.plain",
        _PLAIN,
        "+",
        "Values that are no secrets, and not masked. A list that begins with + adds to the default, the keys "
        + ", ".join(_PLAIN_KEYS)
        + ", and what a store does not treat as a secret: ConfigMaps, and String parameters of AWS SSM, unless key or"
        " value look like one.",
    )
    connections: Mapping[str, Connection] = field(default_factory=dict)


FAMILIES: tuple[str, ...] = ("providers.", "override.policy.", "create.table.policy.", "audit.", CONNECTIONS)
"""Prefixes below ``spark.config.`` whose names other modules check."""

_FAMILY_PREFIXES = tuple(PREFIX + family for family in FAMILIES)
_CUSTOM_TYPE = late(r"spark\.config\.substitution\.[^.]+SubstituterType")


def declared() -> tuple[Field, ...]:
    """All settings; ``metadata`` holds name, kind, default and doc (for help texts and docs)."""
    return tuple(each for each in Settings.__record__.values() if each.metadata)


class Parsed(NamedTuple):
    """Settings and what is wrong with them, by key; if anything is, they are the defaults."""

    settings: Settings
    problems: tuple[str, ...] = ()


def parse(confs: Mapping[str, str]) -> Settings:
    """Read the settings among ``confs``; other keys are left alone.

    Raises:
        ConfigurationError: unknown or malformed settings, all of them in one message, by key.
    """
    parsed = read(confs)
    if parsed.problems:
        raise ConfigurationError.of(list(parsed.problems))
    return parsed.settings


def read(confs: Mapping[str, str]) -> Parsed:
    """As :func:`parse`, for callers that report more than the settings' problems."""
    problems: list[str] = []
    values: dict[str, object] = {}
    by_name = {f.metadata["name"]: f for f in declared()}
    for key, text in confs.items():
        if not key.startswith(PREFIX):
            continue
        setting = by_name.get(key)
        if setting is None:
            if not key.startswith(_FAMILY_PREFIXES) and _CUSTOM_TYPE.fullmatch(key) is None:
                problems.append(_unknown(key, by_name))
        elif not isinstance(text, str):
            problems.append(f"{key}: expected text, got {type(text).__name__}")
        else:
            try:
                values[setting.name] = setting.metadata["kind"].parse(text)
            except ValueError as error:
                problems.append(f"{key}: {error}")
    connections, wrong = read_connections(confs, PREFIX + CONNECTIONS)
    problems += wrong
    if problems:
        return Parsed(Settings(), tuple(problems))
    values["connections"] = connections
    return Parsed(Settings(**values))  # type: ignore[arg-type]


def _unknown(key: str, known: Mapping[str, object]) -> str:
    if key in GONE:
        return f"{key} is gone: {GONE[key]}"
    candidates = [*known, *(PREFIX + family + "NAME" for family in FAMILIES)]
    near = nearest(key, candidates)
    guess = f"; did you mean {near}?" if near else ""
    return f"{shorten(key)}: no such setting{guess}"

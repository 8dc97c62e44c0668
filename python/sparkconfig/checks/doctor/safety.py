"""What keeps secrets where they belong: protected connections, the operator's file, the redaction sinks."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from sparkconfig.checks.doctor.finding import Finding, error, note, ok, warning
from sparkconfig.checks.doctor.subject import Subject, conf_is_true, conf_list
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.errors import ConfigurationError
from sparkconfig.settings import operator_file, shipped
from sparkconfig.settings.schema import PREFIX

__all__ = ["config_maps", "operator", "rpc", "shipped_files", "sinks"]

_AUTHENTICATED = "set spark.authenticate=true and spark.network.crypto.enabled=true"
_AES, _TLS = "spark.network.crypto.enabled", "spark.ssl.rpc.enabled"
_MEND_FILE = "as root, put a well-formed file there that others can read but not write"
_DATABRICKS_LISTENER = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"
# What Spark does not copy from SPARK_CONF_DIR, by name.
_NOT_COPIED = re.compile(r".*template|spark.*(conf|properties)")
_REQUIRE = f"{PREFIX}redaction.require"


def rpc(subject: Subject) -> Iterator[Finding]:
    """Apply the rule of ``RpcProtection.scala``: executors get values over protected RPC only."""
    confs = subject.effective
    # Spark 3.5 takes spark.ssl.rpc.enabled, does nothing, and sends everything in the clear.
    older = subject.spark is not None and subject.spark.version.startswith("3.")
    advice = _AUTHENTICATED + (f"; Spark 3.5 ignores {_TLS}" if older else f" (or {_TLS}=true)")
    counting = (_AES,) if older else (_AES, _TLS)
    encrypted = next((key for key in counting if conf_is_true(confs, key)), None)
    if conf_is_true(confs, "spark.authenticate") and encrypted:
        yield ok("rpc", f"spark.authenticate and {encrypted} protect what executors receive")
        return
    master = confs.get("spark.master", "").strip()
    if master == "local" or master.startswith("local["):
        yield ok("rpc", f"spark.master={master}: nothing leaves the driver's process")
    elif conf_is_true(confs, f"{PREFIX}rpc.insecure"):
        found = f"{PREFIX}rpc.insecure=true: any process that reaches the driver's port can read the secrets in use"
        yield warning("rpc", found, advice)
    elif master:
        found = f"executors of {master.partition(':')[0]} would receive secrets over unprotected RPC, so nothing starts"
        yield error("rpc", found, f"{advice}, or accept the risk with {PREFIX}rpc.insecure=true")
    else:
        found = (
            "no spark.master is set: local applications start; on a cluster, unprotected RPC stops the start"
        )
        yield note("rpc", found, advice)


def shipped_files(subject: Subject) -> Iterator[Finding]:
    """Apply the rule of the start: what the driver would serve to anybody."""
    for key, why in shipped.problems(subject.effective):
        if conf_is_true(subject.effective, f"{PREFIX}rpc.insecure"):
            yield warning("shipped files", f"{key}: {why}", shipped.REMEDY)
        else:
            yield error("shipped files", f"{key}: {why}, so nothing starts", shipped.REMEDY)


def config_maps(subject: Subject) -> Iterator[Finding]:
    """On Kubernetes, spark-submit copies text files of two folders into ConfigMaps, even files closed to others."""
    if not subject.effective.get("spark.master", "").strip().startswith("k8s://"):
        return
    params = {
        text.strip() for key, text in subject.effective.items() if key.startswith(PREFIX) and ".param." in key
    }
    own = subject.environ.get("SPARK_CONF_DIR") or (subject.spark and str(subject.spark.home / "conf"))
    for variable, folder in (
        ("SPARK_CONF_DIR", own),
        ("HADOOP_CONF_DIR", subject.environ.get("HADOOP_CONF_DIR")),
    ):
        if not folder or not Path(folder).is_dir():
            continue
        for path in sorted(Path(folder).iterdir()):
            if not path.is_file() or (variable == "SPARK_CONF_DIR" and _NOT_COPIED.fullmatch(path.name)):
                continue
            if not path.stat().st_mode & stat.S_IROTH or str(path) in params:
                found = (
                    f"{path} is in {variable}, so spark-submit copies it into a ConfigMap if it holds text"
                )
                yield warning(
                    "kubernetes", found, "move it elsewhere: users who may read ConfigMaps would see it"
                )


def operator(subject: Subject) -> Iterator[Finding]:
    """Check the operator's file: that it binds, and that no job sets what belongs into it."""
    area = "operator file"
    if subject.operator is None:
        yield note(
            area,
            "there is none: each application configures itself, and the policy is All",
            "to decide for all applications of a machine, write /etc/spark/sparkconfig.conf",
        )
        return
    try:
        operator_file.load(subject.operator)
    except ConfigurationError as problem:
        found, _, todo = str(problem).rpartition("; ")
        found, todo = (found, todo) if found else (todo, _MEND_FILE)
        yield error(area, found, f"{todo}; until then no application starts here", ExitCode.DENIED)
        return
    except OSError as problem:
        yield error(area, f"{subject.operator}: {problem.strerror}", "let all users read it", ExitCode.DENIED)
        return
    yield ok(area, f"{subject.operator}, not changeable by uid {os.geteuid()}")
    if os.geteuid() == 0:
        yield warning(
            area,
            "applications of root can change it, so it does not bind them",
            "run applications as another user",
        )
    for key in sorted(key for key in subject.confs if key.startswith(PREFIX)):
        yield error(
            area, f"{key} is set by the application", f"move it to {subject.operator}", ExitCode.REFUSED
        )


def sinks(subject: Subject) -> Iterator[Finding]:
    """Say which sinks redaction cannot reach; a start names the others that it cannot hook."""
    confs = subject.effective
    yield from _logs(subject, confs)
    if _DATABRICKS_LISTENER in conf_list(confs, "spark.extraListeners"):
        yield warning(
            "sink event log",
            "Databricks writes an event log with a class of its own; we have never tested its redaction there",
            "keep references in confs and options, and name in-place keys only where nothing else works",
        )
    queries = conf_list(confs, "spark.sql.queryExecutionListeners")
    if queries:
        found = f"these get Spark's own query objects, with redacted errors: {', '.join(queries)}"
        yield note(
            "sink listeners", found, "make sure that they show no user the literals of others' queries"
        )
    if not conf_is_true(confs, _REQUIRE, default=True):
        found = f"{_REQUIRE}=false: an application starts even if a sink cannot be redacted"
        yield warning("sinks", found, f"remove it; the start then fails and names the sink ({_REQUIRE})")


def _logs(subject: Subject, confs: dict[str, str]) -> Iterator[Finding]:
    options = [confs.get(f"spark.driver.{each}JavaOptions", "") for each in ("default", "extra")]
    options += [subject.environ.get(each, "") for each in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS")]
    if any("AsyncLoggerContextSelector" in text for text in options):
        yield error(
            "sink log4j2",
            "log4j2's AsyncLoggerContextSelector builds events that cannot be redacted, so nothing starts",
            "use <AsyncRoot> and <AsyncLogger> elements or synchronous loggers instead",
        )
    elif subject.spark is not None and not list(subject.spark.jars.glob("*log4j-core*2.*.jar")):
        yield error(
            "sink log4j2",
            "this Spark does not log through log4j2",
            "put log4j-core back into its jars folder",
        )
    else:
        yield ok("sink log4j2", "redacted on driver and executors as soon as the plugin starts")

"""Log4j2 and standard streams of a JVM, without Spark around them."""

from __future__ import annotations

import pytest

from leaks.support import bare_jvm
from leaks.values import CANARIES
from sparkconfig.redaction import MASK
from support.leaks import LeakFinder
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark

OPENED = "--add-opens=java.base/java.io=ALL-UNNAMED"
CONFIGURATION = """
status = off
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = {head} %p %c %t %L %X %x %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


@pytest.fixture(scope="module")
def jvm():
    with bare_jvm(OPENED) as gateway:
        gateway.jvm.io.sparkconfig.redaction.engine.Redactor.registerAll(list(CANARIES.values()))
        yield gateway.jvm


def configure(jvm, folder, head):
    path = folder / f"{head}.properties"
    path.write_text(CONFIGURATION.format(file=folder / "log", head=head))
    jvm.org.apache.logging.log4j.core.config.Configurator.reconfigure(jvm.java.net.URI(path.as_uri()))


def write(jvm, name, value):
    slf4j = jvm.org.slf4j.LoggerFactory.getLogger(name)
    error = jvm.java.lang.RuntimeException(
        f"e {value}", jvm.java.lang.IllegalStateException(f"cause {value}")
    )
    error.addSuppressed(jvm.java.io.IOException(f"suppressed {value}"))
    slf4j.error(f"m {value}", error)
    jvm.org.apache.logging.log4j.ThreadContext.put("shop", value)
    jvm.org.apache.logging.log4j.ThreadContext.push(value)
    slf4j.warn("context")
    jvm.org.apache.logging.log4j.ThreadContext.clearAll()
    slf4j.warn("plain {}", "line")


def test_log_events_and_a_reload(jvm, tmp_path):
    configure(jvm, tmp_path, "FIRST")
    scala_object(jvm, "io.sparkconfig.redaction.sinks.LogRedaction").hook()
    scala_object(jvm, "io.sparkconfig.redaction.sinks.LogRedaction").hook()
    for value in CANARIES.values():
        write(jvm, "a.b", value)
    configure(jvm, tmp_path, "SECOND")
    jvm.org.apache.logging.log4j.core.config.Configurator.setLevel("made.by.code", "DEBUG")
    write(jvm, "root", "harmless")
    for value in CANARIES.values():
        write(jvm, "made.by.code.child", value)
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert LeakFinder(CANARIES.values()).count(text.encode()) == 0
    for head in ("FIRST", "SECOND"):
        lines = [line for line in text.splitlines() if line.startswith(head)]
        assert len([line for line in lines if line.endswith("plain line")]) >= len(CANARIES)
        assert len([line for line in lines if f"shop={MASK}" in line]) == len(CANARIES)
    assert text.count(f"java.lang.RuntimeException: e {MASK}") == 2 * len(CANARIES)
    assert text.count(f"java.lang.IllegalStateException: cause {MASK}") == 2 * len(CANARIES)
    assert text.count(f"java.io.IOException: suppressed {MASK}") == 2 * len(CANARIES)
    assert "RuntimeException: e harmless" in text


def test_a_value_that_is_written_in_pieces_is_masked_for_any_cut(jvm):
    values = ["s3cret-<piece>'s-71", "zweites Geheimnis ä", "third.one/Kx93"]
    jvm.io.sparkconfig.redaction.engine.Redactor.registerAll(values)
    target = jvm.java.io.ByteArrayOutputStream()
    pieces = jvm.io.sparkconfig.redaction.sinks.RedactingStream(target)

    def put(raw: bytes) -> None:
        pieces.write(raw, 0, len(raw))

    for value in values:
        for writing in (
            value,
            value.replace("'", "''"),
            value.encode("unicode_escape").decode(),
            value.encode().hex(),
        ):
            raw = writing.encode()
            for at in range(1, len(raw)):
                put(b"[" + raw[:at])
                put(raw[at:] + b"]")
            for byte in raw:
                put(bytes([byte]))
            put(b"\n")
    put(b"Continue? [y/N] ")
    shown = bytes(target.toByteArray()).decode()
    assert shown.endswith("\nContinue? [y/N] "), "the prompt waits"
    assert set(shown.replace(MASK, "").replace("\n", "").replace("Continue? [y/N] ", "")) == {"[", "]"}
    assert shown.count(MASK) > 200


def test_a_byte_that_is_not_utf_8_hides_no_value(jvm):
    value = "drittes Geheimnis ä鍵-73"
    jvm.io.sparkconfig.redaction.engine.Redactor.registerAll([value, "Latin-Schlüssel-74"])
    target = jvm.java.io.ByteArrayOutputStream()
    pieces = jvm.io.sparkconfig.redaction.sinks.RedactingStream(target)
    given = b"\xff <%b> \xed\xb2\x80 \xe4 <%b> %b\n"
    raw = given % (value.encode(), "Latin-Schlüssel-74".encode("latin-1"), "ü鍵\U0001f511".encode())
    pieces.write(raw, 0, len(raw))
    assert bytes(target.toByteArray()) == given % (MASK.encode(), MASK.encode(), "ü鍵\U0001f511".encode())


def test_whatever_a_thrift_client_asks_its_errors_are_masked(jvm):
    """Each call that can fail goes through our service or our session, but for those on Kerberos' tokens and ids."""

    def methods(name: str, *, failing: bool) -> set[str]:
        found = jvm.java.lang.Class.forName(name).getDeclaredMethods()
        return {
            each.getName() for each in found if not failing or "HiveSQLException" in each.toGenericString()
        }

    calls = methods("org.apache.hive.service.cli.CLIService", failing=True)
    ours = methods("io.sparkconfig.redaction.sinks.RedactingCli", failing=False)
    sessions = methods("org.apache.hive.service.cli.session.HiveSession", failing=True)
    left = {each for each in calls - ours - sessions if "DelegationToken" not in each}
    assert left <= {"getSessionConf", "getQueryId"}
    assert {"executeStatement", "getTables"} <= calls & sessions


def test_streams_are_masked_without_an_open_package():
    """A standalone cluster's worker starts drivers without --add-opens."""
    with bare_jvm() as gateway:
        jvm = gateway.jvm
        value = CANARIES["plain"]
        under = {name: jvm.java.io.ByteArrayOutputStream() for name in ("Out", "Err")}
        streams = [jvm.java.io.PrintStream(each, True) for each in under.values()]
        jvm.System.setOut(streams[0])
        jvm.System.setErr(streams[1])
        jvm.io.sparkconfig.redaction.engine.Redactor.registerAll([value])
        scala_object(jvm, "io.sparkconfig.redaction.sinks.StreamRedaction").hook()
        for stream in streams:
            stream.println(f"printed {value}")
        for name, target in under.items():
            assert bytes(target.toByteArray()).decode() == f"printed {MASK}\n", name

"""The doctor on logs in which Py4J would write the gateway's token."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.checks.doctor.log_levels import log_levels
from sparkconfig.checks.doctor.subject import Subject

XML = '<Configuration><Loggers>{}<Root level="{}"/></Loggers></Configuration>'
YAML = (
    "Configuration:\n  Loggers:\n    Root:\n      level: {}\n    Logger:\n    - name: {}\n      level: {}\n"
)
CASES = [
    ("rootLogger.level = debug\n", True),
    ("rootLogger = TRACE, console\n", True),
    ("rootLogger.level = all\nlogger.x.name = org.apache\nlogger.x.level = warn\n", True),
    ("rootLogger.level = debug\nlogger.p.name = py4j\nlogger.p.level = info\n", False),
    ("rootLogger.level = info\nlogger.p.name = py4j.java_gateway\nlogger.p.level = debug\n", True),
    ("rootLogger.level = info\nlogger.p.name = py4j.GatewayConnection\nlogger.p = debug, console\n", True),
    ("rootLogger.level = info\nlogger.x.name = org.apache.spark\nlogger.x.level = debug\n", False),
    (XML.format("", "debug"), True),
    (XML.format('<Logger name="py4j" level="warn"/>', "debug"), False),
    (XML.format('<Logger level="trace" name="py4j.commands"/>', "info"), True),
    (XML.format("", "info"), False),
    ("Configuration:\n  Loggers:\n    Root:\n      level: debug\n", True),
    (YAML.format("debug", "py4j", "warn"), False),
    (YAML.format("info", "py4j.java_gateway", "debug"), True),
    (YAML.format("info", "org.apache.spark", "debug"), False),
    (
        '{"Configuration": {"Loggers": {"Root": {"level": "info"}, "Logger": {"name": "py4j", "level": "trace"}}}}',
        True,
    ),
    (
        '{"Configuration": {"Loggers": {"Root": {"level": "debug"}, "Logger": {"name": "py4j", "level": "info"}}}}',
        False,
    ),
    ("", False),
]


@pytest.mark.parametrize(("text", "odd"), CASES)
@pytest.mark.parametrize("named", [False, True], ids=["in the conf folder", "by an option"])
def test_the_file_of_log4j2(tmp_path: Path, text: str, odd: bool, named: bool) -> None:
    kind = "xml" if text.startswith("<") else "yaml" if text.startswith("Conf") else "properties"
    path = tmp_path / (f"mine.{kind}" if named else f"log4j2.{kind}")
    path.write_text(text)
    confs = (
        {"spark.driver.extraJavaOptions": f"-Da=b -Dlog4j2.configurationFile=file://{path}"} if named else {}
    )
    found = list(log_levels(Subject({"SPARK_CONF_DIR": str(tmp_path)}, confs=confs)))
    assert [str(path) in each.found for each in found] == [True] * odd


@pytest.mark.parametrize(("level", "odd"), [("DEBUG", 1), ("trace", 1), ("ALL", 1), ("INFO", 0), ("", 0)])
def test_the_level_of_spark(level: str, odd: int) -> None:
    assert len(list(log_levels(Subject({}, confs={"spark.log.level": level})))) == odd

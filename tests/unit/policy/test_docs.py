"""What the pages on policies show works."""

import re
import shutil
from pathlib import Path

import pytest

from sparkconfig.agent.policies import Policies
from sparkconfig.policy.jobtype import Launch
from sparkconfig.settings.operator_file import load
from sparkconfig.settings.schema import PREFIX, parse
from unit.policy.helpers import engine, request

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("operators-file", "policies", "writing-a-policy")
TEXT = "".join((ROOT / "docs" / f"{page}.md").read_text() for page in PAGES)
SERVER = "org.apache.spark.deploy.SparkSubmit --class org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.mark.parametrize(
    "command", [f"{SERVER} spark-internal", "org.apache.spark.deploy.SparkSubmit job.py"]
)
def test_the_operators_file_starts_without_a_warning(tmp_path, caplog, command):
    [example] = re.findall(r"```properties\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "sparkconfig.conf").write_text(example.replace("/var/log/spark", str(tmp_path)))
    shutil.copytree(ROOT / "conf" / "policies", tmp_path / "policies")
    operator = load(tmp_path / "sparkconfig.conf", check=False)
    parse({key: text for key, text in operator.confs.items() if key.startswith(PREFIX)})
    policies = Policies.load({}, operator, dict, Launch(command))
    found = policies.start(record=False)
    policies.close()
    assert found.problems == ()
    assert {"spark.sql.session.timeZone", "spark.sql.shuffle.partitions"} <= found.defaults.keys()
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize("block", re.findall(r"```jsonc\n(.*?)```", TEXT, re.DOTALL))
def test_documents_load(tmp_path, block):
    engine(tmp_path, block)


CODE, SUITE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
NAMES = {}
exec(CODE, NAMES)  # our own documentation
exec(SUITE.replace("from acme.policies import ClusterSize\n", ""), NAMES)
TestClusterSize = NAMES["TestClusterSize"]


def test_the_class_works():
    policy = NAMES["ClusterSize"]()
    policy.configure({"limit": "5"}, {})
    values = policy.validate(request({"spark.executor.instances": "6", "spark.x": "1"}))
    assert [value.allowed for value in values] == [False, True]

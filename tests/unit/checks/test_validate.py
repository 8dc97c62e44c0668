"""``sparkconfig validate`` and the example policies in ``conf/policies``."""

import json
import re
from pathlib import Path

import pytest

from sparkconfig.cli import main

CANARY = "s3cret-canary-4711"
EXAMPLES = Path(__file__).resolve().parents[3] / "conf" / "policies"


def validate(capsys, *arguments):
    code = main(["validate", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert CANARY not in out + err
    return code, out, err


def confs(**props):
    return [word for name, text in props.items() for word in ("--conf", f"{name.replace('_', '.')}={text}")]


@pytest.mark.parametrize(
    "path", sorted(set(EXAMPLES.glob("*")) - set(EXAMPLES.glob("*.schema.json"))), ids=lambda path: path.name
)
def test_every_example_loads_and_is_commented(path, capsys):
    code, out, err = validate(
        capsys, "--policy", path, "--conf", "spark.app.name=x", "--conf", "spark.acme.team=sales"
    )
    assert code == 0, out + err
    assert path.read_text().lstrip().startswith(("//", "#"))


CASES = [
    ("batch-limits.json", "batch", "application", {"spark.executor.memory": "8g"}, True),
    ("batch-limits.json", "batch", "application", {"spark.executor.memory": "64g"}, False),
    ("batch-limits.json", "batch", "application", {"spark.network.timeout": "3600"}, False),
    ("batch-limits.json", "streaming", "application", {"spark.network.timeout": "3600"}, True),
    ("batch-limits.json", "batch", "application", {"spark.eventLog.enabled": "false"}, False),
    ("batch-limits.json", "batch", "application", {"spark.acme.team": "SALES!"}, False),
    ("batch-limits.json", "batch", "application", {"spark.driver.extraJavaOptions": "-XX:+UseG1GC"}, True),
    ("batch-limits.json", "batch", "application", {"spark.driver.extraJavaOptions": "-javaagent:x"}, False),
    ("batch-limits.json", "batch", "application", {"spark.plugins": "com.acme.Plugin"}, False),
    ("shared-server.json", "connect", "session", {"spark.sql.shuffle.partitions": "100"}, True),
    ("shared-server.json", "connect", "session", {"spark.sql.shuffle.partitions": "100000"}, False),
    ("shared-server.json", "connect", "session", {"spark.sql.warehouse.dirs": "/x"}, False),
    ("shared-server.json", "connect", "session", {"spark.sql.adaptive.enabled": "false"}, True),
    ("shared-server.json", "sql", "session", {"hive.server2.thrift.port": "1"}, False),
    ("shared-server.json", "sql", "source", {"password": "${sealed:shared/db:password}"}, True),
    ("shared-server.json", "sql", "source", {"password": "${sealed:teams/x:password}"}, False),
    ("shared-server.json", "batch", "source", {"password": "${sealed:teams/x:password}"}, True),
    ("shared-server.json", "batch", "source", {"password": "${sealed:teams/x:admin}"}, False),
    ("shared-server.json", "sql", "source", {"query": "${sealed:shared/x:password}"}, False),
    ("databricks-cluster-policy.json", "batch", "application", {"spark.sql.shuffle.partitions": "8"}, True),
    ("databricks-cluster-policy.json", "batch", "application", {"spark.sql.shuffle.partitions": "7"}, False),
    ("databricks-cluster-policy.json", "batch", "application", {"spark.speculation": "true"}, False),
    (
        "databricks-cluster-policy.json",
        "batch",
        "application",
        {"spark.hadoop.fs.s3a.endpoint": "http://s3.example.com"},
        False,
    ),
    ("databricks-cluster-policy.json", "batch", "application", {"fs.s3a.endpoint": "s3.example.com"}, True),
    ("minimal.json", "batch", "application", {"spark.executor.instances": "20"}, True),
    ("minimal.json", "batch", "application", {"spark.executor.instances": "21"}, False),
    ("minimal.json", "sql", "session", {"spark.sql.catalog.mine": "x.Y"}, False),
    ("minimal.json", "batch", "session", {"spark.sql.catalog.mine": "x.Y"}, True),
]


@pytest.mark.parametrize(("example", "job_type", "scope", "props", "ok"), CASES)
def test_examples_decide_as_their_comments_say(capsys, example, job_type, scope, props, ok):
    if example == "batch-limits.json":
        props = {"spark.acme.team": "sales", **props}
    words = ["--policy", EXAMPLES / example, "--job-type", job_type, "--scope", scope, "--format", "jdbc"]
    code, out, _ = validate(capsys, *words, *confs(**props))
    assert code == (0 if ok else 8), out


SQL = f"""
SET spark.sql.shuffle.partitions=10;
CREATE TABLE prod.sales (id INT) USING delta TBLPROPERTIES ('owner'='a.b@example.com') PARTITIONED BY (id);
CREATE TABLE prod.bad USING csv LOCATION '/x' AS SELECT 1;
CREATE TABLE sandbox.t (a INT) USING jdbc OPTIONS (password '{CANARY}');
SELECT * FROM prod.bad;
"""


def test_sql_is_checked_statement_by_statement(capsys, tmp_path):
    file = tmp_path / "x.sql"
    file.write_text(SQL)
    code, out, _ = validate(
        capsys, "--policy", EXAMPLES / "tables.json", "--job-type", "sql", "--sql", file, "--json"
    )
    found = json.loads(out)
    assert code == 8
    assert len(found["violations"]) == 2
    assert found["violations"][0].startswith("x.sql line 4: the table prod.bad may not be created")
    assert "managed" in found["violations"][0]
    assert "write a reference" in found["violations"][1]
    file.write_text(SQL)
    code, out, _ = validate(capsys, "--policy", EXAMPLES / "minimal.json", "--job-type", "sql", "--sql", file)
    assert code == 0, out


def test_references_in_sql_are_checked(capsys, tmp_path):
    file = tmp_path / "x.sql"
    file.write_text("SELECT 1;\nSELECT * FROM t WITH (password = '${sealed:teams/a:b}');\n")
    code, out, _ = validate(
        capsys, "--policy", EXAMPLES / "shared-server.json", "--job-type", "connect", "--sql", file
    )
    assert code == 8
    assert "x.sql line 2" in out


def test_the_operators_file_and_the_properties_file_of_a_job(capsys, tmp_path):
    operator, job = tmp_path / "sparkconfig.conf", tmp_path / "job.conf"
    operator.write_text(
        "spark.config.override.policy=Allowlist\n"
        "spark.config.override.policy.param.allowlist=spark.executor.cores\n"
        f"spark.config.audit.file={tmp_path}/audit\n"
        "spark.executor.cores=2\nspark.executor.memory=2g\n"
    )
    job.write_text(f"spark.executor.cores 4\nspark.executor.memory {CANARY}\nspark.x y\n")
    code, out, _ = validate(
        capsys, "--operator-file", operator, "--properties-file", job, "--json", "--explain"
    )
    found = json.loads(out)
    assert code == 8
    assert [item["verdict"] for item in found["explanation"]] == ["allowed", "denied", "free"]
    assert not (tmp_path / "audit").exists()
    code, out, _ = validate(
        capsys, "--operator-file", operator, "--properties-file", job, "--conf", "spark.executor.memory=2048m"
    )
    assert code == 0, out


OPERATOR = """
spark.config.providers=file
spark.config.providers.file.param.allowed.paths={}
spark.config.override.policy=Rules
spark.config.override.policy.param.file={}
"""


def test_values_behind_references_are_evaluated_when_asked(capsys, tmp_path):
    secret, operator, rules = tmp_path / "s.properties", tmp_path / "sparkconfig.conf", tmp_path / "r.json"
    secret.write_text(f"good={CANARY}\nbad=other\n")
    rules.write_text(json.dumps({"rules": [{"key": "spark.acme.x", "type": "regex", "pattern": "s3cret.*"}]}))
    operator.write_text(OPERATOR.format(tmp_path, rules))

    def code(name, *more):
        text = f"spark.acme.x=${{file:{secret}:{name}}}"
        return validate(capsys, "--operator-file", operator, "--conf", text, *more)[0]

    assert code("good", "--resolve") == 0
    assert code("bad", "--resolve") == 8
    assert code("gone", "--resolve") == 8
    assert code("good") == 8


@pytest.mark.parametrize("more", [[], ["--resolve"], ["--json"]])
def test_a_reference_that_a_rule_refuses_looks_the_same_whether_it_exists_or_not(capsys, tmp_path, more):
    secret, rules, operator = tmp_path / "s.properties", tmp_path / "r.json", tmp_path / "sparkconfig.conf"
    document = {"rules": [{"key": "spark.acme.x", "type": "regex", "pattern": ".*"}]}
    document["references"] = [{"type": "allow", "provider": "file", "path": "/elsewhere/*"}]
    rules.write_text(json.dumps(document))
    operator.write_text(OPERATOR.format(tmp_path, rules))
    asked = ("--operator-file", operator, "--conf", f"spark.acme.x=${{file:{secret}:password}}", *more)
    absent = validate(capsys, *asked)
    secret.write_text(f"password={CANARY}\n")
    assert validate(capsys, *asked) == absent
    assert absent[0] == 8


def test_a_wrong_policy_is_a_wrong_configuration(capsys, tmp_path):
    file = tmp_path / "p.json"
    file.write_text('{"rules": [{"key": "a", "type": "x"}]}')
    code, _, err = validate(capsys, "--policy", file)
    assert code == 3
    assert "p.json line 1" in err
    assert validate(capsys, "--policy", "Nonee")[0] == 3
    assert validate(capsys, "--sql", tmp_path / "gone.sql")[0] == 4


def test_explain_is_readable(capsys):
    code, out, _ = validate(
        capsys, "--policy", EXAMPLES / "minimal.json", "--conf", "spark.executor.instances=21", "--explain"
    )
    assert code == 8
    assert "minimal.json line 6, rules[0]" in out
    assert "1 finding is not allowed:" in out


def test_what_rules_about_path_do_not_cover_is_said(capsys, tmp_path):
    file = tmp_path / "x.sql"
    file.write_text("SELECT 1;\nSELECT * FROM csv.`file:/etc/passwd`;\nSELECT `a/b` FROM t;\n")
    words = ["--job-type", "connect", "--sql", file]
    code, out, _ = validate(capsys, "--policy", EXAMPLES / "shared-server.json", *words)
    assert code == 0, out
    assert re.search(
        r"shared-server\.json line \d+, rules\[\d+\]: this rule checks writes and the option path only", out
    )
    assert "are decided by the policy's list paths" in out
    assert "pass" not in out
    assert "x.sql line 2: it names a path, which is not checked here" in out
    assert "line 3" not in out
    policy = tmp_path / "paths.json"
    rule = {"key": "path", "type": "regex", "pattern": "s3a:.*", "scopes": ["source"]}
    paths = [{"type": "forbid", "path": "file:/etc/*", "jobTypes": ["connect"]}]
    policy.write_text(json.dumps({"rules": [rule], "paths": paths}))
    for job_type, said in (("connect", "list paths"), ("batch", "pass, and so does LOCATION")):
        code, out, _ = validate(capsys, "--policy", policy, "--job-type", job_type)
        assert said in out, out
    code, out, _ = validate(capsys, "--policy", EXAMPLES / "minimal.json", "--job-type", "connect")
    assert "read any key" not in out


def test_a_rule_that_names_what_clients_set_decides_about_it(capsys, tmp_path):
    policy = tmp_path / "p.json"
    size = "hive.server2.thrift.resultset.default.fetch.size"
    policy.write_text(json.dumps({"rules": [{"key": size, "type": "range", "maxValue": 100}]}))
    words = ["--policy", policy, "--job-type", "sql", "--scope", "session", "--conf"]
    assert validate(capsys, *words, f"{size}=1000")[0] == 8
    assert validate(capsys, *words, f"{size}=100")[0] == 0

"""Creating tables under a policy (KIP-108), and reading SQL files for validate-only."""

import pytest

from sparkconfig.checks.sql import statements
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy import PolicyViolation
from sparkconfig.policy.tables import CreateTablePolicy, CreateTableRequest
from unit.policy.helpers import engine

CANARY = "s3cret-canary-4711"


def tables(*rules):
    return {"tables": list(rules)}


def test_a_request_is_read_only_and_hides_options():
    request = CreateTableRequest("t", options={"password": CANARY}, columns={"a": "INT"})
    with pytest.raises(TypeError):
        request.options["x"] = "y"
    assert CANARY not in repr(request)
    assert request == CreateTableRequest("t", options={"password": CANARY}, columns={"a": "INT"})
    hash(request)
    with pytest.raises(ConfigurationError):
        CreateTableRequest("t", job_type="bach")


@pytest.mark.parametrize(
    ("requirement", "good", "bad"),
    [
        (
            {"provider": {"type": "allowlist", "values": ["delta"]}},
            {"provider": "delta"},
            {"provider": "csv"},
        ),
        ({"provider": {"type": "allowlist", "values": ["delta"]}}, {"provider": "delta"}, {}),
        ({"location": {"type": "forbidden"}}, {}, {"location": "/x"}),
        (
            {"columns": {"type": "range", "maxValue": 1}},
            {"columns": {"a": "INT"}},
            {"columns": {"a": "", "b": ""}},
        ),
        ({"partitions": {"type": "range", "minValue": 1}}, {"partitioning": ("day",)}, {}),
        ({"buckets": {"type": "range", "minValue": 4}}, {"buckets": 4}, {"buckets": 2}),
        ({"buckets": {"type": "range", "minValue": 4}}, {"buckets": 4}, {}),
        (
            {"buckets": {"type": "range", "minValue": 4, "isOptional": True}},
            {},
            {"buckets": 2},
        ),
        ({"properties.Owner": {"type": "regex", "pattern": "a.*"}}, {"properties": {"OWNER": "ab"}}, {}),
        (
            {"options.password": {"type": "regex", "pattern": r"\$\{.*\}", "isOptional": True}},
            {"options": {"password": "${vault:a:b}"}},
            {"options": {"PASSWORD": CANARY}},
        ),
        ({"name": {"type": "regex", "pattern": "[a-z.]+"}}, {}, {"name": "prod.T1"}),
        ({"statement": {"type": "blocklist", "values": ["replace"]}}, {}, {"statement": "replace"}),
    ],
)
def test_requirements(tmp_path, requirement, good, bad):
    checker = engine(tmp_path, tables({"tables": "prod.*", "require": requirement}))
    assert checker.check_table(CreateTableRequest(**{"name": "prod.t", **good})).allowed
    decision = checker.check_table(CreateTableRequest(**{"name": "prod.t", **bad}))
    assert not decision.allowed
    assert "policy.json line 1" in decision.message
    assert CANARY not in decision.message
    assert checker.check_table(CreateTableRequest(**{**bad, "name": "sandbox.t"})).allowed


def test_every_rule_counts_and_job_types_are_told_apart(tmp_path):
    checker = engine(
        tmp_path,
        tables(
            {"require": {"comment": {"type": "unlimited"}}},
            {"tables": "PROD.*", "jobTypes": ["interactive"], "forbid": True, "message": "use the sandbox"},
        ),
    )
    assert not checker.check_table(CreateTableRequest("prod.t")).allowed
    assert checker.check_table(CreateTableRequest("prod.t", comment="x")).allowed
    assert not checker.check_table(
        CreateTableRequest("spark_catalog.Prod.t", "interactive", comment="x")
    ).allowed
    decision = checker.check_table(CreateTableRequest("prod.t", "interactive", comment="x"))
    assert "use the sandbox" in decision.message
    assert not decision.allowed


class Mine(CreateTablePolicy):
    events: list = []  # noqa: RUF012 - a log for one test

    def configure(self, params, defaults):
        self.events.append(("configure", dict(params)))

    def validate(self, request):
        if request.name == "broken":
            raise RuntimeError(CANARY)
        if request.buckets is None:
            raise PolicyViolation(["every table needs buckets, says Mine"])

    def close(self):
        self.events.append("close")


def test_a_class_of_ones_own(tmp_path, monkeypatch):
    import sys
    import types

    module = types.ModuleType("my_tables")
    module.Mine = Mine
    monkeypatch.setitem(sys.modules, "my_tables", module)
    monkeypatch.setattr(Mine, "events", [])
    settings = {
        "create__table__policy": "my_tables.Mine",
        "create__table__policy__param__depth": "3",
    }
    with pytest.raises(ConfigurationError, match="CreateTablePolicy"):
        engine(tmp_path, create__table__policy="sparkconfig.policy.builtin.all.AllPolicy")
    checker = engine(tmp_path, **settings)
    assert "says Mine" in checker.check_table(CreateTableRequest("t")).message
    assert checker.check_table(CreateTableRequest("t", buckets=2)).allowed
    broken = checker.check_table(CreateTableRequest("broken"))
    assert "RuntimeError" in broken.message
    assert CANARY not in broken.message
    checker.close()
    assert Mine.events == [("configure", {"depth": "3"}), "close"]


SQL = """\
-- a comment; with a semicolon
SET spark.sql.shuffle.partitions = 10;
set `spark.sql.x`='a;b' ;
RESET spark.sql.x;
SET -v;
CREATE TABLE IF NOT EXISTS cat.db.t (id BIGINT COMMENT 'x;y', day DATE NOT NULL) USING PARQUET
  OPTIONS ('password' = '${vault:a:b}', compression 'zstd')
  PARTITIONED BY (day, bucket(4, id)) CLUSTERED BY (id) INTO 8 BUCKETS
  LOCATION 's3a://x/y' COMMENT 'hello' TBLPROPERTIES ('owner' = 'me', 'a.b' = 'c');
/* two
   lines */ REPLACE TABLE t2 USING delta AS SELECT 1 AS a;
CREATE TABLE t3 AS SELECT 2;
CREATE TEMPORARY VIEW v USING jdbc OPTIONS (url 'jdbc:x', user 'u');
INSERT INTO t SELECT ';' FROM x;
CREATE TABLE t4 (a INT) SOMETHING ODD
"""


def test_sql_files_are_read():
    found = list(statements(SQL, "sql"))
    assert [item.line for item in found] == [2, 3, 4, 5, 6, 11, 12, 13, 14, 15]
    assert [item.confs for item in found[:4]] == [
        {"spark.sql.shuffle.partitions": "10"},
        {"spark.sql.x": "a;b"},
        {"spark.sql.x": None},
        {},
    ]
    assert found[4].table == CreateTableRequest(
        "cat.db.t",
        "sql",
        "create",
        "parquet",
        {"id": "BIGINT", "day": "DATE"},
        found[4].table.partitioning,
        8,
        "s3a://x/y",
        {"password": "${vault:a:b}", "compression": "zstd"},
        {"owner": "me", "a.b": "c"},
        "hello",
    )
    assert len(found[4].table.partitioning) == 2
    assert (found[5].table.name, found[5].table.statement, found[5].table.provider) == (
        "t2",
        "replace",
        "delta",
    )
    assert found[6].table.statement == "ctas"
    assert found[7].table is None
    assert found[7].options == {"url": "jdbc:x", "user": "u"}
    assert found[8].table is None
    assert "only Spark itself" in found[9].problem


def test_sql_that_ends_inside_a_text_is_an_error_without_the_text():
    with pytest.raises(ConfigurationError, match="ends inside") as caught:
        list(statements(f"SELECT '{CANARY}", "sql"))
    assert CANARY not in str(caught.value)

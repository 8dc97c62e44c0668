"""Each kind of file: what moves, how the reference is written there, what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.plan import FilePlan, Names, expand, plan_file


def planned(folder: Path, name: str, content: str) -> FilePlan:
    path = folder / name
    path.write_bytes(content.encode())
    return plan_file(path, Names("app", {}), provider="s")


def moved(folder: Path, name: str, content: str) -> str:
    plan = planned(folder, name, content)
    assert plan.moves
    values = {move.name: move.value for move in plan.moves}
    new = plan.rewritten()
    assert all((value in new) is False for value in values.values() if len(value) > 3)
    # Every text of the new file means what it meant.
    (folder / name).write_bytes(new.encode())
    again = plan_file(folder / name, Names("app", {}), provider="s")
    assert again.moves == []
    before = [(text.key, text.value) for text in plan.document.texts]
    after = [(text.key, expand(text.value, "s", values)) for text in again.document.texts]
    assert (before == after) is True
    return new


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("spark.a.password  S3cret-1", "spark.a.password  ${s:app:spark.a.password}"),
        ("spark.a.password=S3cr\\u0065t-1 ", "spark.a.password=${s:app:spark.a.password} "),
        ("spark.a.password : S3\\\n   cret", "spark.a.password : ${s:app:spark.a.password}"),
        ("spark\\.a.password=S3cret\r\nx=y", "spark\\.a.password=${s:app:spark.a.password}\r\nx=y"),
        (
            "spark.a.url=jdbc:x\\://h?user=u&password=p4ss&z=1",
            "spark.a.url=jdbc:x\\://h?user=u&password=${s:app:spark.a.url.password}&z=1",
        ),
    ],
)
def test_properties(tmp_path: Path, line: str, new: str) -> None:
    assert moved(tmp_path, "spark-defaults.conf", f"# c\n{line}\n") == f"# c\n{new}\n"


YAML = """\
# an application
kind: SparkApplication
metadata: {{name: x}}
spec:
  sparkConf:
    "spark.app": 'a'
    spark.a.password: {0}
    spark.b.token: "{1}"
    spark.c.url: 'jdbc:x://h?password={2}'
  hadoopConf: {{fs.s3a.secret.key: {3}}}
  driver:
    env:
      - name: DB_PASSWORD
        value: envsecret1
"""


def test_spark_application(tmp_path: Path) -> None:
    names = ["spark.a.password", "spark.b.token", "spark.c.url.password", "spark.hadoop.fs.s3a.secret.key"]
    references = [f"${{s:app:{name}}}" for name in names]
    references[3] = f'"{references[3]}"'  # inside {...} braces need quotes
    new = moved(tmp_path, "a.yaml", YAML.format("S3cret-1", "a\\u0062c1", "p4ss", "k3yk3y"))
    assert new.replace('    spark.b.token: "${', '    spark.b.token: "${') == YAML.format(*references)
    (left,) = planned(tmp_path, "a.yaml", new).left
    assert (left.line, left.key) == (14, "DB_PASSWORD")


def test_a_block_in_yaml(tmp_path: Path) -> None:
    new = moved(
        tmp_path, "a.yaml",
        "kind: SparkApplication\nspec:\n  sparkConf:\n    spark.a.sasl.jaas.config: |\n"
        '      org.x.PlainLoginModule required username="u" password="jj12";\n    spark.z: "1"\n',
    )  # fmt: skip
    assert new.endswith(
        '    spark.a.sasl.jaas.config: "org.x.PlainLoginModule required username=\\"u\\"'
        ' password=\\"${s:app:spark.a.sasl.jaas.config.password}\\";\\n"\n    spark.z: "1"\n'
    )


def test_what_a_reference_would_not_be_read_in_stays(tmp_path):
    assert planned(tmp_path, "x.conf", "spark.a.url jdbc:x://h?x=${&password=abc123\n").moves == []


@pytest.mark.parametrize(
    ("key", "written"),
    [("db.password", "spark.db.password"), ("fs.s3a.secret.key", "spark.hadoop.fs.s3a.secret.key")],
)
def test_what_another_program_reads_stays(tmp_path: Path, key: str, written: str) -> None:
    """It would use the reference as text: a properties file of the job's own, or a store of the provider ``file``."""
    plan = planned(tmp_path, "db.properties", f"{key}=p4ss-77\n")
    assert plan.moves == []
    assert f"for Spark write {written} ${{s:app:{key}}}" in plan.left[0].why


def test_confs_that_hold_no_references_stay(tmp_path: Path) -> None:
    keys = ["spark.ssl.keyPassword", "spark.config.providers.v.param.token"]
    plan = planned(tmp_path, "x.conf", "".join(f"{key} abc123\n" for key in keys))
    assert plan.moves == []
    assert [left.key for left in plan.left] == keys
    assert "before plugins start" in plan.left[0].why


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.yaml", "a: [S3cret"), ("a.conf", "a=\\uS3cret"), ("a.bin", "S3cret\0")],
)
def test_what_cannot_be_read_is_named_and_not_shown(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(ConfigurationError, match=name) as caught:
        planned(tmp_path, name, content)
    assert ("S3cret" in str(caught.value)) is False
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "words",
    ['bash -c "PGPASSWORD=hunter2-abc psql -h db"', "psql -c \"ALTER USER x SET password='hunter2-abc'\""],
)
def test_an_option_of_another_program_is_not_a_conf(tmp_path: Path, words: str) -> None:
    assert planned(tmp_path, "job.sh", f"#!/bin/bash\n{words}\n").moves == []


@pytest.mark.parametrize("nothing", ["~", "null", "", "# pw"])
def test_what_yaml_leaves_empty_is_no_literal(tmp_path, nothing):
    content = f"""apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec:
  sparkConf:
    spark.shop.password: {nothing}
    spark.shop.token: s3cr3t-horse
"""
    plan = planned(tmp_path, "app.yaml", content)
    assert [move.value for move in plan.moves] == ["s3cr3t-horse"]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("    spark.a.password: &pw S3cret-1\n    spark.b.password: *pw\n", ["S3cret-1"]),
        ("    spark.a.password: &pw 'S3cret-1'\n    spark.b.name: *pw\n", ["S3cret-1"]),
        ("    spark.a.password: !!str S3cret-1\n", ["S3cret-1"]),
        ("    spark.a.password: !!str &pw S3cret-1\n    spark.b.token: S3cret-2\n", ["S3cret-1", "S3cret-2"]),
        ("    <<: *base\n    spark.b.token: S3cret-2\n", ["S3cret-0", "S3cret-2"]),
        ("    spark.a.password: &pw |\n      S3cret-1\n    spark.b.password: *pw\n", ["S3cret-1\n"]),
    ],
)
def test_anchors_and_tags_of_yaml_stay(tmp_path: Path, written: str, values: list[str]) -> None:
    content = (
        f"kind: SparkApplication\nbase: &base\n  spark.c.password: S3cret-0\nspec:\n  sparkConf:\n{written}"
    )
    base = [] if "*base" in written else ["S3cret-0"]
    plan = planned(tmp_path, "app.yaml", content)
    assert [move.value for move in plan.moves] == [each.strip() for each in values]
    assert len(plan.left) == len(base)
    moved(
        tmp_path,
        "app.yaml",
        content.replace("base: &base\n  spark.c.password: S3cret-0\n", "") if base else content,
    )

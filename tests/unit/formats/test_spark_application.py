"""Confs of a SparkApplication, as ``resolve`` and ``doctor`` read them: what ``migrate`` writes comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.checks.conf_files import read_confs
from sparkconfig.errors import ConfigurationError
from sparkconfig.formats.spark_application import confs_of, is_yaml

APPLICATION = """\
apiVersion: "sparkoperator.k8s.io/v1beta2"
kind: SparkApplication
metadata: {name: lake}
spec:
  arguments: ['--password', 'argument-1']
  sparkConf:
    "spark.shop.password": "${files:SHOP:password}"
    spark.hadoop.fs.s3a.path.style.access: true
    spark.executor.instances: 2
    spark.config.providers: files
    spark.config.providers.files.class: file
  hadoopConf:
    fs.s3a.secret.key: '${files:SHOP:password}'
---
apiVersion: v1
kind: Secret
stringData: {password: store-4711}
"""
CONFS = {
    "spark.shop.password": "${files:SHOP:password}",
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.executor.instances": "2",
    "spark.config.providers": "files",
    "spark.config.providers.files.class": "file",
    "spark.hadoop.fs.s3a.secret.key": "${files:SHOP:password}",
}


def test_confs_of_an_application_and_nothing_else():
    assert is_yaml(APPLICATION)
    assert confs_of(APPLICATION) == [("lake", CONFS)]


def test_a_scheduled_application():
    nested = APPLICATION.split("---", maxsplit=1)[0].split("spec:\n")[1]
    text = "kind: ScheduledSparkApplication\napiVersion: v1\nspec:\n  template:\n" + "".join(
        f"  {line}\n" for line in nested.splitlines()
    )
    assert confs_of(text) == [("application 1", CONFS)]


def test_several_documents_lists_and_merged_maps():
    text = """\
apiVersion: v1
kind: List
items:
  - kind: SparkApplication
    spec:
      sparkConf: &base {spark.a: "1", spark.b: "1"}
  - kind: SparkApplication
    spec:
      sparkConf:
        <<: *base
        spark.b: "2"
"""
    assert confs_of(text) == [
        ("application 1", {"spark.a": "1", "spark.b": "1"}),
        ("application 2", {"spark.a": "1", "spark.b": "2"}),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("apiVersion: v1\nkind: Secret\n", "holds no SparkApplication"),
        ("apiVersion: v1\nkind: SparkApplication\nspec: {sparkConf: {a: b\n", "not YAML"),
        (
            "apiVersion: v1\nkind: SparkApplication\nspec: {{ toYaml .Values.spec }}\n",
            "not YAML|holds no",
        ),
    ],
)
def test_what_cannot_be_read_names_the_file(tmp_path: Path, text, problem):
    file = tmp_path / "app.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=problem) as caught:
        read_confs([file])
    assert "app.yaml" in str(caught.value)


@pytest.mark.parametrize(
    "text", ["kind: x\n", "spark.a: b\nspark.kind: c\n", "# apiVersion: v1\n# kind: x\nspark.a b\n"]
)
def test_a_properties_file_with_colons_stays_one(text):
    assert not is_yaml(text)

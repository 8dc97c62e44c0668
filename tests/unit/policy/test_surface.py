"""Every message of Connect and every plan, expression and function of SQL is decided, on every Spark.

The tools say what is not.
"""

import json
import shutil
from pathlib import Path

import pyspark
import pytest

from support.surface_tools import undecided

ROOT = Path(__file__).resolve().parents[3]
CONNECT, PLANS = (ROOT / "tools" / "surface" / f"{name}.py" for name in ("connect", "plans"))
FOLDER = ROOT / "jvm-shim" / "src" / "main" / "resources" / "sparkconfig" / "surface"
FILES = ("connect", "plans", "arguments", "expressions", "functions", "keys", "delta", "iceberg")
#: This environment's Spark, and those of the checkout's other environments.
SPARKS = [
    Path(pyspark.__file__).parent,
    *sorted(ROOT.glob(".venvs/pyspark-[0-9]*/lib/python*/site-packages/pyspark")),
]


def of_connect(spark):
    """Spark 3.5 has no Connect server with us."""
    return (spark / "sql" / "connect" / "proto" / "ml_pb2.py").exists()


@pytest.mark.parametrize("spark", SPARKS, ids=lambda path: path.parents[3].name)
def test_nothing_of_a_spark_is_undecided(spark):
    assert undecided(PLANS, spark) == []
    assert not of_connect(spark) or undecided(CONNECT, spark) == []


@pytest.mark.sparks(since="4.0")
def test_a_field_that_no_line_is_about_is_printed_and_so_is_a_line_about_no_field(tmp_path):
    surface = json.loads((FOLDER / "connect.json").read_text(encoding="utf-8"))
    wrong = {"Read.DataSource.predicates": "Read.DataSource.nothing", "Relation.sql": "Relation.no_sql"}
    for group in surface["groups"]:
        for names in group["fields"].values():
            names[:] = [wrong.get(name, name) for name in names]
    (tmp_path / "connect.json").write_text(json.dumps(surface), encoding="utf-8")
    lines = undecided(CONNECT, SPARKS[0], "--file", str(tmp_path / "connect.json"))
    assert [line.partition(": ")[2] for line in lines] == [*wrong, *wrong.values()]
    assert lines[0].startswith("undecided")


def test_a_line_of_sql_that_is_missing_is_printed(tmp_path):
    folder = tmp_path / "surface"
    shutil.copytree(FOLDER, folder)
    missing = {
        "plans": "DropTable",
        "arguments": "CreateTempViewUsing.provider",
        "expressions": "Concat",
        "functions": "from_xml()",
    }
    for name, line in missing.items():
        path = folder / f"{name}.json"
        text = path.read_text(encoding="utf-8")
        assert f'"{line}"' in text
        path.write_text(text.replace(f'"{line}"', '"Nothing"'), encoding="utf-8")
    lines = undecided(PLANS, SPARKS[0], "--folder", str(folder))
    assert sorted(line.partition(": ")[2] for line in lines) == sorted(missing.values())


@pytest.mark.parametrize("name", FILES)
def test_names_are_written_once_and_in_order(name):
    """So that a change shows as the line that it is; what the file may say is tested where Spark reads it."""
    groups = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["groups"]
    assert len({(group["verdict"], group["reason"]) for group in groups}) == len(groups)
    for group in groups:
        for names in group["fields"].values():
            assert names == sorted(set(names))

"""The lists of the shim, from which tools/docs/generate.py makes tables."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[3]
SHIM = ROOT / "jvm-shim"
LISTS = {"Sinks": "Sink", "Doors": "Door", "Bindings": "Binding"}


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "tools" / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("holder", LISTS)
def test_everything_of_a_kind_is_in_its_list(holder) -> None:
    kind = LISTS[holder]
    sources = [path.read_text(encoding="utf-8") for path in SHIM.rglob("*.scala")]
    member = re.compile(rf"\bobject (\w+)\s+extends (?:[\w.]+ with )*{kind}\b")
    (listed,) = [
        found.group(1)
        for text in sources
        if (found := re.search(rf"val all: Seq\[{kind}\] = Seq\(([^)]*)\)", text))
    ]
    assert sorted(re.findall(r"\w+", listed)) == sorted(
        name for text in sources for name in member.findall(text)
    )


def test_a_row_that_is_not_a_constant_is_refused(generate, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "jvm-shim" / "src" / "main" / "scala"
    folder.mkdir(parents=True)
    (folder / "Sinks.scala").write_text("object Sinks { val all: Seq[Sink] = Seq(One) }", encoding="utf-8")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    one = folder / "One.scala"
    one.write_text('object One extends Sink { Seq(Masked("a " + "pipe", "\\"x\\"")) }', encoding="utf-8")
    assert generate.listed("Sinks: Sink", "Masked") == [["a pipe", '"x"']]
    one.write_text('object One extends Sink { Seq(Masked("a", s"$b")) }', encoding="utf-8")
    with pytest.raises(ValueError, match="One of Sinks"):
        generate.listed("Sinks: Sink", "Masked")


def test_every_package_of_the_shim_has_tests_that_are_there():
    table = runpy.run_path(str(ROOT / "tools" / "docs" / "tests_table.py"))
    for name in table["scala"]():
        assert all((ROOT / place).exists() for place in table["COVERS"][name]), name
    for name, places in table["PYTHON"].items():
        assert all((ROOT / place).exists() for place in places), name


# Their pages say that they were never run, and why.
NEVER_RUN = {"databricks-spark.conf.template", "kubernetes-network-policy.yaml.template"}


def test_every_document_in_conf_is_run_by_a_test_or_known_not_to_be(generate):
    """docs/templates.md: which document a test runs with which client."""
    ran = {name for _, names in generate.runs() for name in names}
    assert set(generate.documents()) - ran == NEVER_RUN
    servers = {"beeline", "Hive JDBC", "Kyuubi JDBC", "PyHive", "PySpark Connect"}
    assert servers <= {client for client, names in generate.runs() if "shared-server.json" in names}


def test_links_of_the_site_to_files_of_the_repository() -> None:
    """The schema of policies is a file of the site; folders such as .github are the repository's, too."""
    hook = runpy.run_path(str(ROOT / "tools" / "docs" / "site_hook.py"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri="policies.md"))
    text = "[a](../conf/policies/policy.schema.json) [b](../.github/a.yml) [c](../../x) [d](adr/) [e](examples/f.py)"
    shown = hook["on_page_markdown"](text, page=page, config={"repo_url": "R"}, files=None)
    assert shown == (
        "[a](policy.schema.json) [b](R/blob/main/.github/a.yml) [c](R/blob/main/x) [d](adr/README.md)"
        " [e](R/blob/main/docs/examples/f.py)"
    )


def test_a_cell_says_what_stock_spark_cannot_do_and_our_own_failure_is_an_error(
    tmp_path, generate, monkeypatch
):
    spec = importlib.util.spec_from_file_location("versions", ROOT / "tools" / "docs" / "versions_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.json")
    good = {"start": "ok", "uses": "ok", "frames": "ok"}

    def lines(*cells):
        names = ("spark", "java", "python", "with", "without")
        rows = [dict(zip(names, cell, strict=False), pandas="3", pyarrow="9") for cell in cells]
        module.RESULTS.write_text(json.dumps(rows))
        return module.lines(generate.table)

    dead, old = {"start": "Py4JError"}, {**good, "frames": "TypeError"}
    assert lines(
        ("3.5.9", "17", "3.9", old, {"start": "ok", "frames": "TypeError"}),
        ("3.5.9", "25", "3.10", dead, dead),
        ("4.3.0", "17", "3.10", good),
        ("4.3.0", "25", "3.10", good),
    ) == [
        "| Spark | Python 3.9, pandas 3, pyarrow 9 | Python 3.10, pandas 3, pyarrow 9 |",
        "| --- | --- | --- |",
        "| 4.3.0 |  | 17, 25 |",
        "| 3.5.9 | 17\\* |  |",
        "",
        "- \\* pandas fails on Spark 3.5.9 there without sparkconfig, too",
        "- Spark 3.5.9 does not start on Java 25 without sparkconfig either",
    ]
    for failed in ({**good, "uses": "AssertionError"}, {**good, "frames": "TypeError"}, dead):
        with pytest.raises(ValueError, match=r"4\.3\.0, Java 25, Python 3\.10"):
            lines(("4.3.0", "25", "3.10", failed, {"start": "ok", "frames": "ok"}))

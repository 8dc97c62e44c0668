"""Fragments of a Databricks driver's confs: what others load stays, values are quoted, what cannot work is refused."""

import json
import re

import pytest

from sparkconfig.databricks import confs_of, fragment, fragments_in, is_fragment, main, plugins_of
from sparkconfig.errors import ConfigurationError

OURS = "io.sparkconfig.ConfigPlugin"


@pytest.mark.parametrize(
    ("text", "plugins"),
    [
        ('[driver] {\n  "spark.plugins" = "a.B"\n}', ["a.B"]),
        ('[driver] {\n  "spark.plugins" = "a.B, c.D$E"\n}', ["a.B", "c.D$E"]),
        ("[driver] {\nspark.plugins = a.B\n}", ["a.B"]),
        ('{"spark.plugins": "a.B"\n}', []),
        ('  "spark.plugins" : "a.B"', ["a.B"]),
        ('  # "spark.plugins" = "a.B"', []),
        ('  "spark.plugins.defaultList" = "a.B"', []),
        ('  "spark.plugins" = ""', []),
        ("spark.plugins =\nspark.x = y", []),
    ],
)
def test_plugins_of_other_fragments(text, plugins):
    assert plugins_of([text]) == plugins


def test_plugins_stay_and_ours_comes_once():
    text = fragment({"spark.plugins": f"c.D,{OURS}"}, ["a.B"], agent_python=None)
    assert text == f'[driver] {{\n  "spark.plugins" = "a.B,c.D,{OURS}"\n}}\n'


def test_values_are_quoted_as_in_json():
    awkward = 'a "b" \\c ${x:y} é\n#'
    line = fragment({"spark.x": awkward}, [], agent_python=None).splitlines()[2]
    assert json.loads(line.partition(" = ")[2]) == awkward


def test_the_python_of_the_side_process_unless_it_is_named():
    assert '"spark.config.agent.python" = "/p"' in fragment({}, [], agent_python="/p")
    named = {"spark.config.agent.python": "/own"}
    assert '"spark.config.agent.python" = "/own"' in fragment(named, [], agent_python="/p")


def test_all_problems_at_once_and_no_value():
    confs = {
        "spark.extraListeners": "canary-value",
        "spark.eventLog.dir": "canary-value",
        "spark.x": "{{secrets/canary-value/k}}",
        "spark.config.providers": "canary-value",
    }
    with pytest.raises(ConfigurationError) as error:
        fragment(confs, [], agent_python=None)
    for key in confs:
        assert key in str(error.value)
    assert "canary-value" not in str(error.value)


def test_the_program(tmp_path, capsys):
    (tmp_path / "00-own.conf").write_text('"spark.plugins" = "stale.Plugin"\n')
    (tmp_path / "other.conf").write_text('"spark.plugins" = "a.B"\n')
    arguments = ["--fragments", str(tmp_path), "--own", "00-own.conf"]
    assert main(arguments) == 0
    assert f'"a.B,{OURS}"' in capsys.readouterr().out
    assert main([*arguments, "--confs", str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_a_fragment_is_read_back():
    confs = {"spark.x": 'a "b" \\c ${x:y} é = #', "spark.config.agent.python": "/p"}
    text = fragment(confs, ["a.B"], agent_python="/p")
    assert is_fragment(text)
    assert confs_of(text) == {**confs, "spark.plugins": f"a.B,{OURS}"}


def test_fragments_that_others_wrote():
    text = '# by hand\n[driver] {\n  "spark.a" = "1",\n  spark.b = two words\n  "spark.c" : true\n  "spark.d" = ""\n}\n'
    assert is_fragment(text)
    assert confs_of(text) == {"spark.a": "1", "spark.b": "two words", "spark.c": "true", "spark.d": ""}
    assert not is_fragment("spark.a [driver] {\n")


def test_the_first_by_name_has_the_last_word(tmp_path):
    for name in ("00-own.conf", "spark-branch.conf"):
        (tmp_path / name).write_text(f'[driver] {{\n  "spark.x" = "{name}"\n}}\n')
    (tmp_path / "log.conf").write_text("level = info\n")
    (tmp_path / "unreadable.conf").mkdir()
    names = [path.name for path in fragments_in(tmp_path)]
    assert names == ["unreadable.conf", "spark-branch.conf", "00-own.conf"]


@pytest.mark.parametrize(
    "words",
    [
        ["canary-value"],
        ["--canary-value"],
        ["--fragments", "f", "--own", "o", "--password=canary-value"],
        ["--fragments=canary-value"],
        ["--fragments", "f", "--own", "o", "--conf", "canary-value"],
    ],
)
def test_a_wrong_command_line_is_not_repeated(capsys, words):
    with pytest.raises(SystemExit, match="2"):
        main(words)
    said = capsys.readouterr().err
    assert "canary-value" not in said
    assert "--help" in said


@pytest.mark.parametrize("name", ["secrets", "vault", "d"])
def test_the_advice_about_a_secret_of_databricks_names_the_provider_that_is_declared(name):
    confs = {f"spark.config.providers.{name}.class": "databricks", "spark.x": "{{secrets/a/b}}"}
    with pytest.raises(ConfigurationError, match=re.escape(f"such as ${{{name}:SCOPE:KEY}} here")):
        fragment(confs, [], agent_python="/p")


@pytest.mark.parametrize(
    "host",
    [
        "https://WORKSPACE.cloud.databricks.com", "https://<workspace>.azuredatabricks.net",
        "https://your-workspace.cloud.databricks.com", "https://adb-xxxx.xx.azuredatabricks.net",
        "https://${HOST}.cloud.databricks.com", "https://MY_WORKSPACE.cloud.databricks.com/",
    ],
)  # fmt: skip
def test_the_placeholder_of_a_template_is_not_installed(host):
    with pytest.raises(ConfigurationError, match="the template's placeholder"):
        fragment({"spark.config.providers.s.param.host": host}, [], agent_python="/p")


@pytest.mark.parametrize(
    "host",
    [
        "https://dbc-a1b2.cloud.databricks.com",
        "https://adb-1234.5.azuredatabricks.net",
        "https://${files:/a:b:host}/x",
    ],
)
def test_the_address_of_a_workspace_is_installed(host):
    assert host in fragment({"spark.config.providers.s.param.host": host}, [], agent_python="/p")

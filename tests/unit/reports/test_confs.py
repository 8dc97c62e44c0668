"""Cases from public issues of people who do this job, one test each: confs as ``resolve`` and ``doctor`` see them.

The inputs are of our own making and of the same kinds. Cases that need a running Spark are in tests/spark.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.checks.conf_files import read_confs
from sparkconfig.checks.doctor import diagnose
from sparkconfig.checks.dry_run import Report, check
from sparkconfig.cli.main import main
from sparkconfig.errors import ConfigurationError

BEGIN = "spark.plugins io.sparkconfig.ConfigPlugin\nspark.config.providers store\n"
ENVVAR = f"{BEGIN}spark.config.providers.store.class envvar\n"


def report_of(folder: Path, text: str, name: str = "job.conf") -> Report:
    (folder / name).write_text(text)
    return check(read_confs([folder / name]))


def test_placeholder_said_secret_in_clear(tmp_path: Path) -> None:
    said = report_of(
        tmp_path,
        "spark.hadoop.javax.jdo.option.ConnectionPassword {{secrets/meta/pw}}\n"
        "spark.x.url jdbc:mysql://db/x?user=a&password={{secrets/x/pw}}\nspark.x.password <your password>\n",
    ).warnings
    assert not [each for each in said if "in clear" in each]
    assert sum("Databricks' own syntax" in each for each in said) == 2


def test_unexpanded_shell_variable(tmp_path: Path) -> None:
    said = report_of(
        tmp_path, f"{ENVVAR}spark.a.password ${{PW_A}}\nspark.b.token $PW_B\nspark.c.secret $(PW_C)\n"
    ).warnings
    for name in ("PW_A", "PW_B", "PW_C"):
        assert sum(f"${{envvar:{name}}}" in each for each in said) == 1
    assert not [each for each in said if "in clear" in each]


def test_a_default_of_hadoop_is_no_reference(tmp_path: Path) -> None:
    found = report_of(
        tmp_path, f"{ENVVAR}spark.hadoop.fs.s3a.secret.key ${{env.PW:-x}}\nspark.a.password ${{env.PW:-x}}\n"
    )
    assert found.problems == []
    assert [each.partition(":")[0] for each in found.warnings] == ["spark.a.password"]


def test_non_spark_key(tmp_path: Path) -> None:
    said = report_of(
        tmp_path,
        f"{ENVVAR}fs.s3a.access.key ${{store:HOME}}\nspark.hadoop.fs.x.${{WHERE}}.key ${{store:HOME}}\n",
    ).warnings
    assert any("spark.hadoop.fs.s3a.access.key" in each for each in said)
    assert any("in the name of a conf" in each for each in said)
    found = [f"{each.found}; {each.todo}" for each in diagnose([tmp_path / "job.conf"]).findings]
    assert any("write spark.hadoop.fs.s3a.access.key" in each for each in found)
    assert any("in the name of a conf" in each for each in found)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("spark.x.password ${env.PW_A}", "${envvar:PW_A}"),
        ("spark.x.password ${spark.y.password}", "nothing expands ${spark.y.password}: write a reference"),
        ("spark.driver.extraJavaOptions -Djavax.net.ssl.keyStorePassword=$KS", "before plugins start"),
        ("spark.x.url jdbc:x://h/d?user=a&password=${PW_A}", "${envvar:PW_A}"),
        ("spark.x.url jdbc:x://a:$PW_A@h/d", "${envvar:PW_A}"),
        ("spark.x.password arn:aws:secretsmanager:eu-central-1:1:secret:x", "a placeholder stands here"),
        ("spark.x.url jdbc:x://h/d;password=@PW_A@;a=b", "a placeholder stands here"),
        ("spark.x.url jdbc:x://a:{{pw}}@h/d", "a placeholder stands here"),
        ('spark.x.password "${store:HOME}"', "the quotes around the reference"),
        ("spark.x.password `${store:HOME}`", "the quotes around the reference"),
        ("spark.x.password ${store:HOME} # of the shop", "what follows the reference"),
        ("spark.x.password ${store:HOME};", "what follows the reference"),
        ("spark.x.password $[store:HOME]", "write ${store:PATH:KEY}"),
        ('"spark.x.password" ${store:HOME}', "write spark.x.password"),
        ("--conf spark.x.password=${store:HOME}", "write spark.KEY"),
        ("export X=${store:HOME}", "write spark.KEY"),
    ],
)
def test_what_stands_beside_a_reference_or_in_its_place(tmp_path: Path, line: str, said: str) -> None:
    assert any(said in each for each in report_of(tmp_path, f"{ENVVAR}{line}\n").warnings)


@pytest.mark.parametrize(
    "line",
    [
        "spark.hadoop.fs.s3a.secret.key ${env.PW_A}",
        "spark.ssl.keyPassword ${env:PW_A}",
        "spark.hadoop.fs.x.password ${user.home}/x",
        "spark.x.url jdbc:x://h/d?user=a&password=${store:HOME}",
        "spark.x.names ${store:HOME},b",
        "spark.x.query SELECT 1 WHERE token = :token AND password = ?",
        "spark.x.pattern %d{HH} [%t] key=%X{key} %c{1}",
        "spark.x.rule ${store:HOME}; b",
    ],
)
def test_what_is_right_is_not_said(tmp_path: Path, line: str) -> None:
    assert report_of(tmp_path, f"{ENVVAR}{line}\n").warnings == []


@pytest.mark.parametrize("name", ["poll.interval", "provider.timeout"])
@pytest.mark.parametrize("given", ["7", "0", "-1", "99ms", "0.2s", "50us"])
def test_poll_interval_unit(
    tmp_path: Path, given: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.conf").write_text(f"{ENVVAR}spark.config.{name} {given}\n")
    assert main(["resolve", "--dry-run", str(tmp_path / "job.conf")]) == 3
    assert ("if you mean seconds" in capsys.readouterr().err) is (given == "7")


def test_poll_interval_unit_of_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "spark.config.providers store\nspark.config.providers.store.class exec\n"
    lines += (
        "spark.config.providers.store.param.command /bin/true {path}\nspark.config.providers.store.param.ttl "
    )
    for given, said in {
        "5": "write 5s if you mean seconds",
        "99ms": "at least 100",
        "9999999999d": "at most 3650d",
    }.items():
        (tmp_path / "job.conf").write_text(f"{lines}{given}\n")
        assert main(["resolve", "--dry-run", str(tmp_path / "job.conf")]) == 3
        assert said in capsys.readouterr().err


def test_resolve_yaml(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    found = report_of(
        tmp_path,
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nspec:\n  sparkConf:\n"
        "    spark.config.providers: store\n    spark.config.providers.store.class: envvar\n"
        "    spark.x.password: ${store:HOME}\n  hadoopConf:\n    fs.s3a.secret.key: ${store:HOME}\n",
        "app.yaml",
    )
    assert found.problems == []
    assert [row.key for row in found.rows] == ["spark.x.password", "spark.hadoop.fs.s3a.secret.key"]


def test_resolve_yaml_that_migrate_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    app, key = tmp_path / "app.yaml", ["--key-file", str(tmp_path / "k.key")]
    app.write_text(
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata:\n  name: shop\nspec:\n"
        "  sparkConf:\n    spark.plugins: io.sparkconfig.ConfigPlugin\n    spark.shop.password: correct-horse-71\n"
        "  hadoopConf:\n    fs.s3a.secret.key: wJalrXUtnFEMI/K7MDENG\n"
    )
    to = ["--new-key", *key, "--sealed-file", str(tmp_path / "s.sealed")]
    assert main(["migrate", "--apply", *to, str(app)]) == 0
    assert "correct-horse-71" not in app.read_text()
    assert main(["resolve", "--dry-run", str(app)]) == 0
    capsys.readouterr()
    main(["doctor", "--json", "--file", str(app)])
    found = json.loads(capsys.readouterr().out)["findings"]
    levels = {each["area"]: each["level"] for each in found}
    assert (levels["plugin"], levels["references"]) == ("ok", "ok")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("compose.yml", "services:\n  spark:\n    image: x\n"),
        ("values.yaml", "sparkConf:\n  spark.x.password: ${store:HOME}\n"),
        ("map.json", '{"kind": "ConfigMap", "data": {"spark.x.password": "${store:HOME}"}}'),
    ],
)
def test_resolve_yaml_of_another_kind_is_no_properties_file(tmp_path: Path, name: str, text: str) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    with pytest.raises(ConfigurationError, match="holds no SparkApplication"):
        report_of(tmp_path, text, name)

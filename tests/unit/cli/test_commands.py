"""The other commands: resolve, jar, install, init; help, start-up time, exit codes as documented."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig import __version__
from sparkconfig._spark import jars
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
VALUE = "commands-canary-02b7-value"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOP_PASSWORD", VALUE)
    path = tmp_path / "job.properties"
    path.write_text(
        "spark.config.providers envvar\n"
        "spark.config.providers.envvar.param.allowlist.pattern SHOP_.*\n"
        "spark.shop.password ${envvar:SHOP_PASSWORD}\n"
        "spark.shop.home ${sys:user.home}\n"
    )
    return path


def output(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    shown = (captured.out + captured.err).count(VALUE)
    assert shown == 0, "a value was printed"
    return captured.out + captured.err


class TestResolve:
    def test_what_would_be_answered(self, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["resolve", "--dry-run", str(job), "--json"]) == 0
        report = json.loads(output(capsys))
        assert report["problems"] == []
        (row,) = report["references"]
        assert row == {
            "key": "spark.shop.password", "reference": "${envvar:SHOP_PASSWORD}", "provider": "envvar",
            "state": "ok", "problem": None,
        }  # fmt: skip

    def test_explain(self, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["resolve", "--dry-run", "--explain", str(job), "--json"]) == 0
        (row,) = json.loads(output(capsys))["references"]
        assert (row["provider_class"], row["path"], row["name"], row["ttl"], row["generation"]) == (
            "EnvVarConfigProvider", "", "SHOP_PASSWORD", None, 1,
        )  # fmt: skip
        assert main(["resolve", "--dry-run", "--explain", str(job)]) == 0
        assert "EnvVarConfigProvider" in output(capsys)

    def test_explain_of_substitutions_shows_no_modifier(
        self, job: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with job.open("a") as stream:
            stream.write("spark.config.substitution.enabled true\n")
            stream.write("spark.a <$[envVar/defaultValue=d3fault/=NONE]$[keyValue=spark.shop.password]>\n")
            stream.write("spark.b $[asd_4Q!]uH6\nspark.c $[sysProp=x.y]\n")
        assert main(["resolve", "--dry-run", "--explain", str(job)]) == ExitCode.UNRESOLVED
        text = output(capsys)
        assert "d3fault" not in text
        assert "asd_4Q" not in text
        assert "A dry run has no JVM" in text
        assert main(["resolve", "--dry-run", "--explain", "--json", str(job)]) == ExitCode.UNRESOLVED
        found = json.loads(output(capsys))
        assert [tuple(row.values()) for row in found["substitutions"]] == [
            ("spark.a", "envVar", "NONE", "ok"),
            ("spark.a", "keyValue", "spark.shop.password", "ok"),
            ("spark.b", None, None, "stays as text"),
            ("spark.c", "sysProp", "x.y", "no value"),
        ]
        origins = {row["key"]: row["generation"] for row in found["references"]}
        assert origins == {"spark.shop.password": 1, "spark.a": 1}  # spark.a is made of the other one

    def test_all_problems_at_once(self, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with job.open("a") as stream:
            stream.write("spark.a ${envvar:SHOP_ABSENT}\nspark.b ${envar:SHOP_PASSWORD}\n")
            stream.write("spark.driver.extraJavaOptions -Dx=${envvar:SHOP_PASSWORD}\n")
        conf = ["--conf", "spark.c=${envvar:HOME}"]
        assert main(["resolve", "--dry-run", str(job), *conf]) == ExitCode.UNRESOLVED
        text = output(capsys)
        assert "4 problems" in text
        for part in ("SHOP_ABSENT", "did you mean 'envvar'", "reads it before plugins start", "spark.c"):
            assert part in text

    def test_an_unknown_provider_may_be_a_password(
        self, job: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with job.open("a") as stream:
            stream.write(f"spark.a p${{{VALUE}:{VALUE}}}\n")
        assert main(["resolve", "--dry-run", "--explain", "--json", str(job)]) == ExitCode.UNRESOLVED
        assert json.loads(capsys.readouterr().out)["references"][1]["reference"] == "(not shown)"

    def test_values_are_never_printed_so_dry_run_is_needed(self, job: Path) -> None:
        assert main(["resolve", str(job)]) == ExitCode.USAGE

    def test_wrong_settings_and_files(
        self, job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        conf = ["--conf", "spark.config.unresolved=maybe", "--conf", "spark.config.providers=envvar,valut"]
        assert main(["resolve", "--dry-run", str(job), *conf]) == ExitCode.CONFIGURATION
        text = output(capsys)
        assert "spark.config.unresolved" in text
        assert "valut" in text
        assert main(["resolve", "--dry-run", str(tmp_path / "absent")]) == ExitCode.NOT_FOUND
        assert "absent cannot be read" in output(capsys)

    def test_the_operators_file_wins(
        self, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        operator = tmp_path / "sparkconfig.conf"
        operator.write_text("spark.config.providers=envvar\n")
        monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
        assert main(["resolve", "--dry-run", str(job), "--json"]) == ExitCode.UNRESOLVED
        report = json.loads(output(capsys))
        assert report["operator_file"] == str(operator)
        assert [problem.split(":")[0] for problem in report["problems"]] == [
            "spark.config.providers", "spark.config.providers.envvar.param.allowlist.pattern",
        ]  # fmt: skip
        assert report["references"][0]["state"] == "ok"

    def test_what_connections_of_the_operators_file_refer_to(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("SHOP_USER", VALUE)
        operator = tmp_path / "sparkconfig.conf"
        shop = "spark.config.connections.shop.option."
        operator.write_text(
            "spark.config.providers=envvar\nspark.config.providers.envvar.param.allowlist.pattern=SHOP_.*\n"
            f"spark.config.connections.shop.format=jdbc\n{shop}user=${{envvar:SHOP_USER}}\n{shop}password=${{envvar:SHOP_ABSENT}}\n"
        )
        command = ["resolve", "--dry-run", "--operator-file", str(operator), "--json"]
        assert main(command) == ExitCode.UNRESOLVED
        rows = json.loads(output(capsys))["references"]
        assert {row["key"]: row["state"] for row in rows} == {
            f"{shop}user": "ok",
            f"{shop}password": "no value",
        }
        assert main(command[:2]) == ExitCode.USAGE


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the commands look at in a Spark 3.5, and a package with all jars."""
    package = tmp_path / "package"
    package.mkdir()
    for scala in ("2.12", "2.13"):
        (package / f"sparkconfig_{scala}-{__version__}.jar").write_bytes(scala.encode())
        (package / f"sparkconfig-kafka_{scala}-{__version__}.jar").write_bytes(b"kafka")
    monkeypatch.setattr(jars, "FOLDER", package)
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    (home / "jars" / "spark-core_2.12-3.5.9.jar").touch()
    return home


class TestJar:
    @pytest.mark.parametrize("more", [[], ["--kafka"]])
    def test_the_one_that_fits(
        self, spark: Path, more: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        name = "sparkconfig-kafka" if more else "sparkconfig"
        assert main(["jar", "--spark-home", str(spark), *more]) == 0
        assert output(capsys).strip() == str(jars.FOLDER / f"{name}_2.12-{__version__}.jar")
        assert main(["jar", "--scala", "2.13", "--json", *more]) == 0
        assert json.loads(output(capsys))["jar"].endswith(f"{name}_2.13-{__version__}.jar")

    def test_spark_home_wins_over_pyspark(
        self, spark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("SPARK_HOME", str(spark))
        assert main(["jar", "--json"]) == 0
        assert json.loads(output(capsys))["spark"] == "3.5.9"


def submit(spark: Path, script: str) -> None:
    """Put a shell script into the place of spark-submit."""
    (spark / "bin").mkdir()
    (spark / "bin" / "spark-submit").write_text(f"#!/bin/sh\n{script}\n")
    (spark / "bin" / "spark-submit").chmod(0o755)


class TestInstall:
    def test_install_update_uninstall(self, spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
        older = spark / "jars" / "sparkconfig_2.12-0.0.1.jar"
        older.touch()
        target = spark / "jars" / f"sparkconfig_2.12-{__version__}.jar"
        others = {"spark-core_2.12-3.5.9.jar"}
        assert main(["install", "--spark-home", str(spark), "--json"]) == 0
        first = json.loads(output(capsys))
        assert (first["changed"], first["removed"]) == (True, [str(older)])
        assert target.read_bytes() == b"2.12"
        assert main(["install", "--spark-home", str(spark)]) == 0
        assert "there already" in output(capsys)
        assert {path.name for path in (spark / "jars").iterdir()} == {target.name, *others}
        for expected in ([str(target)], []):
            assert main(["install", "--spark-home", str(spark), "--uninstall", "--json"]) == 0
            assert json.loads(output(capsys))["removed"] == expected
        assert {path.name for path in (spark / "jars").iterdir()} == others

    def test_an_archive_of_classes(self, spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
        # A stand-in of ours for spark-submit, which writes what Java would; bench_startup.py --cds runs the real one.
        submit(
            spark,
            "for word; do case $word in *ArchiveClassesAtExit*) file=${word#*AtExit=};; esac; done\n"
            'test ! -e "$SPARK_CONF_DIR" && echo x > "${file%% *}"',
        )
        archive = spark / "classes.jsa"
        install = ["install", "--spark-home", str(spark), "--cds", str(archive), "--json"]
        assert main(install) == 0
        cds = json.loads(output(capsys))["cds"]
        assert cds["bytes"] == archive.stat().st_size
        assert cds["confs"]["spark.driver.extraClassPath"] == f"{spark}/jars/*"
        assert f"-XX:SharedArchiveFile={archive}" in cds["confs"]["spark.driver.extraJavaOptions"]
        assert main([*install, "--uninstall"]) == 0
        assert sorted(path.name for path in spark.iterdir()) == ["bin", "jars"]

    @pytest.mark.parametrize(
        ("script", "told"), [("echo no session; exit 1", "no session"), ("exit 0", "Java wrote no archive")]
    )
    def test_an_archive_that_cannot_be_written(
        self, spark: Path, capsys: pytest.CaptureFixture[str], script: str, told: str
    ) -> None:
        submit(spark, script)
        archive = spark / "classes.jsa"
        archive.write_text("the old one")
        install = ["install", "--spark-home", str(spark), "--cds", str(archive)]
        assert main(install) == ExitCode.CONFIGURATION
        assert told in output(capsys)
        assert archive.read_text() == "the old one"
        assert main([*install[:-1], str(spark / "none" / "classes.jsa")]) == ExitCode.NOT_FOUND
        assert "classes.jsa" in output(capsys)


class TestInit:
    def test_the_lines_are_usable(self, spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
        from sparkconfig.formats import properties

        arguments = ["init", "--spark-home", str(spark), "--sealed-file", "/s p/s.sealed", "--key-file", "/k"]
        assert main([*arguments, "--for", "defaults"]) == 0
        confs = properties.loads(output(capsys))
        assert confs["spark.plugins"] == "io.sparkconfig.ConfigPlugin"
        assert confs["spark.config.providers.sealed.param.file"] == "/s p/s.sealed"
        assert main([*arguments, "--for", "builder"]) == 0
        compile(output(capsys), "builder", "exec")
        assert main([*arguments, "--for", "submit"]) == 0
        import shlex

        words = shlex.split(output(capsys))
        assert "spark.config.providers.sealed.param.file=/s p/s.sealed" in words
        assert main(arguments) == 0
        assert "${sealed:shop:password}" in output(capsys)

    def test_its_provider_takes_the_files_of_any_folder(
        self, spark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from sparkconfig.resolution.declared import load_providers

        monkeypatch.chdir(tmp_path)
        files = ["--sealed-file", "s.sealed", "--key-file", "k"]
        assert main(["seal", "create", "--new-key", "--file", "s.sealed", "--key-file", "k"]) == 0
        output(capsys)
        assert main(["init", "--spark-home", str(spark), *files, "--json"]) == 0
        shown = json.loads(output(capsys))
        own = {key: text for key, text in shown["confs"].items() if key.startswith("spark.config.")}
        monkeypatch.chdir("/")
        load_providers(own).close()
        assert own["spark.config.providers.sealed.param.key.file"] == str(tmp_path / "k")
        assert str(tmp_path / "k") in shown["builder"]
        assert str(tmp_path / "k") in shown["submit"]

    def test_a_key_that_is_no_file(self, spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["init", "--spark-home", str(spark), "--key-env", "SHOP_KEY", "--json"]) == 0
        confs = json.loads(output(capsys))["confs"]
        assert confs["spark.config.providers.sealed.param.key.env"] == "SHOP_KEY"
        assert "spark.config.providers.sealed.param.key.file" not in confs

    def test_the_jar_stands_where_the_jars_of_a_job_do_not_replace_it(
        self, spark: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["init", "--spark-home", str(spark), "--json"]) == 0
        shown = json.loads(output(capsys))
        assert "spark.jars" not in shown["confs"]
        for role in ("driver", "executor"):
            assert shown["confs"][f"spark.{role}.extraClassPath"] == shown["jar"]
        assert shown["jar"] in shown["submit"]

    LISTS = (
        "spark.plugins org.example.Plugin\n"
        "spark.driver.extraClassPath /opt/jdbc.jar:/old/sparkconfig_2.13-0.0.1.jar\n"
        "spark.executor.extraClassPath /opt/jdbc.jar\n"
        "spark.config.providers vault\nspark.jars /opt/a.jar\n"
    )

    @pytest.mark.parametrize("of", ["SPARK_HOME", "--conf-file", ">>"])
    def test_lists_of_the_file_stay(
        self, of: str, spark: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        (spark / "conf").mkdir()
        file = spark / "conf" / "spark-defaults.conf" if of == "SPARK_HOME" else tmp_path / "job.conf"
        file.write_text(self.LISTS)
        command = [
            "init",
            "--spark-home",
            str(spark),
            *(["--conf-file", str(file)] if of == "--conf-file" else []),
        ]
        if of == ">>":
            with file.open("a") as stream:
                subprocess.run([sys.executable, "-m", "sparkconfig", *command, "--for", "defaults"],
                               stdout=stream, check=True)  # fmt: skip
            from sparkconfig.formats import properties

            confs = properties.load(file.read_bytes())
        else:
            assert main([*command, "--json"]) == 0
            shown = json.loads(capfd.readouterr().out)
            confs = shown["confs"]
            assert "--jars /opt/a.jar," in shown["submit"]
            assert "spark.plugins=org.example.Plugin,io.sparkconfig.ConfigPlugin" in shown["submit"]
        assert confs["spark.plugins"] == "org.example.Plugin,io.sparkconfig.ConfigPlugin"
        for role in ("driver", "executor"):
            first, own = confs[f"spark.{role}.extraClassPath"].split(":")
            assert (first, Path(own).name[:14]) == ("/opt/jdbc.jar", "sparkconfig_2.")
        assert confs["spark.config.providers"] == "vault,sealed"

    def test_a_provider_that_the_file_declares_otherwise_is_not_replaced(
        self, spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "job.conf").write_text(
            "spark.config.providers sealed\nspark.config.providers.sealed.param.file /other\n"
        )
        command = ["init", "--spark-home", str(spark), "--conf-file", str(tmp_path / "job.conf")]
        assert main(command) == ExitCode.CONFIGURATION
        assert (
            "declares the provider 'sealed' already, with other settings; name another with --provider"
            in output(capsys)
        )

    def test_without_a_file_it_says_that_later_lines_win(
        self, spark: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["init", "--spark-home", str(spark), "--for", "defaults"]) == 0
        assert "--conf-file" in output(capsys).splitlines()[0]

    def test_what_is_there_is_not_made_again(
        self, spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        sealed, key = tmp_path / "s", tmp_path / "k"
        command = ["init", "--spark-home", str(spark), "--sealed-file", str(sealed), "--key-file", str(key)]
        for file, line in (
            (None, f"seal create --new-key --key-file {key}"),
            (key, f"seal create --key-file {key}"),
        ):
            if file:
                file.touch()
            assert main(command) == 0
            assert line in output(capsys)
        sealed.touch()
        assert main(command) == 0
        assert ("seal create" in (shown := output(capsys)), "seal set" in shown) == (False, True)

    def test_after_install_no_path_of_the_jar_is_needed(
        self, spark: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["install", "--spark-home", str(spark)]) == 0
        output(capsys)
        assert main(["init", "--spark-home", str(spark), "--json"]) == 0
        shown = json.loads(output(capsys))
        assert not [key for key in shown["confs"] if "jars" in key or "ClassPath" in key]
        assert ("--jars" in shown["submit"], "--jars" in shown["defaults"]) == (False, False)


def test_the_exit_codes_are_the_documented_ones() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| (\d+) \| `([A-Z_]+)`", text, re.MULTILINE)
    assert [(int(code), name) for code, name in documented] == [(int(code), code.name) for code in ExitCode]


def test_a_reader_that_goes_away_is_not_an_error() -> None:
    shell = shutil.which("sh") or "sh"
    command = f"{sys.executable} -m sparkconfig jar --scala 2.13 --json; echo $? >&2"
    done = subprocess.run([shell, "-c", f"({command}) | true"], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr

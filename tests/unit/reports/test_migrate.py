"""The same for files that ``migrate`` reads: a place that something else fills in is neither sealed nor counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.cli.main import main

PLACEHOLDERS = [
    "$REPORT_PW", "${REPORT_PW}", "$(REPORT_PW)", "%%REPORT_PW%%", "__REPORT_PW__", "@REPORT_PW@", "<your password>",
    "{{ report.pw }}",
    "$(REPORT_PW)-x", "x-${REPORT_PW}", "${A}${B}", "${env:REPORT_PW}", "$report_pw", "{REPORT_PW}", "##REPORT_PW##",
    "%{REPORT_PW}", "REPLACE_ME", "changeme", "TODO",
    "{{secrets/report/pw}}", "%(report_pw)s", "${{ secrets.REPORT_PW }}", "#{REPORT_PW}#", "<%= pw %>",
]  # fmt: skip
SEALED = ["--apply", "--sealed-file", "s.sealed", "--key-file", "s.key", "--new-key"]


@pytest.mark.parametrize("text", PLACEHOLDERS)
@pytest.mark.parametrize("name", ["a.conf.template", "app.yaml", "run.sh"])
def test_migrate_template_placeholders(
    tmp_path: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    monkeypatch.chdir(tmp_path)
    written = {
        "yaml": "kind: SparkApplication\napiVersion: sparkoperator.k8s.io/v1beta2\nspec:\n  sparkConf:\n"
        f'    spark.report.password: "{text}"\n',
        "sh": f"spark-submit --conf 'spark.report.password={text}' job.py\n",
        "template": f"spark.report.password {text}\n",
    }[name.rpartition(".")[2]]
    (tmp_path / name).write_text(written)
    (tmp_path / "job.py").write_text(f'password = "{text}"\n')
    assert main(["migrate", name, "job.py", *SEALED]) == 0
    shown = capsys.readouterr().out
    assert "0 secrets moved, 0 left" in shown
    assert ("filled in by something else: write the reference there by hand" in shown) is (name != "run.sh")
    assert (tmp_path / name).read_text() == written


def test_no_sign_of_our_own_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that a program puts together: what is computed stands as {...}."""
    (tmp_path / "a.py").write_text(
        'c.set(f"fs.azure.account.key.{account}.net", "c2hvcC1rZXk")\nc.set("spark.%s.password" % a, "report-pw-774")\n'
        'd = {f"{x}_password": "report-pw-775"}\nc.set("spark." + a + ".token", "report-pw-776")\n'
    )
    for arguments in ([], ["--json"]):
        main(["migrate", str(tmp_path / "a.py"), *arguments])
        shown = capsys.readouterr().out
        assert not [sign for sign in shown if not sign.isprintable() and sign != "\n"]
        assert "ufff" not in shown
        assert "fs.azure.account.key.{account}.net" in shown
        assert "4 left" in shown or '"left": 4' in shown


def test_set_literal_in_event_log() -> None:
    """What redaction cannot know is said where its limits are."""
    page = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text()
    assert "`SET`" in page
    assert "event log" in page


@pytest.mark.parametrize(
    "line",
    [
        'echo "spark.report.password report-pw-771" >> spark-defaults.conf',
        "echo 'password=report-pw-771' | tee x.properties",
        'printf "password=report-pw-771\\n" > x.properties',
        "cat > x.conf <<EOF\nspark.report.password report-pw-771\nEOF",
        "export REPORT_PASSWORD=${REPORT_PASSWORD:-report-pw-771}",
        "spark-submit --conf spark.report.password=${PW:=report-pw-771} job.py",
    ],
)
def test_migrate_script_default(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.sh").write_text(f"#!/bin/bash\n{line}\n")
    assert main(["migrate", str(tmp_path / "run.sh")]) == 1
    shown = capsys.readouterr().out
    assert "0 secrets to move, 1 left" in shown
    assert "report-pw" not in shown


def test_a_file_of_an_environment_in_a_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("password=report-pw-772\n")
    (tmp_path / ".env").write_text("REPORT_PASSWORD=report-pw-773\n")
    (tmp_path / "a.properties").write_text("a=b\n")
    main(["migrate", str(tmp_path)])
    shown = capsys.readouterr().out
    assert ".env" in shown
    assert ".git" not in shown

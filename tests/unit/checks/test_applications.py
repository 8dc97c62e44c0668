"""Each application of a file is judged by itself: a later one neither hides nor mends what an earlier one lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.checks.doctor import diagnose
from sparkconfig.checks.doctor.finding import Level
from sparkconfig.cli.main import main

pytest.importorskip("yaml", reason="the extra yaml")

PROVIDER = ("spark.config.providers: store", "spark.config.providers.store.class: envvar")
GOOD = (*PROVIDER, "spark.x.password: ${store:HOME}")
MISSING = (*PROVIDER, "spark.x.password: ${store:NOT_THERE_77}")
UNDECLARED = ("spark.x.password: ${nowhere:HOME}",)


def document(name: str, confs: tuple[str, ...], kind: str = "SparkApplication") -> str:
    metadata = f"metadata: {{name: {name}}}\n" if name else ""
    spec = (
        "spec:\n  template:\n    sparkConf:\n" if kind.startswith("Scheduled") else "spec:\n    sparkConf:\n"
    )
    return f"apiVersion: v1\nkind: {kind}\n{metadata}{spec}" + "".join(f"      {conf}\n" for conf in confs)


def listed(*documents: str) -> str:
    items = ("  - " + each.rstrip().replace("\n", "\n    ") + "\n" for each in documents)
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(items)


def separate(*documents: str) -> str:
    return "---\n".join(documents)


FILES = {
    "first wrong": ([separate(document("one", MISSING), document("two", GOOD))], {"one"}),
    "last wrong": ([separate(document("one", GOOD), document("two", MISSING))], {"two"}),
    "provider of the other": ([separate(document("one", GOOD), document("two", UNDECLARED))], {"two"}),
    "a list": ([listed(document("one", MISSING), document("two", GOOD))], {"one"}),
    "a list beside a document": (
        [separate(listed(document("one", GOOD), document("two", MISSING)), document("three", GOOD))], {"two"},
    ),
    "scheduled": ([separate(document("one", MISSING, "ScheduledSparkApplication"), document("two", GOOD))], {"one"}),
    "of Connect": ([separate(document("one", MISSING, "SparkConnect"), document("two", GOOD))], {"one"}),
    "without a name": ([separate(document("", MISSING), document("two", GOOD))], {"application 1"}),
    "one name twice": ([separate(document("one", GOOD), document("one", MISSING))], {"one (2)"}),
    "two files": ([document("one", MISSING), document("two", GOOD)], {"one"}),
    "both wrong": ([separate(document("one", MISSING), document("two", UNDECLARED))], {"one", "two"}),
    "another kind": ([separate(document("one", MISSING), "kind: Secret\n", document("two", GOOD))], {"one"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_each_application_is_judged_by_itself(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    contents, wrong = FILES[name]
    files = [tmp_path / f"{number}.yaml" for number in range(len(contents))]
    for path, content in zip(files, contents, strict=True):
        path.write_text(content)
    assert main(["resolve", "--dry-run", *map(str, files)]) == 1
    shown = capsys.readouterr().out
    problems = shown[shown.index("problem") :].splitlines()[1:]
    assert {line.strip(" -").partition(": ")[0] for line in problems} == wrong
    main(["resolve", "--dry-run", "--json", *map(str, files)])
    data = json.loads(capsys.readouterr().out)
    assert {row["application"] for row in data["references"] if row["problem"]} == wrong
    errors = [
        each.found
        for each in diagnose(files).findings
        if each.level is Level.ERROR and "x.password" in each.found
    ]
    assert {found.partition(": ")[0] for found in errors} == wrong


def test_what_all_have_in_common_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(separate(document("one", GOOD), document("two", GOOD)))
    areas = [each.area for each in diagnose([path]).findings]
    assert areas.count("java") == 1
    assert areas.count("references") == 1


def test_confs_of_a_properties_file_count_for_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(separate(document("one", GOOD[2:]), document("two", MISSING[2:])))
    (tmp_path / "b.conf").write_text("\n".join(PROVIDER).replace(": ", " "))
    for files in (["a.yaml", "b.conf"], ["b.conf", "a.yaml"]):
        assert main(["resolve", "--dry-run", *(str(tmp_path / each) for each in files)]) == 1
        assert "1 problem" in capsys.readouterr().out
    for key in ("spark.y.password", "spark.x.password"):
        given = ["--conf", f"{key}=${{store:HOME}}"]
        code = main(["resolve", "--dry-run", *(str(tmp_path / each) for each in files), *given])
        assert code == (1 if key == "spark.y.password" else 0)


def test_wrong_settings_of_one_do_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(separate(document("one", ("spark.config.nothing: x",)), document("two", MISSING)))
    assert main(["resolve", "--dry-run", str(path)]) == 3
    said = capsys.readouterr().err
    assert "one: spark.config.nothing: no such setting" in said
    assert "two: spark.x.password" in said


@pytest.mark.parametrize(
    "command", [["validate", "--job-type", "batch", "--properties-file"], ["run", "--properties-file"]]
)
def test_who_needs_one_application_refuses_several(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(separate(document("one", GOOD), document("two", GOOD)))
    more = ["--", "cat", "{properties}"] if command[0] == "run" else []
    assert main([*command, str(path), *more]) == 3
    assert "2 applications (one, two)" in capsys.readouterr().err


def test_migrate_declares_the_provider_where_secrets_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In each application that gets references, and in no other one: that would need the key for nothing."""
    monkeypatch.chdir(tmp_path)
    secret = "spark.x.password: applications-canary-"
    names = ("one", "two", "three", "four")
    confs = ((f"{secret}1",), ("spark.a: b",), (f"{secret}3",), (*PROVIDER, f"{secret}4"))
    (tmp_path / "a.yaml").write_text(separate(*map(document, names, confs)))
    arguments = ["--apply", "--sealed-file", "s.sealed", "--key-file", "s.key", "--new-key"]
    assert main(["migrate", "a.yaml", *arguments]) == 0
    assert "four: spark.config.providers names other providers: add sealed" in capsys.readouterr().out
    written = (tmp_path / "a.yaml").read_text().split("---\n")
    assert ["spark.config.providers.sealed.class" in each for each in written] == [True, False, True, False]
    assert "applications-canary" not in "".join(written)
    assert main(["resolve", "--dry-run", "a.yaml"]) == 1
    shown = capsys.readouterr().out
    assert "four: " in shown[shown.index("problem") :]
    assert "one: " not in shown[shown.index("problem") :]

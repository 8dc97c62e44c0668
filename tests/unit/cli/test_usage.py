"""Wrong command lines: what they say, and that they repeat no word."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparkconfig
from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main, parser

SECRET = "usage-canary-77aa-value"
ENVIRON = {**os.environ, "PYTHONPATH": str(Path(sparkconfig.__file__).parents[1])}


def commands(top: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and subcommand, as its words."""
    yield words
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from commands(inner, (*words, name))


EVERY = [words for words in commands(parser()) if words]
TYPED = (
    (SECRET,), (SECRET, SECRET), (f"--{SECRET}",), (f"--password={SECRET}",), (f"-{SECRET}",), ("--", SECRET),
    (f"--json={SECRET}",), (f"--file={SECRET}", f"--fil={SECRET}"), (f"--help={SECRET}",),
)  # fmt: skip
# These take names in place, which a message may have to repeat: files, sealed names, providers.
NAMES = {
    ("resolve",),
    ("migrate",),
    ("scrub", "find"),
    ("scrub", "clean"),
    ("seal", "remove"),
    ("providers", "test"),
}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    shown = (captured.out + captured.err).count(SECRET)
    assert shown == 0, "a word of the command line was repeated"
    return captured.out + captured.err


def test_every_command_is_tried() -> None:
    assert {words[0] for words in EVERY} >= {"init", "seal", "resolve", "validate", "refresh", "doctor"}
    assert ("seal", "set") in EVERY
    assert ("providers", "test") in EVERY


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
@pytest.mark.parametrize("typed", TYPED, ids=range(len(TYPED)))
def test_no_command_repeats_what_it_does_not_understand(
    words: tuple[str, ...], typed: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if words == ("refresh",) and typed == (SECRET,):
        assert main([*words, *typed]) == ExitCode.NOT_FOUND
    elif words in NAMES and SECRET in typed:
        return
    else:
        assert main([*words, *typed, "--json"]) == ExitCode.USAGE
    said(capsys)


def test_a_value_behind_the_name_of_a_sealed_one(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["seal", "set", "--key-file", "k", "--file", "s", "shop:password", SECRET]
    assert main(given) == ExitCode.USAGE
    assert "no command takes a value on its command line" in said(capsys)


@pytest.mark.parametrize(
    "name", [f"shop:password={SECRET}", f"shop:password:{SECRET}=", f"password={SECRET}"]
)
def test_a_value_behind_an_equals_sign(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seal", "set", "--key-file", "k", "--file", "s", name]) == ExitCode.USAGE
    assert "no command takes a value on its command line" in said(capsys)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("seal list --file s", "--key-env"),
        ("seal set --file s --key-file k a:b", "--from-env"),
        ("seal create --file new", "--key-env"),
        ("seal rotate-key --file s --key-file k", "--new-key-env"),
        ("migrate --apply --sealed-file s job.conf", "--key-env"),
    ],
)
def test_a_value_in_place_of_a_variables_name(
    command: str,
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["seal", "create", "--new-key", "--key-file", "k", "--file", "s"]) == 0
    Path("job.conf").write_text("spark.shop.password correct-horse-battery\n")
    capsys.readouterr()
    assert main([*command.split(), option, SECRET]) != 0
    assert option in said(capsys)


@pytest.mark.parametrize("option", ["--for", "--scala", "--job-type", "--scope"])
def test_a_wrong_choice(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = {"--for": "init", "--scala": "jar"}.get(option, "validate")
    assert main([command, option, SECRET]) == ExitCode.USAGE
    assert f"argument {option}: this value is unknown; there are: " in said(capsys)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("--versoin", "did you mean --version?"),
        ("resolv", "did you mean 'resolve'?"),
        ("doctr --quiet", "did you mean 'doctor'?"),
        ("seal sett", "did you mean 'set'?"),
        ("doctor --qiuet", "did you mean --quiet?"),
        ("resolve --dryrun x", "did you mean --dry-run?"),
        ("seal create --fiel s", "required: --file; is --file misspelt?"),
        ("nothing-like-it", "there are: doctor, init, install"),
        ("", "a command is missing; 'sparkconfig --help' lists them"),
        ("seal", "a command is missing; 'sparkconfig seal --help' lists them"),
        ("resolve job.conf", "add --dry-run, the only mode"),
        ("seal set --key-file", "argument --key-file: expected one argument"),
        ("seal set --key-file a --key-env b --file s n", "--key-env: not allowed with argument --key-file"),
        ("jar --scala", "argument --scala: expected one argument"),
        ("init --for fish", "argument --for: this value is unknown; there are: "),
        ("jar --json=1", "argument --json: it does not take this value"),
    ],
)
def test_what_a_wrong_command_line_says(given: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given.split()) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: sparkconfig")
    assert text in captured.err
    assert main([*given.split(), "--json"]) == ExitCode.USAGE
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is False
    assert answer["error"]["type"] == "UsageError"


def test_the_version_and_json_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out == f"sparkconfig {sparkconfig.__version__}\n"
    assert main(["--version", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"ok": True, "version": sparkconfig.__version__}
    for words in (["--json"], []):
        assert main(words) == ExitCode.USAGE
        text = said(capsys)
        assert "a command is missing" in text
        assert "did you mean" not in text


def test_json_of_a_users_own_command_is_not_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--", "app", "--json"]) == ExitCode.USAGE
    assert capsys.readouterr().out == ""


def test_every_command_has_json() -> None:
    without = {words for words in EVERY if "--json" not in _options(words)}
    assert without == {("seal",), ("scrub",)}, "they need a subcommand"


def test_a_command_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sparkconfig import cli

    (tmp_path / "toy.py").write_text(
        'HELP = "say hello"\n'
        "def register(commands):\n"
        '    commands.add_parser("toy").set_defaults(run=lambda options, out: out.result({}, ["hello"]) or 0)\n'
    )
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    try:
        assert main(["toy"]) == ExitCode.OK
        assert "hello" in said(capsys)
        assert ["toy", "say", "hello"] in [line.split() for line in parser().format_help().splitlines()]
    finally:
        sys.modules.pop("sparkconfig.cli.toy", None)


@pytest.mark.parametrize("word", ["main", "output", "keys", "__init__", "toy.x", "../main"])
def test_what_is_no_command(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == ExitCode.USAGE
    assert "this command is unknown" in said(capsys)


def test_no_command_shows_those_of_a_first_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ExitCode.USAGE
    shown = said(capsys)
    for command in ("migrate", "seal", "init", "resolve", "doctor"):
        assert f"  sparkconfig {command} " in shown
    assert main(["--json"]) == ExitCode.USAGE


def test_help_fits_a_screen_and_shows_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for words in EVERY:
        text = _parser(words).format_help()
        assert len(text.splitlines()) <= 40, words
        assert "examples:" in text, words


@pytest.mark.parametrize(
    ("redirection", "words", "code"),
    [
        (">&-", "--version", ExitCode.OK),
        (">&- 2>&-", "--json --no-such-option", ExitCode.USAGE),
        ("<&- >&- 2>&-", "run --env A=x -- sh -c 'echo a; echo b >&2; exit 9'", 9),
        ("> /dev/full", "--version", ExitCode.UNAVAILABLE),
        ("> /dev/full", "--json --no-such-option", ExitCode.UNAVAILABLE),
    ],
)
def test_output_that_is_closed_or_full(redirection: str, words: str, code: int) -> None:
    line = f"exec {sys.executable} -m sparkconfig {words} {redirection}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, env=ENVIRON)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert ("the output cannot be written: No space left on device" in done.stderr) == (
        code == ExitCode.UNAVAILABLE
    )


@pytest.mark.parametrize(
    ("line", "successor"),
    [
        ("seal create --file s --passphrase-env", "--key-file or --key-env"),
        ("seal set --file s shop:password --passphrase-env", "--key-file or --key-env"),
        ("seal list --passphrase-env", "--key-file or --key-env"),  # --file is missing, too
        ("seal rotate-key --file s --key-file k --new-passphrase-env", "--new-key-file or --new-key-env"),
        ("init --passphrase-env", "--key-file or --key-env"),
        ("migrate jobs --apply --store-conf", "write the values into the store with its own tool"),
        ("migrate --apply --passphrase-env", "--key-file or --key-env"),
        ("scrub find x --sealed-file s --passphrase-env", "--key-file or --key-env"),
        ("scrub find x --spark", "has a job of 30 lines"),
        ("scrub clean x --spark --spark-conf", "has a job of 30 lines"),
        ("connections test --name", "'resolve --dry-run' asks"),
        ("completion bash --x", "'shtab --shell=bash sparkconfig.cli.main.parser' prints it"),
    ],
)
@pytest.mark.parametrize("form", [" ", "="])
def test_what_went_names_what_came(
    line: str, successor: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"{line}{form}{SECRET}".split()) == ExitCode.USAGE
    told = said(capsys)
    assert "is gone" in told
    assert successor in told


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["seal", "--help"]], ids=" ".join)
def test_a_start_imports_nothing_heavy(words: list[str]) -> None:
    """What made it slow once: other commands, and modules that only some need. No time is measured here."""
    code = (
        f"import sys; from sparkconfig.cli.main import main\n"
        f"try: main({words})\nexcept SystemExit: pass\n"
        "print('MODULES', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {ENVIRON['PYTHONPATH']!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.rpartition("MODULES ")[2].split())
    own = {name.removeprefix("sparkconfig.") for name in loaded if name.startswith("sparkconfig.")}
    assert own - {"cli.seal"} == {
        "_base", "_base.gone", "_base.late", "_base.py4j_log", "_base.text", "_base.version", "checks",
        "checks.exit_codes", "cli", "cli.arguments", "cli.main", "cli.output", "errors",
    }  # fmt: skip
    assert not loaded & {"json", "dataclasses", "inspect", "difflib", "hashlib", "ssl", "asyncio"}


def _parser(words: tuple[str, ...]) -> argparse.ArgumentParser:
    found: argparse.ArgumentParser = parser()
    for word in words:
        (action,) = (each for each in found._actions if isinstance(each, argparse._SubParsersAction))
        found = action.choices[word]
    return found


def _options(words: tuple[str, ...]) -> set[str]:
    return {option for action in _parser(words)._actions for option in action.option_strings}


def test_without_a_command_it_shows_those_of_a_first_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ExitCode.USAGE
    shown = [line.split()[1] for line in said(capsys).splitlines() if line.startswith("  sparkconfig ")]
    assert shown == ["migrate", "seal", "init", "resolve", "doctor"]
    assert set(shown) <= {words[0] for words in EVERY}

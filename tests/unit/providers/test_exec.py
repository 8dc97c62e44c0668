"""A provider that runs real programs, good ones and bad ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.exec import ExecConfigProvider

MARK = "Canary-exec-4471"
PYTHON = sys.executable


def provider(command: str, **params: str) -> ExecConfigProvider:
    made = ExecConfigProvider()
    made.configure(
        {"command": command, "attempts": "1", **{k.replace("_", "."): v for k, v in params.items()}}
    )
    return made


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script.py"
    path.write_text(text)
    return f"{PYTHON} {path}"


def test_one_run_for_each_key() -> None:
    made = provider("echo {path} {key}")
    assert dict(made.get("shop/db", {"user", "password"}).data) == {
        "user": "shop/db user", "password": "shop/db password",
    }  # fmt: skip
    with pytest.raises(ConfigurationError, match="cannot list"):
        made.get("shop/db")


def test_one_run_for_a_json_object(tmp_path: Path) -> None:
    made = provider(
        script(tmp_path, 'print(\'{"a": {"b": 1.50}, "c": "x"}\')') + " {path}", format="json", ttl="5s"
    )
    answer = made.get("shop", {"a.b", "c", "nobody"})
    assert (dict(answer.data), answer.ttl) == ({"a.b": "1.50", "c": "x"}, 5000)
    assert set(made.get("shop").data) == {"a.b", "c"}


def test_a_part_of_what_a_command_prints(tmp_path: Path) -> None:
    listed = script(
        tmp_path,
        "import json, sys\n"
        "entries = [{'label': 'user', 'value': 'ann'}, {'label': 'port', 'value': 5432}, {'label': 'note'},\n"
        "           {'id': 'no label', 'value': 'x'}, *({'label': 'twice', 'value': each} for each in 'ab')]\n"
        "print(json.dumps(entries if sys.argv[1] == 'top' else {'item': {'fields': entries}}))",
    )
    fields = {"format": "json", "list_key": "label", "list_value": "value"}
    for made, path in (
        (provider(listed + " {path}", pointer="/item/fields", **fields), "deep"),
        (provider(listed + " {path}", **fields), "top"),
    ):
        assert dict(made.get(path, {"user", "port", "note", "x"}).data) == {"user": "ann", "port": "5432"}
        for keys in ({"twice"}, None):
            with pytest.raises(ProviderError, match="two entries of the list have the key 'twice'"):
                made.get(path, keys)
    first = provider(listed + " {path}", format="json", pointer="/item/fields/0")
    assert dict(first.get("deep").data) == {"label": "user", "value": "ann"}
    for made in (
        provider(listed + " {path}", pointer="/item", **fields),
        provider(listed + " {path}", **fields),
    ):
        with pytest.raises(ProviderError, match="leads to no list of objects"):
            made.get("deep", {"user"})
    with pytest.raises(ProviderError, match="leads to no JSON object"):
        first.get("top", {"value"})


@pytest.mark.parametrize(
    "text", ["-rf", "--help", "a;b", "$(id)", "a b", "../etc", "a/../../b", "{path}", "a\nb"]
)
def test_what_a_job_may_put_into_a_command(text: str) -> None:
    made = provider("echo {path} {key}")
    for path, key in ((text, "x"), ("x", text)):
        with pytest.raises(AccessDeniedError):
            made.get(path, {key})


def test_no_shell_and_few_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", MARK)
    monkeypatch.setenv("VAULT_TOKEN", MARK)
    show = script(
        tmp_path, "import os, sys; print(sorted(n for n in os.environ if 'TOKEN' in n), sys.argv[1:])"
    )
    made = provider(show + " '$HOME *' {key}", environment="SHOP_TOKEN")
    assert made.get("", {"x"}).data["x"] == "['SHOP_TOKEN'] ['$HOME *', 'x']"


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = (
        "import subprocess, sys, os, signal\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "signal.pause()"
    )
    made = provider(script(tmp_path, text) + " {key}", timeout="2s")
    with pytest.raises(ProviderTimeoutError, match="did not end in time"):
        made.get("shop", {"x"})
    for pid in map(int, pids.read_text().split()):
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        assert state.stdout.strip()[:1] in {"", "Z"}


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("print('x' * 1_000_000)", ProviderError, "more than output.limit"),
        ("import sys; sys.stderr.write(M); print(M); sys.exit(3)", ProviderUnavailableError, "ended with status 3"),
        ("import sys; print(M); sys.exit(7)", AccessDeniedError, "not allowed"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' + M.encode())", ProviderError, "not UTF-8 text"),
        ("print('<html>' + M)", ProviderError, "not a JSON object"),
        ("import sys; print(M); sys.exit(4)", SecretNotFoundError, "not there"),
        ("import os; print(M, flush=True); os.kill(os.getpid(), 9)", ProviderUnavailableError, "status -9"),
    ],
)  # fmt: skip
def test_bad_commands_are_errors_that_show_nothing(tmp_path: Path, text: str, kind: type, said: str) -> None:
    command = script(tmp_path, f"M = {MARK!r}\n{text}")
    made = provider(command, format="json", denied_statuses="7", missing_statuses="4")
    with pytest.raises(kind, match=said) as error:
        made.get("shop", {"x"})
    shown = str(error.value) + repr(error.value.__cause__) + repr(error.value.__context__)
    assert (MARK in shown) is False


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"command": "no-such-program-4471 {key}"}, "does not name a program"),
        ({"command": "echo 'x"}, "quote"),
        ({"command": "echo"}, "has no {key}; set format=json"),
        ({"command": "{key}"}, "does not name a program"),
        ({"command": "echo {key}", "allowed": "("}, "regular expression"),
        ({"command": "echo {key}", "directory": "/nowhere"}, "is not a directory"),
        ({"command": "echo {key}", "denied.statuses": "0"}, "1 to 255"),
        ({"command": "echo {key}", "pointer": "/data"}, "selects from JSON; set format=json"),
        ({"command": "echo", "format": "json", "pointer": "data"}, "must begin with /"),
        (
            {"command": "echo", "format": "json", "list.key": "label"},
            "list.key and list.value belong together",
        ),
        ({"command": "echo", "format": "json", "list.value": "value"}, "param list.key is not set"),
        ({}, "command"),
    ],
)
def test_params_that_cannot_be(params: dict[str, str], said: str) -> None:
    made = ExecConfigProvider()
    with pytest.raises(ConfigurationError) as error:
        made.configure(params)
    assert said in str(error.value)


def test_a_program_that_goes_away_is_an_outage(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho $1\n")
    program.chmod(0o700)
    made = provider(f"{program} {{key}}")
    assert made.get("", {"x"}).data["x"] == "x"
    program.unlink()
    with pytest.raises(ProviderUnavailableError, match="cannot be started"):
        made.get("", {"x"})

"""'sparkconfig migrate' into a real OpenBao: the same effective confs, other fields as they were, no value anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.migrate.apply import backup_of
from sparkconfig.resolution.resolver import Resolver

VALUE, OTHER = "migrate-canary-77aa", "migrate-canary-88bb"
CONF = f"spark.shop.password {VALUE}\nspark.shop.url jdbc:x://h?password={OTHER}&a=1\n"
BACKUP = ("--sealed-file", "s", "--key-file", "k", "--new-key")
STORE = ("--store-conf", "vault.conf", "--provider", "vault", "--section", "shop/prod")


@pytest.fixture
def folder(server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.conf").write_text(CONF)
    (tmp_path / "token").write_text(server._admin)
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "vault.conf").write_text(
        "spark.config.providers vault\n"
        f"spark.config.providers.vault.param.address {server.url}\n"
        f"spark.config.providers.vault.param.mount {server.MOUNTS['kv2']}\n"
        f"spark.config.providers.vault.param.token.file {tmp_path / 'token'}\n"
    )
    yield tmp_path
    server.call("DELETE", f"{server.MOUNTS['kv2']}/metadata/shop/prod", may_fail=True)


@pytest.fixture
def migrate(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def migrate(*words: str) -> tuple[int, str]:
        code = main(["migrate", *words])
        captured = capsys.readouterr()
        shown = sum((captured.out + captured.err).count(value) for value in (VALUE, OTHER))
        assert shown == 0, "a value was printed"
        return code, captured.out + captured.err

    return migrate


def fields(server) -> dict[str, object]:
    found: dict[str, object] = server.call("GET", f"{server.MOUNTS['kv2']}/data/shop/prod")["data"]["data"]
    return found


def effective(folder: Path) -> dict[str, str]:
    """What the application gets, from the files as they are."""
    lines = (folder / "vault.conf").read_text() + (folder / "job.conf").read_text()
    confs = dict(line.split(" ", 1) for line in lines.splitlines())
    with Resolver.from_confs(
        {key: text for key, text in confs.items() if "spark.config." in key}
    ) as resolver:
        found = resolver.resolve_map(
            {key: text for key, text in confs.items() if "shop" in key and "vault" not in key}
        )
    return {key: text if isinstance(text, str) else text.reveal() for key, text in found.items()}


def test_effective_confs_are_the_same_before_and_after(server, folder: Path, migrate) -> None:
    server.put("shop/prod", {"limit": 1.5, "nested": {"a": ["x"]}, "spark.shop.password": "someone-elses"})
    before = effective(folder)
    plan = json.loads(migrate("job.conf", *STORE, *BACKUP, "--json")[1])
    assert [move["reference"] for move in plan["files"][0]["moves"]] == [
        "${vault:shop/prod:spark.shop.password-2}", "${vault:shop/prod:spark.shop.url.password}",
    ], "a name that has another value is not taken"  # fmt: skip
    code, text = migrate("job.conf", "--apply", *STORE, *BACKUP)
    assert code == 0, text
    assert "declare the provider vault for the application, as vault.conf does" in text
    same = effective(folder) == before
    assert same
    assert "canary" not in (folder / "job.conf").read_text()
    found = fields(server)
    assert (found["limit"], found["nested"], found["spark.shop.password"]) == (
        1.5,
        {"a": ["x"]},
        "someone-elses",
    )
    assert len(found) == 5
    assert not (folder / "s").exists(), "only the sealed backup is a file"
    assert not [path.name for path in folder.iterdir() if VALUE.encode() in path.read_bytes()]
    assert migrate("job.conf", "--apply", *STORE, *BACKUP)[0] == 0
    assert fields(server) == found, "a second run changes nothing"
    code, text = migrate("--undo", *BACKUP[:4])
    assert code == 0, text
    assert (folder / "job.conf").read_text() == CONF


def test_a_new_path_is_made(server, folder: Path, migrate) -> None:
    assert migrate("job.conf", "--apply", *STORE, *BACKUP)[0] == 0
    assert len(fields(server)) == 2


def test_what_cannot_be_written_changes_no_file(server, folder: Path, migrate) -> None:
    (folder / "token").write_text(server.ROOT)  # it may only read
    code, _ = migrate("job.conf", "--apply", *STORE, *BACKUP)
    assert code == ExitCode.DENIED
    assert (folder / "job.conf").read_text() == CONF
    assert backup_of(folder / "s").exists() == (folder / "k").exists(), "a backup keeps its key"
    (folder / "vault.conf").write_text("spark.config.providers envvar\n")
    for provider, said in (
        ("envvar", "cannot be written to"),
        ("vault", "does not declare the provider 'vault', only: envvar"),
    ):
        code, text = migrate("job.conf", "--apply", *STORE[:2], "--provider", provider, *BACKUP)
        assert code == ExitCode.CONFIGURATION
        assert said in text

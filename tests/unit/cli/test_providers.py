"""``sparkconfig providers``: the list, and trying one."""

import json

import pytest

from sparkconfig.cli.main import main
from sparkconfig.providers.catalog import catalog

CONFS = """
spark.config.providers              keys,files
spark.config.providers.keys.class   envvar
spark.config.providers.files.class  file
spark.config.providers.files.param.allowed.paths ${keys:SHOP_FOLDER}
"""


@pytest.fixture
def settings(tmp_path, monkeypatch):
    (tmp_path / "db.properties").write_text("user=alice\npassword=s3cret-value-77\n")
    (tmp_path / "spark.conf").write_text(CONFS)
    monkeypatch.setenv("SHOP_FOLDER", str(tmp_path))
    return tmp_path


def test_the_list_has_one_line_each(capsys):
    assert main(["providers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == sorted(each.alias for each in catalog())
    assert max(map(len, lines)) <= 120


def test_the_list_names_all_with_params(capsys):
    assert main(["providers", "--params"]) == 0
    text = capsys.readouterr().out
    assert "vault: HashiCorp Vault, OpenBao (" in text
    assert "    address: URL of the server" in text


def test_the_list_for_machines(capsys):
    assert main(["providers", "--json"]) == 0
    found = {each["alias"]: each for each in json.loads(capsys.readouterr().out)["providers"]}
    assert found["aws-ssm"]["extra"] == "aws"
    assert found["file"]["installed"] is True
    assert {"name", "doc", "default", "required", "secret", "choices"} == set(found["vault"]["params"][0])


def test_a_missing_client_is_said_with_its_extra(capsys, monkeypatch):
    monkeypatch.setattr("sparkconfig.providers.catalog._there", lambda module: False)
    assert main(["providers"]) == 0
    assert "pip install 'sparkconfig[vault]'" in capsys.readouterr().out


def test_a_trial_prints_names_and_no_values(settings, capsys):
    path = str(settings / "db.properties")
    assert main(["providers", "test", "files", "--path", path, "--file", str(settings / "spark.conf")]) == 0
    text = capsys.readouterr().out
    assert "2 keys (no ttl): password, user" in text
    assert "s3cret-value-77" not in text


def test_a_trial_without_a_path_only_configures(settings, capsys):
    assert main(["providers", "test", "keys", "--file", str(settings / "spark.conf")]) == 0
    assert "add --path" in capsys.readouterr().out


def test_failures_have_their_exit_codes(settings, capsys):
    file = str(settings / "spark.conf")
    absent = str(settings / "absent.properties")
    assert main(["providers", "test", "files", "--path", absent, "--file", file, "--json"]) == 4
    read = json.loads(capsys.readouterr().out)["reads"][0]
    assert (read["path"], read["keys"], read["error"]["type"]) == (absent, [], "SecretNotFoundError")
    assert main(["providers", "test", "files", "--path", "/etc/passwd", "--file", file]) == 5


def test_an_undeclared_provider_is_refused(settings, capsys):
    assert main(["providers", "test", "vault", "--file", str(settings / "spark.conf")]) == 3
    assert "declares: keys, files" in capsys.readouterr().err


def test_a_broken_provider_says_why(settings, capsys):
    with (settings / "spark.conf").open("a") as confs:
        confs.write("spark.config.providers.keys.class no.such.Provider\n")
    assert main(["providers", "test", "keys", "--file", str(settings / "spark.conf")]) == 3
    assert "no.such.Provider" in capsys.readouterr().err

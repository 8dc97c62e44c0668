"""``sparkconfig connections``: names and keys, no values."""

import json

import pytest

from sparkconfig.cli.main import main


@pytest.fixture
def conf(tmp_path, monkeypatch):
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    secrets = tmp_path / "db.properties"
    secrets.write_text("password=s3cret-value-77\n")
    file = tmp_path / "spark.conf"
    file.write_text(
        f"""
spark.config.providers                                 files
spark.config.providers.files.class                     file
spark.config.providers.files.param.allowed.paths       {tmp_path}
spark.config.connections.shop.format                   jdbc
spark.config.connections.shop.option.url               jdbc:postgresql://db.example/shop
spark.config.connections.shop.option.password          ${{files:{secrets}:password}}
spark.config.connections.broken.format                 com.acme.Source
spark.config.connections.broken.user.options           table
spark.config.connections.broken.option.token           ${{files:{secrets}:token}}
"""
    )
    return file


def test_the_list(conf, capsys):
    assert main(["connections", "--file", str(conf)]) == 0
    text = capsys.readouterr().out
    assert "shop        jdbc             password, url" in text
    assert "db.example" not in text
    assert "files:" not in text


def test_the_list_for_machines(conf, capsys):
    assert main(["connections", "--file", str(conf), "--json"]) == 0
    broken, shop = json.loads(capsys.readouterr().out)["connections"]
    assert shop["options"] == ["password", "url"]
    assert "dbtable" in shop["user_options"]
    assert (broken["name"], broken["format"]) == ("broken", "com.acme.Source")


def test_a_trial_asks_the_stores(conf, capsys):
    assert main(["connections", "--test", "shop", "--file", str(conf)]) == 0
    assert "shop: 1 option with references, each has a value" in capsys.readouterr().out
    assert main(["connections", "--test", "broken", "--file", str(conf), "--json"]) != 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert "spark.config.connections.broken.option.token" in found["problems"][0]
    assert "s3cret-value-77" not in str(found)


def test_an_unknown_name(conf, capsys):
    assert main(["connections", "--test", "typo", "--file", str(conf)]) == 3
    assert "declares: broken, shop" in capsys.readouterr().err


def test_none(tmp_path, capsys):
    empty = tmp_path / "empty.conf"
    empty.write_text("")
    assert main(["connections", "--file", str(empty)]) == 0
    assert "no connections" in capsys.readouterr().out

"""What Scala code gets of a conf with a reference, as docs/confs.md says, on the driver and on executors."""

from __future__ import annotations

import pytest

from leaks.support import jvm_classes
from support.rpc import protected_rpc
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_home
from support.starts import run

pytestmark = pytest.mark.spark

SECRET = "Canary-83fd10-value"


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("confs")
    (folder / "shop.properties").write_text(f"token={SECRET}\n")
    reference = f"${{files:{folder}/shop.properties:token}}"
    conf = {
        **QUIET,
        "spark.master": "local-cluster[1,1,700]",
        **protected_rpc(),
        "spark.executor.memory": "700m",
        "spark.ui.enabled": "false",
        "spark.jars": str(shim_jar()),
        "spark.driver.extraClassPath": str(jvm_classes()),
        "spark.executor.extraClassPath": str(jvm_classes()),
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.inplace.keys": "spark.redis.*",
        # What a shell makes of "${secrets:shop:password}".
        "spark.shop.password": "",
    }
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    empty = folder / "empty.jar"
    empty.write_bytes(b"PK\x05\x06" + bytes(18))
    command = [spark_home() / "bin" / "spark-submit", *options, "--class", "com.acme.shop.ConfReader", empty]
    builder = ["spark.redis.auth", reference, "spark.shop.token", reference]
    done = run([*command, folder / "seen", *builder], folder)
    text = (done.stdout + done.stderr).replace(SECRET, "(value)")
    assert (folder / "seen").exists(), text[-3000:]
    lines = (folder / "seen").read_text().splitlines()
    assert len(lines) > 15
    return {"reference": reference, "log": text, **dict(line.split("=", 1) for line in lines)}


@pytest.mark.parametrize(
    "what",
    [
        "getConf",
        "getAll",
        "prefix",
        "clone",
        "session",
        "session list",
        "new session",
        "same session",
        "env",
        "task",
    ],
)
def test_a_key_in_place_gives_the_value_to_every_reader_though_the_builder_was_given_the_reference(
    seen, what: str
) -> None:
    got = seen[f"placed {what}"]
    assert got != seen["reference"]
    assert (got == SECRET) is True


def test_a_job_sets_a_key_in_place_in_its_own_session_as_without_the_plugin(seen) -> None:
    assert seen["placed set"] == "mine"
    assert seen["placed SET"] == "yours"
    assert seen["placed set and session again"] == "yours"
    assert seen["placed unset"] == "nothing"
    assert seen["kept set"] == "done"


def test_the_next_application_knows_nothing_of_keys_in_place(seen) -> None:
    assert seen["next application"] == "next"


def test_other_keys_give_the_value_through_sparkenv_and_the_reference_elsewhere(seen) -> None:
    assert (seen["kept env"] == SECRET, seen["kept task"] == SECRET) == (True, True)
    assert seen["kept prefix"] == seen["reference"]
    assert [seen[f"kept reference {number}"] for number in range(3)] == [seen["reference"]] * 3


def test_an_application_without_event_log_has_nothing_to_write_into_it_at_its_end(seen) -> None:
    assert seen["journal"] == "false"


def test_an_empty_secret_is_reported_at_the_start(seen) -> None:
    (line,) = [line for line in seen["log"].splitlines() if "should hold a secret and is empty" in line]
    assert "WARN" in line
    assert "spark.shop.password" in line
    assert "(value)" not in seen["log"]

"""How an application is made of its confs: each setting and each reference is read once on the way."""

from pathlib import Path

import pytest

from sparkconfig.agent.factory import make_application
from sparkconfig.errors import ConfigurationError
from sparkconfig.language import base as language
from sparkconfig.policy.rules import references as policies
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile
from sparkconfig.settings import schema
from support.counting import calls_of

SECRET = "hunter2000"


def _operator_file(folder: Path, **settings: str) -> Path:
    (folder / "s.properties").write_text(f"pw={SECRET}\n")
    file = folder / "operator.conf"
    confs = {"providers": "files", "providers.files.class": "file", "override.policy": "All", **settings}
    file.write_text("".join(f"spark.config.{name}={text}\n" for name, text in confs.items()))
    file.chmod(0o644)
    return file


def test_settings_are_parsed_once_on_the_way_to_providers_and_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _operator_file(tmp_path, **{"job.type.map": "*nightly*=streaming"})
    parsed = calls_of(monkeypatch, schema, "read_connections")
    application = make_application(
        {}, system_properties={"sun.java.command": "acme.nightly.Main"}, operator_file=file
    )
    application.close()
    assert application.job_type == "streaming"
    assert application.policies is not None
    assert application.policies.who["job_type"] == "streaming"
    assert len(parsed) == 1


def test_the_file_of_a_provider_that_the_operator_declares_is_not_shipped(tmp_path: Path) -> None:
    key, sealed = KeyFile(tmp_path / "k"), tmp_path / "s.sealed"
    key.create()
    editor.create(sealed, key)
    declared = {"class": "sealed", "param.file": str(sealed), "param.key.file": str(key.path)}
    params = {f"providers.sealed.{name}": text for name, text in declared.items()}
    file = _operator_file(tmp_path, **{"providers": "files,sealed", **params})
    confs = {"spark.files": f"{tmp_path}/s.properties,{key.path}", "spark.master": "spark://h:7077"}
    application = make_application(confs, system_properties={}, operator_file=file)
    problems = application.resolve_confs()[1]
    application.close()
    assert len(problems) == 1
    assert problems[0].startswith("spark.files: k is a file that a provider opens")


def test_a_reference_is_parsed_once_by_the_policies_and_twice_by_the_resolver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _operator_file(tmp_path)
    evaluated = calls_of(monkeypatch, policies, "scan")
    resolved = calls_of(monkeypatch, language, "scan")
    confs = {"spark.acme.password": f"${{files:{tmp_path}/s.properties:pw}}"}
    application = make_application(confs, system_properties={}, operator_file=file)
    found, problems = application.resolve_confs()
    application.close()
    assert (list(found), problems) == (["spark.acme.password"], [])
    assert (len(evaluated), len(resolved)) == (1, 2)


@pytest.mark.parametrize("operator", [True, False])
def test_wrong_job_types_stop_the_start_with_and_without_policies(tmp_path: Path, *, operator: bool) -> None:
    wrong = {"job.type.map": "*nightly*=bach", "worker.job.types": "batch, conect"}
    file = _operator_file(tmp_path, **wrong) if operator else None
    confs = {} if operator else {f"spark.config.{name}": text for name, text in wrong.items()}
    with pytest.raises(ConfigurationError) as stopped:
        make_application(confs, system_properties={}, operator_file=file)
    types = "batch, streaming, sql, connect, interactive"
    assert stopped.value.problems == (
        f"spark.config.job.type.map: '*nightly*=bach' is not PATTERN=TYPE with a type among {types}",
        f"spark.config.worker.job.types: 'conect' is not a job type; use {types}",
    )


@pytest.mark.parametrize("accepted", [True, False])
def test_a_file_that_the_driver_would_serve_to_anybody_stops_the_start(
    tmp_path: Path, *, accepted: bool
) -> None:
    (tmp_path / "login.properties").write_text("password=x")
    (tmp_path / "login.properties").chmod(0o600)
    confs = {
        "spark.master": "spark://h:7077",
        "spark.files": f"{tmp_path}/login.properties",
        "spark.config.rpc.insecure": str(accepted).lower(),
    }
    application = make_application(confs, system_properties={}, operator_file=None)
    _, problems = application.resolve_confs()
    application.close()
    assert [text.partition(":")[0] for text in problems] == ([] if accepted else ["spark.files"])

"""How an application is made of its confs: each setting and each reference is read once on the way."""

from pathlib import Path

import pytest

from sparkconfig.agent.factory import make_application
from sparkconfig.errors import ConfigurationError
from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile

SECRET = "hunter2000"


def _operator_file(folder: Path, **settings: str) -> Path:
    (folder / "s.properties").write_text(f"pw={SECRET}\n")
    file = folder / "operator.conf"
    confs = {"providers": "files", "providers.files.class": "file", "override.policy": "All", **settings}
    file.write_text("".join(f"spark.config.{name}={text}\n" for name, text in confs.items()))
    file.chmod(0o644)
    return file


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


@pytest.mark.parametrize("operator", [True, False])
def test_wrong_job_types_stop_the_start_with_and_without_policies(tmp_path: Path, *, operator: bool) -> None:
    wrong = {"job.type": "bach", "worker.job.types": "batch, conect"}
    file = _operator_file(tmp_path, **wrong) if operator else None
    confs = {} if operator else {f"spark.config.{name}": text for name, text in wrong.items()}
    with pytest.raises(ConfigurationError) as stopped:
        make_application(confs, system_properties={}, operator_file=file)
    types = "batch, streaming, sql, connect, interactive"
    assert [problem.partition(":")[0] for problem in stopped.value.problems] == [
        "spark.config.job.type",
        "spark.config.worker.job.types",
    ]
    assert all(each in problem for problem in stopped.value.problems for each in types.split(", "))


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

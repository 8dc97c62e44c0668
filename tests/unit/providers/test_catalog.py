"""The catalog and what is generated from it."""

import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.providers.catalog import catalog
from sparkconfig.providers.classes import BUILT_IN, find_class

ROOT = Path(__file__).resolve().parents[3]


def test_the_docs_are_current():
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], check=False)
    assert done.returncode == 0, "run docs/generate.py"


def test_every_alias_is_listed_with_its_params():
    found = {each.alias: each for each in catalog(third_parties=False)}
    assert list(found) == list(BUILT_IN)
    for each in found.values():
        assert each.params, each.alias
        assert all(param.doc for param in each.params)
        assert each.store
        assert each.paths
        assert each.auth


@pytest.mark.parametrize("alias", list(BUILT_IN))
def test_importing_a_provider_imports_no_client(alias):
    module = BUILT_IN[alias].partition(":")[0]
    clients = [
        "hvac",
        "boto3",
        "botocore",
        "google",
        "grpc",
        "azure",
        "kubernetes",
        "databricks",
        "keyring",
        "pyspark",
    ]
    code = f"import sys, {module}; print([name for name in {clients} if name in sys.modules])"
    environment = {"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() in {"[]", "['google']"}, "google is a namespace package that .pth files make"


def test_entry_points_and_extras_agree_with_the_code():
    tomllib = pytest.importorskip("tomllib", reason="it came with Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["sparkconfig.providers"] == BUILT_IN
    extras = {each.extra for each in catalog(third_parties=False) if each.extra}
    listed = project["optional-dependencies"]
    assert extras <= set(listed)
    assert extras <= set(listed["all"][0].removeprefix("sparkconfig[").removesuffix("]").split(","))


@pytest.mark.parametrize("alias", [each.alias for each in catalog(third_parties=False) if each.extra])
def test_a_missing_client_names_its_extra(alias, monkeypatch):
    from sparkconfig.errors import ConfigurationError

    info = next(each for each in catalog(third_parties=False) if each.alias == alias)
    kind = find_class(alias)
    for name in [name for name in sys.modules if name == kind.client or name.startswith(f"{kind.client}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, kind.client, None)
    provider = kind()
    needed = {param.name: "https://localhost:1" for param in info.params if param.required}
    with pytest.raises(ConfigurationError, match=rf"sparkconfig\[{info.extra}\]"):
        provider.configure(
            {**needed, **({"address": "http://localhost:1", "token": "t"} if alias == "vault" else {})}
        )
    provider.close()

"""The catalog and what is generated from it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig.providers.catalog import catalog
from sparkconfig.providers.registry import BUILT_IN, find_class

ROOT = Path(__file__).resolve().parents[3]


def test_the_docs_are_current():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs" / "generate.py"), "--check"], check=False
    )
    assert done.returncode == 0, "run tools/docs/generate.py"


def test_every_alias_is_listed_with_its_params():
    found = {each.alias: each for each in catalog(third_parties=False)}
    assert list(found) == list(BUILT_IN.all)
    for each in found.values():
        assert each.params, each.alias
        assert all(param.doc for param in each.params)
        assert each.store
        assert each.paths
        assert each.auth


def test_importing_providers_imports_no_client():
    modules = sorted({kind.__module__ for kind in BUILT_IN.all.values()})
    tops = {kind.client.partition(".")[0] for kind in BUILT_IN.all.values() if kind.client}
    # google is a namespace package that .pth files make.
    clients = [*sorted({*tops, "botocore", "grpc", "pyspark"} - {"google"}), "google.auth", "google.cloud"]
    code = f"import sys, {', '.join(modules)}; print([name for name in {clients} if name in sys.modules])"
    environment = {"PYTHONPATH": str(ROOT / "python"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == "[]"


def test_entry_points_and_extras_agree_with_the_code():
    tomllib = pytest.importorskip("tomllib", reason="it came with Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["sparkconfig.providers"] == BUILT_IN.targets()
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


def _brought(extra):
    """The distributions that ``pip install sparkconfig[EXTRA]`` brings, by the metadata of what is installed."""
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    tomllib = pytest.importorskip("tomllib", reason="it came with Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pending = [Requirement(text) for text in project["optional-dependencies"][extra]]
    found = {}
    while pending:
        each = pending.pop()
        name = canonicalize_name(each.name)
        if each.extras <= found.get(name, set()) and name in found:
            continue
        found[name] = found.get(name, set()) | each.extras
        try:
            inner = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:
            continue  # for another Python or system
        extras = found[name] or {""}
        pending += [
            one for one in inner if not one.marker or any(one.marker.evaluate({"extra": x}) for x in extras)
        ]
    return set(found), {
        canonicalize_name(Requirement(text).name) for text in project["optional-dependencies"][extra]
    }


EXTRAS = sorted({each.extra for each in catalog(third_parties=False) if each.extra})


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_its_own_client_and_no_other(extra):
    brought, own = _brought(extra)
    assert own <= brought
    for other in set(EXTRAS) - {extra}:
        assert not _brought(other)[1] & brought, f"{extra} brings the client of {other}"


@pytest.mark.parametrize("alias", [each.alias for each in catalog(third_parties=False) if each.extra])
def test_what_a_provider_imports_comes_with_its_extra(alias):
    from importlib.metadata import packages_distributions

    from packaging.utils import canonicalize_name

    kind = find_class(alias)
    sources = {
        Path(sys.modules[each.__module__].__file__) for each in kind.__mro__ if "providers" in each.__module__
    }
    imported = {
        name for source in sources for name in re.findall(r'_import\("([\w.]+)"\)', source.read_text())
    }
    brought, _ = _brought(kind.extra)
    homes = packages_distributions()
    for name in imported | {kind.client}:
        top = name.partition(".")[0]
        assert {canonicalize_name(home) for home in homes[top]} & brought, (
            f"{name} is not in sparkconfig[{kind.extra}]"
        )
    assert imported

"""What another package publishes is found by its entry points, and its author's tests run the shipped suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig import Resolver
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.loader import load_policies, make_policy
from sparkconfig.providers.registry import find_class

ACME = '''
from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.errors import ConfigurationError, SecretNotFoundError
from sparkconfig.policy.base import KeyPolicy


class AcmeProvider(ConfigProvider):
    """Answers with params: ``${acme:path:key}`` is the param ``at.path.key``."""

    def configure(self, params):
        for name in params:
            if not name.startswith("at."):
                raise ConfigurationError(f"unknown param {name}; known: at.path.key")
        self._params = {name[3:]: text for name, text in params.items()}

    def get(self, path, keys=None):
        start = path + "."
        found = {name[len(start) :]: text for name, text in self._params.items() if name.startswith(start)}
        if not found:
            raise SecretNotFoundError(f"there is no path '{path}'")
        return ConfigData(found if keys is None else {key: found[key] for key in keys if key in found})


class AcmePolicy(KeyPolicy):
    policy_name = "Acme"

    def allows(self, request, name):
        return name.startswith("spark.acme.")
'''
ENTRY_POINTS = """\
[sparkconfig.providers]
acme = acme_config:AcmeProvider
file = acme_config:AcmeProvider
broken = acme_config:NoSuchClass

[sparkconfig.policies]
Acme = acme_config:AcmePolicy
"""
ITS_TESTS = """
import pytest
from sparkconfig.providers.registry import find_class
from sparkconfig.testing import ContractCase, ProviderContract


class TestAcme(ProviderContract):
    @pytest.fixture
    def case(self):
        return ContractCase(
            find_class("acme"),
            params={"at.db.user": "ada-lovelace", "at.db.password": "correct-horse"},
            path="db",
            data={"user": "ada-lovelace", "password": "correct-horse"},
            missing_path="none",
        )
"""
CONFS = {
    "spark.config.providers": "acme",
    "spark.config.providers.acme.param.at.db.password": "correct-horse",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on ``sys.path`` with an installed package, as pip would lay it out."""
    (tmp_path / "acme_config.py").write_text(ACME)
    info = tmp_path / "acme_config-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-config\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "acme_config", raising=False)
    yield tmp_path
    sys.modules.pop("acme_config", None)


def test_a_published_provider_is_found_by_its_alias(site: Path) -> None:
    with Resolver.from_confs(CONFS) as resolver:
        resolved = resolver.resolve_map({"spark.shop.password": "${acme:db:password}"})
    assert resolved["spark.shop.password"].reveal() == "correct-horse"
    named = {"spark.config.providers": "store", "spark.config.providers.store.class": "acme"}
    with Resolver.from_confs({**named, "spark.config.providers.store.param.at.a.b": "c"}) as resolver:
        assert resolver.resolve_map({"x": "${store:a:b}"})["x"].reveal() == "c"


def test_a_published_alias_replaces_no_built_in_one_and_a_broken_one_is_told(site: Path) -> None:
    assert find_class("file").__module__ == "sparkconfig.providers.file"
    with pytest.raises(ConfigurationError, match="'acme_config:NoSuchClass' cannot be imported"):
        find_class("broken")
    with pytest.raises(ConfigurationError, match=r"did you mean 'acme'\?.*known: acme, "):
        find_class("acne")


def test_a_published_policy_is_found_by_its_alias(site: Path) -> None:
    policies = load_policies({"spark.config.override.policy": "Acme"}, "All")
    assert {type(policy).__name__ for policy in policies.values()} == {"AcmePolicy"}
    make_policy("Acme", {}, {}).close()


def test_the_command_and_the_suite_serve_the_other_package(site: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    confs = [f"{key}={text}" for key, text in CONFS.items()]
    (site / "job.properties").write_text("\n".join([*confs, "spark.a=${acme:db:password}"]))
    command = [sys.executable, "-m", "sparkconfig", "resolve", "--dry-run", "--explain"]
    shown = subprocess.run(
        [*command, str(site / "job.properties")], env=environ, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "AcmeProvider" in shown.stdout
    assert "correct-horse" not in shown.stdout + shown.stderr
    (site / "test_acme.py").write_text(ITS_TESTS)
    (site / "pytest.ini").write_text("[pytest]\n")
    # No plugins of this environment: kmock's wants another package.
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    suite = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(site)]
    done = subprocess.run(
        [*suite, "-c", str(site / "pytest.ini"), str(site / "test_acme.py")],
        env=environ, cwd=site, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout

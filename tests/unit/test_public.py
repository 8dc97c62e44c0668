"""The names that users write into programs and confs: they stay where they are."""

import importlib
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sparkconfig.policy.loader import BUILT_IN as POLICIES
from sparkconfig.providers.registry import BUILT_IN as PROVIDERS

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "sparkconfig": (
        "ConfigData", "ConfigProvider", "ConfigTransformer", "ConfigTransformerResult", "ConfigValue",
        "CreateTablePolicy", "CreateTableRequest", "OverridePolicy", "OverrideRequest", "PolicyViolation", "Resolver",
        "Secret", "SparkConfigError", "__version__", "current", "load_providers", "reverse_transform",
    ),
    "sparkconfig.session": ("configure",),
    "sparkconfig.worker": ("current",),
    "sparkconfig.streaming": ("managed",),
    "sparkconfig.spark35": ("install",),
    "sparkconfig.databricks": ("main",),
    "sparkconfig.secret": ("Secret",),
    "sparkconfig.substitution": (
        "Allowlists", "RedactableObject", "SubstitutableValues", "SubstituterType", "SubstituterTypeHelper",
    ),
    "sparkconfig.testing": ("ContractCase", "ProviderCall", "ProviderContract", "RecordingProvider"),
    "sparkconfig.kafka": (
        "CLASSES", "DirectoryConfigProvider", "EnvVarConfigProvider", "FileConfigProvider", "allowed_path", "resolve",
    ),
    "sparkconfig.redaction": ("REGISTRY", "install", "redact", "register"),
    "sparkconfig.policy": ("ConfigValue", "OverridePolicy", "OverrideRequest", "PolicyViolation", "ReferenceUse"),
    "sparkconfig.providers": ("ChangeCallback", "ConfigProvider"),
    "sparkconfig.cli": ("main",),
    "sparkconfig.errors": (
        "AccessDeniedError", "AgentError", "ConfigurationError", "PolicyViolationError", "ProviderError",
        "ProviderTimeoutError", "ProviderUnavailableError", "SealedFileError", "SecretExposureError",
        "SecretNotFoundError", "SparkConfigError", "SubstitutionError", "UnresolvedReferenceError",
    ),
}  # fmt: skip
ALIASES = {
    "sparkconfig.providers": {
        "aws-secretsmanager", "aws-ssm", "azure-keyvault", "databricks", "directory", "envvar", "file",
        "gcp-secretmanager", "hadoop", "keyring", "kubernetes", "sealed", "vault",
    },
    "sparkconfig.policies": {"All", "Allowlist", "None", "Principal", "Rules"},
}  # fmt: skip
# Class names that are in confs.
CLASSES = (
    "io.sparkconfig.ConfigPlugin",
    "io.sparkconfig.ConfigExtensions",
    "io.sparkconfig.kafka.ReferenceConfigProvider",
)


@pytest.mark.parametrize("module", NAMES)
def test_public_names_are_there(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(found, name)] == []


def test_aliases_have_their_classes_under_both_entry_point_groups() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for group, built_in in (("sparkconfig.providers", PROVIDERS), ("sparkconfig.policies", POLICIES)):
        section = re.split(r"\n[\n#]", project.split(f'[project.entry-points."{group}"]\n', 1)[1])[0]
        points = dict(re.findall(r'(?m)^([\w-]+) = "([^"]+)"$', section))
        assert ALIASES[group] <= points.keys()  # those that were there once stay
        assert points == built_in.targets()
        for name, target in points.items():
            assert isinstance(EntryPoint(name, target, group).load(), type)


def test_classes_of_confs_have_their_sources() -> None:
    sources = ROOT / "jvm-shim" / "src"
    for name in CLASSES:
        assert list(sources.glob(f"*/scala/{name.replace('.', '/')}.scala")), name

"""The names that users write into programs and confs: they stay where they are."""

import importlib
import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sparkconfig.policy.loader import BUILT_IN as POLICIES
from sparkconfig.providers.registry import BUILT_IN as PROVIDERS
from sparkconfig.settings.schema import PREFIX, declared, read

ROOT = Path(__file__).resolve().parents[2]
JARS = ("main", "aws", "azure", "cassandra", "gcs", "iceberg", "kafka")
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
        "aws-rds-iam", "aws-secretsmanager", "aws-ssm", "aws-sts", "azure-keyvault", "azure-token", "databricks",
        "directory", "envvar", "exec", "file", "gcp-secretmanager", "gcp-token", "hadoop", "http",
        "kubernetes", "oauth2", "sealed", "vault",
    },
    "sparkconfig.policies": {"All", "Allowlist", "None", "Principal", "Rules"},
}  # fmt: skip
CONFS = {
    "spark.config.agent.python",
    "spark.config.agent.variables",
    "spark.config.connect.user.trusted",
    "spark.config.create.table.policy",
    "spark.config.defaults.file",
    "spark.config.files.base64",
    "spark.config.files.directory",
    "spark.config.files.keep",
    "spark.config.files.text",
    "spark.config.foreign.providers",
    "spark.config.inplace.keys",
    "spark.config.job.type",
    "spark.config.override.mode",
    "spark.config.override.policy",
    "spark.config.poll.interval",
    "spark.config.provider.timeout",
    "spark.config.providers",
    "spark.config.redaction.keys",
    "spark.config.redaction.plain",
    "spark.config.redaction.require",
    "spark.config.reference.keys",
    "spark.config.reload.action",
    "spark.config.reload.trigger",
    "spark.config.resolve.prefixes",
    "spark.config.rpc.insecure",
    "spark.config.stale.expiry",
    "spark.config.substitution.enabled",
    "spark.config.substitution.envVar.allowlist.pattern",
    "spark.config.substitution.file.allowed.paths",
    "spark.config.substitution.sysProp.allowlist.pattern",
    "spark.config.surface.files",
    "spark.config.unresolved",
    "spark.config.user.sessions",
    "spark.config.worker.job.types",
    "spark.config.worker.references",
}
# Confs of named things, with a value that each accepts.
FAMILIES = {
    "spark.config.providers.files.class": "file",
    "spark.config.providers.files.param.allowed.paths": "/run",
    "spark.config.connections.shop.format": "jdbc",
    "spark.config.connections.shop.option.url": "jdbc:postgresql://db/shop",
    "spark.config.connections.shop.user.options": "dbtable",
    "spark.config.override.policy.batch": "Rules",
    "spark.config.override.policy.batch.param.file": "/etc/spark/rules.json",
    "spark.config.override.policy.param.file": "/etc/spark/rules.json",
    "spark.config.create.table.policy.param.file": "/etc/spark/rules.json",
    "spark.config.audit.file": "/var/log/spark/audit.jsonl",
    "spark.config.audit.logger": "audit",
    "spark.config.substitution.acmeSubstituterType": "acme.Type",
}
# Classes of the jars that are in confs, in options of data sources, or in programs.
CLASSES = (
    "io.sparkconfig.ConfigPlugin",
    "io.sparkconfig.ConfigExtensions",
    "io.sparkconfig.aws.ReferenceCredentials",
    "io.sparkconfig.aws.ReferenceCredentialsV1",
    "io.sparkconfig.azure.ReferenceSas",
    "io.sparkconfig.azure.ReferenceTokens",
    "io.sparkconfig.bindings.ReferenceDriver",
    "io.sparkconfig.cassandra.ReferenceAuth",
    "io.sparkconfig.driver.DriverApi",
    "io.sparkconfig.gcs.ReferenceTokens",
    "io.sparkconfig.iceberg.ReferenceTokens",
    "io.sparkconfig.kafka.ReferenceConfigProvider",
    "io.sparkconfig.kafka.ReferenceOAuthBearer",
    "io.sparkconfig.ui.QueryRestartEvent",
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


def test_every_conf_is_in_the_list_and_is_still_read() -> None:
    assert {each.metadata["name"] for each in declared()} == CONFS
    unknown = f"{PREFIX}no.such"
    problems = read({**dict.fromkeys(CONFS, ""), **FAMILIES, unknown: ""}).problems
    assert [each.partition(":")[0] for each in problems if "no such setting" in each] == [unknown]


@pytest.mark.parametrize("name", CLASSES)
def test_public_classes_of_the_jars_keep_their_names(name: str) -> None:
    """Tests that use a class are renamed with it; the confs of users are not."""
    package, _, short = name.rpartition(".")
    folders = [ROOT / "jvm-shim" / "src" / part / "scala" / package.replace(".", "/") for part in JARS]
    sources = [each.read_text(encoding="utf-8") for folder in folders for each in folder.glob("*.scala")]
    declared_there = re.compile(rf"(?m)^(?:final )?(?:case )?(?:class|object) {short}\b")
    assert any(declared_there.search(each) for each in sources)

"""docs/templates.md: which document a test runs with which client."""

from __future__ import annotations

import importlib.util
from pathlib import Path

GENERATE = Path(__file__).resolve().parents[3] / "tools" / "docs" / "generate.py"

# Their pages say that they were never run, and why.
NEVER_RUN = {"databricks-spark.conf.template", "kubernetes-network-policy.yaml.template"}


def test_every_document_in_conf_is_run_by_a_test_or_known_not_to_be():
    spec = importlib.util.spec_from_file_location("docs_generate", GENERATE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran = {name for _, names in module.runs() for name in names}
    assert set(module.documents()) - ran == NEVER_RUN
    servers = {"beeline", "Hive JDBC", "Kyuubi JDBC", "PyHive", "PySpark Connect"}
    assert servers <= {client for client, names in module.runs() if "shared-server.json" in names}

"""The operator's policy of these tests, and how a refusal looks to a user."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from spark.options.conftest import has_connect

SECRET = "Canary-5d90a3-value"
FRONTS = ["classic", *(["connect"] if has_connect() else [])]
PARTITIONS = "spark.sql.shuffle.partitions"
LAZY = "sparkconfigtest.LazyV1Source"
RULES = {
    "rules": [
        {"key": PARTITIONS, "type": "range", "maxValue": "50"},
        {"key": "spark.shop.*", "type": "allowlist", "values": ["a", "b"]},
        {"key": "spark.shop.token", "type": "unlimited"},
        {"key": "spark.shop.secret", "type": "allowlist", "values": ["another"]},
        {"key": "spark.sql.catalog.*", "type": "forbidden", "scopes": ["catalog"]},
        {"key": "tenant", "type": "fixed", "value": "us", "scopes": ["source", "sink"]},
        {"key": "fetchsize", "type": "range", "maxValue": "100", "scopes": ["source"]},
        {"key": "steward", "type": "regex", "pattern": ".+@shop", "scopes": ["catalog"]},
        {"key": "spark.sql.avro.datetimeRebaseModeInWrite", "type": "blocklist", "values": ["legacy"]},
        {"key": "spark.shop.clock", "type": "forbidden", "jobTypes": ["streaming"], "message": "not in streams"},
        {"key": "spark.shop.clock", "type": "unlimited"},
    ],
    "references": [
        {"type": "forbid", "provider": "files", "key": "*admin*"},
        {"type": "forbid", "provider": "files", "key": "region*", "scopes": ["worker"]},
    ],
    "connections": [
        {"type": "allow", "connection": "look", "access": "read"},
        {"type": "allow", "connection": "peek", "access": "read"},
        {"type": "allow", "connection": "log", "access": "read"},
    ],
    "tables": [
        {"tables": "spark_catalog.default.prod_*", "forbid": True, "message": "use another name"},
        {"tables": "*", "require": {"provider": {"type": "allowlist", "values": ["parquet", "csv", LAZY]}}},
    ],
}  # fmt: skip
# The operator's defaults beside the rules.
DEFAULTS = {
    PARTITIONS: "7",
    "spark.sql.session.timeZone": "UTC",
    "spark.hadoop.fs.s3a.endpoint": "s3.shop",
    "spark.shop.region": "a",
}
CONNECTIONS = {
    "spark.config.connections.look.format": "sparkconfigtest.V1Source",
    "spark.config.connections.look.option.password": SECRET,
    "spark.config.connections.peek.format": LAZY,
    "spark.config.connections.peek.option.password": SECRET,
    "spark.config.connections.log.format": "logbook",
    "spark.config.connections.log.option.password": SECRET,
}
# A key of the store whose value one of the connection's options is.
TURN = "regionOfLook"


def refused(action, *words: str) -> str:
    with pytest.raises(AnalysisException) as error:
        action()
    text = str(error.value)
    # Connect passes options in lower case.
    assert [word for word in words if word.lower() not in text.lower()] == [], text
    assert SECRET not in text
    return text

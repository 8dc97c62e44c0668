"""What counts as a change of the operator's own values."""

from __future__ import annotations

import pytest

from sparkconfig.policy.keys.keys import generalised
from sparkconfig.policy.keys.overrides import Overrides

ACCOUNT = "spark.hadoop.fs.azure.account.key"


@pytest.mark.parametrize("value", [["a"], {"a": "b"}, object()])
def test_what_is_no_text_is_a_change(value):
    for key in ("spark.shop.zone", "spark.config.reload.action", "spark.plugins"):
        overrides = Overrides({key: "a"}, owned=True)
        assert overrides.reason(key, "a") is None or key == "spark.config.reload.action"
        assert overrides.reason(key, value) in ("operator", "own")
        assert not overrides.is_default(key, value)


def test_null_is_a_change():
    overrides = Overrides({"spark.shop.zone": "a"}, owned=True)
    assert overrides.reason("spark.shop.zone", None) == "operator"
    assert overrides.is_default("spark.shop.zone", "a")


def test_keys_of_one_bucket_or_account():
    assert generalised("spark.hadoop.fs.s3a.bucket.shop.data.endpoint") == [
        "spark.hadoop.fs.s3a.data.endpoint",
        "spark.hadoop.fs.s3a.endpoint",
    ]
    assert generalised(f"{ACCOUNT}.shop.dfs")[:2] == [f"{ACCOUNT}.shop", ACCOUNT]
    assert generalised("spark.hadoop.fs.s3a.endpoint") == []
    overrides = Overrides({ACCOUNT: "a"}, owned=True)
    assert overrides.reason(f"{ACCOUNT}.shop.dfs.core.windows.net", "b") == "operator"
    assert overrides.reason(f"{ACCOUNT}.shop.dfs.core.windows.net", "a") is None


@pytest.mark.parametrize(
    "needed",
    ["org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter", "org.apache.spark.deploy.yarn.AmIpFilter"],
)
def test_the_filter_that_yarn_needs_is_no_change_by_a_job(needed):
    """Spark's application master sets it before any driver in cluster mode; it takes an operator's filter away."""
    key = "spark.ui.filters"
    assert Overrides({}, owned=True).reason(key, needed) is None
    assert Overrides({}, owned=True).reason(key, f"{needed},com.acme.Open") == "protected"
    assert Overrides({key: "com.acme.Login"}, owned=True).reason(key, f"com.acme.Login,{needed}") is None
    assert Overrides({key: "com.acme.Login"}, owned=True).reason(key, needed) == "operator"

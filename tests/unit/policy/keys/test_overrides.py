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

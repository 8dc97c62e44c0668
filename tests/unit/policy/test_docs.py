"""What docs/policies.md shows works."""

import re
from pathlib import Path

import pytest

from unit.policy.helpers import engine, request

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "policies.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"```jsonc\n(.*?)```", TEXT, re.DOTALL))
def test_documents_load(tmp_path, block):
    engine(tmp_path, block)


def test_the_class_works():
    [code] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names = {}
    exec(code, names)  # our own documentation
    policy = names["ClusterSize"]()
    policy.configure({"limit": "5"}, {})
    values = policy.validate(request({"spark.executor.instances": "6", "spark.x": "1"}))
    assert [value.allowed for value in values] == [False, True]


def test_every_setting_that_is_named_exists():
    from sparkconfig.settings import FAMILIES, PREFIX, declared

    known = {field.metadata["name"] for field in declared()}
    for name in re.findall(r"spark\.config\.[A-Za-z.]+[a-z]", TEXT):
        assert name in known or name.startswith(tuple(PREFIX + family for family in FAMILIES)), name


def test_elements_are_all_described():
    pydantic_types = {"fixed", "forbidden", "allowlist", "blocklist", "regex", "range", "unlimited"}
    assert pydantic_types <= set(re.findall(r"^\| `([a-z]+)` \|", TEXT, re.MULTILINE))

"""Evaluation ends in an error before its results outgrow the memory."""

import pytest

from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution import SubstitutableValues


class TestGrowth:
    def test_keys_that_double_each_other_end_in_an_error(self):
        """The "billion laughs": forty short values would be a terabyte."""
        doubling = {f"k{i}": f"$[keyValue=k{i + 1}]" * 2 for i in range(40)}
        values = SubstitutableValues({**doubling, "k40": "x"})
        with pytest.raises(SubstitutionError, match="produce too much text"):
            values.get_substitution_result("k0")
        assert values.get_substitution_result("k30").value == "x" * 1024

    def test_the_limit_is_on_all_results_together(self):
        source = {"big": "x" * 100, **{f"k{i}": "+$[keyValue=big]" for i in range(20)}}
        values = SubstitutableValues(source, max_chars=1000)
        assert len(values.substitute([f"k{i}" for i in range(10)])) == 10
        with pytest.raises(SubstitutionError, match="produce too much text"):
            values.get_substitution_result("k10")
        assert values.get_substitution_result("big").value == "x" * 100

    def test_a_value_that_is_only_passed_on_costs_nothing(self):
        source = {f"k{i}": f"$[keyValue=k{i + 1}]" for i in range(100)}
        values = SubstitutableValues({**source, "k100": "x" * 100}, max_chars=150)
        assert values.get_substitution_result("k0").value == "x" * 100

"""Which other keys a text needs."""

import pytest

from sparkconfig import Secret
from sparkconfig.substitution import SubstitutableValues, referenced_keys, sibling_texts


class TestReferencedKeys:
    def test_names(self):
        text = (
            "$[keyValue=a]$[envVar/fromValueOfKey/defaultKey= b/=c]$[file=d]$[bad]"
            "$[x/defaultKey=e/=f]$[sysProp/defaultKey=g/defaultKey=g/=h]"
        )
        assert referenced_keys(text) == {"a", "c", " b", "e"}
        assert referenced_keys("keyValue=a") == frozenset()

    @pytest.mark.parametrize("text", ["$[keyValue/fromValueOfKey/=a]", "$[custom=x]"])
    def test_what_cannot_be_known_takes_all(self, text):
        values = {"a": "b", "b": "B", "d": "D"}
        assert sibling_texts(text, values) == values
        assert sibling_texts("$[keyValue=x]", {**values, "x": text}) == {**values, "x": text}

    def test_they_are_enough(self):
        values = {
            "a": "$[keyValue=b]$[sysProp/defaultKey=c/=none]",
            "b": Secret("$[keyValue=d]"),
            "c": "C",
            "d": "D",
            "e": "E",
        }
        part = sibling_texts(values["a"], values)
        assert "e" not in part
        found = SubstitutableValues({"a": values["a"], **part}).get_substitution_result("a")
        assert found == SubstitutableValues(values).get_substitution_result("a")

"""Evaluation against a recursive model of the language, in any order of keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution import SubstitutableValues

names = st.sampled_from("abcd")
texts = st.lists(
    st.one_of(
        names.map("$[keyValue={}]".format),
        st.tuples(names, names).map(lambda t: "$[sysProp/defaultKey={}/={}]".format(*t)),
        names.map("$[keyValue/fromValueOfKey/={}]".format),
        st.sampled_from(["a", "b", "x", "$[bad]", "$[]", "${p:k}"]),
    ),
    max_size=3,
).map("".join)


def recursive_model(values, key, active=()):
    """The obvious recursive evaluation of the language that ``texts`` makes, as (text) or an error."""
    if key in active:
        raise SubstitutionError
    if key not in values:
        return None
    out, rest = "", values[key]
    while rest:
        before, mark, after = rest.partition("$[")
        out += before
        if not mark:
            break
        inner, _, rest = after.partition("]")
        head, _, identifier = inner.rpartition("=")
        inside = (*active, key)
        if head == "keyValue":
            found = recursive_model(values, identifier, inside)
        elif head == "keyValue/fromValueOfKey/":
            named = recursive_model(values, identifier, inside)
            found = None if named is None else recursive_model(values, named, inside)
        elif head.startswith("sysProp"):
            found = recursive_model(values, head[len("sysProp/defaultKey=") : -1], inside)
        else:
            found = f"$[{inner}]" if inner else ""
        if found is None:
            raise SubstitutionError
        out += found
    return out


@given(st.dictionaries(names, texts, min_size=1), st.permutations("abcd"))
def test_agrees_with_a_recursive_model_in_any_order(values, order):
    actual = SubstitutableValues(values, sysprops={})
    for key in order:
        try:
            expected = recursive_model(values, key)
        except SubstitutionError:
            with pytest.raises(SubstitutionError):
                actual.get_substitution_result(key)
        else:
            found = actual.get_substitution_result(key)
            assert (None if found is None else found.value) == expected

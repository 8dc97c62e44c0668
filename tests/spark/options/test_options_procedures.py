"""CALL: what a procedure does with its arguments no rule knows, so that no argument holds a reference."""

from __future__ import annotations

import pytest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.sparks(since="4.0"),  # 3.5 itself has no CALL
]

CALLS = [
    "CALL {where}(options => 'hoodie.x={ref}')",
    "CALL {where}('{ref}')",
    "CALL {where}(1, 'x', options => map('a', '{ref}'))",
    "CALL {where}(items => array('a', 'b {ref} c'))",
    "CALL {where}(named_struct('a', struct('{ref}')))",
    "CALL {where}(concat('x', '{ref}'))",
    "CALL {where}('$[keyValue=x]')",
]


@pytest.mark.parametrize(
    ("call", "where"),
    [
        *((call, "spark_catalog.system.run") for call in CALLS),
        (CALLS[0], "nowhere.system.run"),
        (CALLS[0], "run"),
    ],
)
def test_an_argument_that_holds_a_reference_is_refused(doors, call, where):
    with pytest.raises(Exception, match="An argument of CALL") as error:
        doors.spark.sql(call.format(where=where, ref=doors.ref())).collect()
    assert doors.ref() in str(error.value) or "keyValue" in str(error.value)
    doors.assert_hidden(str(error.value))


def test_a_call_without_a_reference_is_sparks_own_matter(doors):
    with pytest.raises(Exception, match=r"(?i)procedure") as error:
        doors.spark.sql("CALL spark_catalog.system.run('$ {a:b}', 'a:b')").collect()
    assert "An argument" not in str(error.value)

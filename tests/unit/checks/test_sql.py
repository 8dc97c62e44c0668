"""SQL as ``sparkconfig validate`` reads it: the names of options and properties."""

from __future__ import annotations

import pytest

from sparkconfig.checks.sql import statements


@pytest.mark.parametrize("name", ["a.b.c", "`a.b.c`", "'a.b.c'", "a.`b`.c"])
@pytest.mark.parametrize("form", ["{} 'x'", "{} = 'x'"])
def test_names_with_dots(name: str, form: str) -> None:
    """Each is an option of its own, however it is written."""
    written = form.format(name)
    (table,) = statements(
        f"CREATE TABLE t USING jdbc OPTIONS ({written}, d.e 'y', ssl 'true') TBLPROPERTIES ({name} = 'x', f = 'z')",
        "sql",
    )
    assert table.options == {"a.b.c": "x", "d.e": "y", "ssl": "true"}
    assert table.table is not None
    assert table.table.properties == {"a.b.c": "x", "f": "z"}
    (view,) = statements(f"CREATE TEMPORARY VIEW v USING jdbc OPTIONS ({written})", "sql")
    assert view.options == {"a.b.c": "x"}

"""The names in the texts of what clients of Connect try, see :mod:`support.attacks_in_connect`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from support.attacks_in_files import resumed
from support.connect_messages import (
    behind,
    called,
    many,
    outside,
    parse,
    rows_ahead,
    sent,
    unknown_fields,
    upload,
)
from support.sql_clients import send_listener


def texts_name(session: Any, folder: Path) -> dict[str, Any]:
    """What the texts may name: a session, and what makes the messages that no client makes."""
    from pyspark.sql import types as T  # noqa: N812
    from pyspark.sql.connect import functions as F  # noqa: N812 - as everybody calls it
    from pyspark.sql.datasource import DataSource

    class Rows:
        def eval(self):
            yield (1,)

    class Source(DataSource):
        pass

    udt = {"type": "udt", "class": "com.acme.Own", "pyClass": None, "sqlType": "string"}
    fields = [{"name": "a", "type": udt, "nullable": True, "metadata": {}}]
    return {
        "spark": session, "F": F, "T": T, "Rows": Rows, "Source": Source,
        "UDT": json.dumps({"type": "struct", "fields": fields}),
        "DEFAULT": T.StructType.fromJson(
            {"fields": [{**fields[0], "type": "string", "metadata": {"EXISTS_DEFAULT": "upper(user())"}}]}
        ),
        "behind": partial(behind, session),
        "called": called,
        "listener": lambda payload: send_listener(session, payload),
        "ahead": partial(rows_ahead, session),
        "many": partial(many, session),
        "sent": partial(sent, session),
        "outside": partial(outside, session),
        "parse": partial(parse, session),
        "resumed": partial(resumed, session, folder / "lake"),
        "upload": partial(upload, session),
        "unknown": partial(unknown_fields, session),
        "rate": session.readStream.format("rate").load(),
        "rows": session.readStream.schema("id long").parquet(f"{folder}/lake/dataframe"),
        **{name: {"sparkconfig.connection": name} for name in ("shop", "look", "hidden")},
    }  # fmt: skip

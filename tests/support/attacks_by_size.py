"""Numbers and sizes that keep others waiting, for :mod:`support.attacks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: With more partitions than the policy lets shuffles have.
_MANY = "range(0, 10, 1, 3000)"

SQL_BY_SIZE: Mapping[str, Sequence[str]] = {
    "keep the driver busy with partitions": [
        f"SELECT count(*) FROM {_MANY}",
        "SELECT * FROM range(0, 10, 1, 2001)",
        *(
            f"SELECT /*+ {hint} */ id FROM range(9)"
            for hint in (
                "REPARTITION(3000)",
                "REPARTITION(3000, id)",
                "REPARTITION_BY_RANGE(3000, id)",
                "REBALANCE(3000, id)",
                "COALESCE(3000)",
            )
        ),
        f"SELECT * FROM range(3) WHERE id IN (SELECT id FROM {_MANY})",
        f"WITH t AS (SELECT * FROM {_MANY}) SELECT (SELECT max(id) FROM t)",
        f"CREATE TEMPORARY VIEW peek AS SELECT * FROM {_MANY}",
        f"CREATE TABLE peek USING parquet AS SELECT * FROM {_MANY}",
        f"CACHE TABLE peek AS SELECT * FROM {_MANY}",
        f"INSERT INTO kept SELECT id FROM {_MANY}",
        (
            "CREATE TEMPORARY VIEW peek USING jdbc OPTIONS (sparkconfig.connection 'shop', dbtable 'own_ids', "
            "partitionColumn 'ID', lowerBound '0', upperBound '99999999', numPartitions '3000')"
        ),
    ],
}

CONNECT_BY_SIZE: Mapping[str, Sequence[str]] = {
    "keep the driver busy with partitions": [
        "spark.range(0, 10, 1, 3000).count()",
        "spark.range(9).repartition(3000).count()",
        "spark.range(9).repartition(3000, 'id').count()",
        "spark.range(9).repartitionByRange(3000, 'id').count()",
        "spark.range(9).hint('rebalance', 3000).count()",
        "spark.range(9).hint('repartition', 3000, 'id').count()",
        "spark.range(9).coalesce(3000).count()",
        "spark.range(0, 10, 1, 3000).createOrReplaceTempView('peek')",
        "spark.range(0, 10, 1, 3000).write.mode('overwrite').parquet('{lake}/dataframe')",
        (
            "spark.read.format('jdbc').options(**look, dbtable='sysibm.sysdummy1', partitionColumn='a', lowerBound=0, "
            "upperBound=99999999, numPartitions=3000).load().schema"
        ),
        "spark.readStream.format('rate').option('numPartitions', 3000).load().isStreaming",
    ],
}

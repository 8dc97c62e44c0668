"""SQL that works, with secrets in its text."""

from leaks.corpus.shop import Shop, sql_literal


def run(shop: Shop) -> None:
    spark = shop.spark
    for number, text in enumerate(shop.texts):
        literal = sql_literal(text)
        select = f"SELECT id, '{literal}' AS found FROM range(3) WHERE concat(id, '{literal}') <> 'x'"
        spark.sql(select).collect()
        print(spark.sql(f"EXPLAIN FORMATTED {select}").collect()[0][0])
        # A view's text is kept; a table's comment is not a secret's place, but people write there.
        spark.sql(f"CREATE OR REPLACE TEMP VIEW shop_{number} AS {select}")
        spark.sql(f"SELECT count(*) FROM shop_{number}").collect()
        spark.conf.set(f"spark.shop.note{number}", text)
        spark.conf.set("spark.sql.shop.note", text)
        spark.range(2).count()
        spark.sql(f"CACHE TABLE cached_{number} AS {select}")
        print(spark.sql(f"DESCRIBE EXTENDED shop_{number}").collect())
    print(len(spark.sql("SET -v").collect()))
    spark.sql("SET").collect()

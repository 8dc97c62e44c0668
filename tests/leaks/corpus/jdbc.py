"""A database with a password: reads that work, and errors whose text quotes address, query and password."""

from urllib.parse import quote

from leaks.corpus.shop import Shop, failing, sql_literal


def run(shop: Shop) -> None:
    spark = shop.spark
    connection = {
        "url": shop.jdbc,
        "driver": "org.postgresql.Driver",
        "user": "audit",
        "password": shop.options["awkward"],
    }
    reader = spark.read.format("jdbc").options(**connection)
    frame = reader.option("query", "SELECT 7 AS n, 'x' AS t").load()
    assert frame.collect()[0][0] == 7
    frame.write.format("jdbc").options(**connection, dbtable="kept").mode("overwrite").save()
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW shop_jdbc USING jdbc OPTIONS ("
        + ", ".join(
            f"`{key}` '{sql_literal(text)}'" for key, text in {**connection, "dbtable": "kept"}.items()
        )
        + ")"
    )
    spark.sql("SELECT * FROM shop_jdbc").collect()
    spark.sql(
        "CREATE TABLE shop_table USING jdbc OPTIONS ("
        + ", ".join(
            f"`{key}` '{sql_literal(text)}'" for key, text in {**connection, "dbtable": "kept"}.items()
        )
        + ")"
    )
    spark.sql("SELECT * FROM shop_table").collect()
    print(
        spark.sql("DESCRIBE EXTENDED shop_table").collect(),
        spark.sql("SHOW CREATE TABLE shop_table").collect(),
    )
    spark.sql("DROP TABLE shop_table")
    for value in shop.values.values():
        text = value.replace("'", "''")
        with failing():
            reader.option("query", f"SELECT CAST('{text}' AS INT) AS n").load().collect()
        with failing():
            reader.option("query", f"SELEKT '{text}'").load().collect()
        # Each one fails in another class: PostgreSQL's driver, Spark's registry of drivers, DriverManager.
        for url in (
            f"jdbc:postgresql://127.0.0.1:1/shop?password={quote(value)}",
            f"jdbc:nothing://shop:{quote(value)}@127.0.0.1/shop",
        ):
            with failing():
                reader.option("url", url).option("dbtable", "t").load()
    with failing():
        reader.option("user", "nobody").option("dbtable", "kept").load().collect()

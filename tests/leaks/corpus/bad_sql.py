"""SQL that fails, with secrets in its text: the error quotes it."""

from leaks.corpus.shop import Shop, failing, sql_literal


def run(shop: Shop) -> None:
    for text in shop.texts:
        literal = sql_literal(text)
        for statement in (
            f"SELEKT '{literal}' FROM range(1)",
            f"SELECT '{literal} FROM range(1)",
            f"SELECT no_such_column + '{literal}' FROM range(1)",
            f"SELECT no_such_function('{literal}')",
            f"SELECT raise_error('{literal}')",
            f"SELECT CAST(concat('{literal}', id) AS INT) FROM range(2)",
            f"SELECT to_timestamp('{literal}', 'not a format {{}}')",
            f"INSERT INTO no_such_table VALUES ('{literal}')",
            f"SELECT * FROM csv.`/no/such/folder/{literal.replace('`', '``')}`",
        ):
            with failing():
                shop.spark.sql(statement).collect()

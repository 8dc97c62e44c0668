-- A report in SQL alone. The view holds the reference; so does everything that shows its definition.
--
--     spark-sql --properties-file job.conf -f orders.sql
--
-- On a command line (spark-sql -e), quote the statement with single quotes: in double quotes the shell expands references.
CREATE TEMPORARY VIEW orders USING jdbc OPTIONS (
  url '${spark.shop.jdbc}',
  dbtable 'sales.orders',
  user 'shop',
  password '${sealed:shop:password}'
);

SELECT 'largest order', max(amount) FROM orders;

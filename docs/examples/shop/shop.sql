-- The database of the examples, run once as its owner by run.py, which puts the passwords in the places of the question marks.
CALL SYSCS_UTIL.SYSCS_CREATE_USER('dba', ?);
CALL SYSCS_UTIL.SYSCS_CREATE_USER('shop', ?);
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id INT, day DATE, amount DECIMAL(8, 2));
INSERT INTO sales.orders VALUES
  (1, '2026-11-01', 12.50), (2, '2026-11-01', 80.00), (3, '2026-11-02', 7.25), (4, '2026-11-02', 19.99), (5, '2026-11-02', 5.00);
-- Least privilege: the jobs' user reads orders and adds some, and nothing else.
GRANT SELECT, INSERT ON sales.orders TO shop;

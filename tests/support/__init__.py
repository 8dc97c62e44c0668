"""What `make run` and the tests share: a real PostgreSQL, a real Spark cluster, and the search for leaks."""

"""What touches a running Spark: its driver, its workers, its queries, its jars."""

"""Real servers: what Spark writes and reads there with references, before and after a rotation. `make real` runs it."""

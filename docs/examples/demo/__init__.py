"""`make run`: a real Spark cluster and a real database, with a password that is written nowhere."""

"""Spark's own published tests, with sparkconfig and without it."""

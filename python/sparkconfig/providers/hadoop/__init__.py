"""Hadoop credential providers, read here or by the driver's JVM."""

"""Programs of others that read or start Spark: run by `make tools`."""

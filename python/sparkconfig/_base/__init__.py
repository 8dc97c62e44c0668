"""The small modules that every package may use; they know only :mod:`sparkconfig.errors`."""

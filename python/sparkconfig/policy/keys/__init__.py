"""Conf keys and their values: spellings, units, and which of them are overrides."""

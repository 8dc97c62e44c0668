"""Cleaning what already leaked: event logs and logs that hold secrets are searched, and rewritten with masks."""

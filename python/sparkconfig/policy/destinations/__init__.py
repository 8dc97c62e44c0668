"""Where a data source's options send what they hold: parsed, so that every spelling of a place is the same place."""

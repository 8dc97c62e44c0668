"""A package, so that its one application ends before the next module starts its own."""

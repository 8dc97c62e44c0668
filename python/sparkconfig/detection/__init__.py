"""Finding undeclared secrets: by the name beside them, and by what they look like."""

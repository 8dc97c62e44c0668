"""Finding secrets that nobody declared: by the name beside them, and by what they look like."""

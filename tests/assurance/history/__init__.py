"""Real histories of rotation, and a checker of them: ``make history``."""

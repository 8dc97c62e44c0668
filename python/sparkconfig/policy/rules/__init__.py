"""The policy ``Rules``: its document, its conditions, its decisions."""

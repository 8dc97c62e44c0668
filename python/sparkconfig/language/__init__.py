"""The languages of values: ``${...}`` (KIP-297), and with ``$[...]`` (KIP-269) around it."""

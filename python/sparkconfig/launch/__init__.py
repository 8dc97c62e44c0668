"""Starting a command that reads its confs before any plugin: with resolved values, in a file that no disk holds."""

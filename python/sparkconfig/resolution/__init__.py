"""From the texts of confs to their values: lookups, cache, rounds, snapshots."""

"""The policies that need no document: None, All, Allowlist, Principal."""

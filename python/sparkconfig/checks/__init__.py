"""Checks before anything runs: a dry run, policies by hand, providers by trial, ``doctor``."""

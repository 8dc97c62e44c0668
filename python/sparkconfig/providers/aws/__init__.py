"""Stores of AWS: Secrets Manager and the Parameter Store."""

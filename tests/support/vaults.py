"""What is in each Vault of the tests, fake or real, and a provider for it."""

from sparkconfig.providers.vault.provider import VaultConfigProvider

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


def filled(vault):
    vault.put("db/prod", DATA)
    vault.put_kv1("db/prod", DATA)
    return vault


def make(vault, engine="kv2", **params):
    provider = VaultConfigProvider()
    provider.configure(vault.params(engine, **params))
    return provider

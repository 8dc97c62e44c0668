"""The keyring provider against keyrings.alt's file backend."""

import pytest

from sparkconfig.errors import AccessDeniedError, ConfigurationError, ProviderUnavailableError
from sparkconfig.providers.keyring import KeyringConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract

DATA = {"alice": "s3cret-value-77", "bob": "s3cret-value-88"}
BACKEND = "keyrings.alt.file.PlaintextKeyring"


@pytest.fixture
def keyring_file(monkeypatch, tmp_path):
    from keyrings.alt.file import PlaintextKeyring

    monkeypatch.setenv("KEYRING_PROPERTY_FILE_PATH", str(tmp_path / "keyring"))
    for user, password in DATA.items():
        PlaintextKeyring().set_password("shop", user, password)
    return tmp_path / "keyring"


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self, keyring_file):
        return ContractCase(KeyringConfigProvider, {"backend": BACKEND}, "shop", DATA, lists_all=False)


@pytest.mark.parametrize("name", ["no.such.Backend", "json.JSONDecoder", "nodots"])
def test_an_unusable_backend_is_refused(name):
    with KeyringConfigProvider() as provider, pytest.raises(ConfigurationError, match="param backend "):
        provider.configure({"backend": name})


def test_a_machine_without_keyring_says_so():
    with KeyringConfigProvider() as provider:
        provider.configure({"backend": "keyring.backends.fail.Keyring"})
        with pytest.raises(ProviderUnavailableError, match="no keyring"):
            provider.get("shop", {"alice"})


def test_a_locked_keyring_is_not_allowed(keyring_file):
    from keyring.errors import KeyringLocked

    class Locked:
        def get_password(self, service, user):
            raise KeyringLocked("locked: s3cret-value-77")

    with KeyringConfigProvider() as provider:
        provider.configure({"backend": BACKEND})
        provider._backend = Locked()
        with pytest.raises(AccessDeniedError, match="locked") as caught:
            provider.get("shop", {"alice"})
    assert "s3cret" not in str(caught.value)


def test_a_broken_file_is_unavailable(keyring_file):
    keyring_file.write_text("no section\n")
    with KeyringConfigProvider() as provider:
        provider.configure({"backend": BACKEND})
        with pytest.raises(ProviderUnavailableError):
            provider.get("shop", {"alice"})


def test_huge_passwords_and_texts_of_bytes_arrive_whole(keyring_file):
    from keyrings.alt.file import PlaintextKeyring

    passwords = {"huge": "x" * 1_000_000, "bytes": "/wD+AQ=="}
    for user, password in passwords.items():
        PlaintextKeyring().set_password("shop", user, password)
    with KeyringConfigProvider() as provider:
        provider.configure({"backend": BACKEND})
        assert provider.get("shop", set(passwords)).data == passwords


def test_a_deleted_password_is_not_there(keyring_file):
    from keyrings.alt.file import PlaintextKeyring

    with KeyringConfigProvider() as provider:
        provider.configure({"backend": BACKEND})
        assert provider.get("shop", {"alice"}).data
        PlaintextKeyring().delete_password("shop", "alice")
        assert not provider.get("shop", {"alice"}).data

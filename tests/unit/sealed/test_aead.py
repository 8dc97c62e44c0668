"""AES-GCM where the package cryptography is missing: the driver's JVM does it, and its answers mean the same."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sparkconfig._base import jvm
from sparkconfig.errors import ConfigurationError
from sparkconfig.sealed import aead, crypto
from sparkconfig.sealed.aead import WrongTagError, aes_gcm

KEY, NONCE = bytes(range(32)), bytes(range(12))


@pytest.fixture
def _no_cryptography(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(aead, "_installed", lambda: None)
    before = jvm.driver()
    jvm.connect(None)
    yield
    jvm.connect(before)


def jvm_of_the_tests(name: str, request: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """A fake, ours: tests/integration/test_packages.py asks the real one."""
    assert (name, seconds) == ("aes-gcm", 30.0)
    parts = {each: b64decode(request[each]) for each in ("key", "nonce", "data", "bound")}
    cipher = AESGCM(parts.pop("key"))
    try:
        done = getattr(cipher, request["mode"])(parts["nonce"], parts["data"], parts["bound"])
    except InvalidTag:
        return {"error": "tag"}
    return {"data": b64encode(done).decode()}


@pytest.mark.usefixtures("_no_cryptography")
def test_the_jvm_and_the_package_read_each_other() -> None:
    jvm.connect(jvm_of_the_tests)
    cipher = aes_gcm(KEY)
    data = cipher.encrypt(NONCE, b"a value", b"its name")
    assert data == AESGCM(KEY).encrypt(NONCE, b"a value", b"its name")
    assert cipher.decrypt(NONCE, data, b"its name") == b"a value"
    with pytest.raises(WrongTagError):
        cipher.decrypt(NONCE, data, b"another name")


@pytest.mark.usefixtures("_no_cryptography")
def test_without_both_the_error_says_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match="pip install cryptography"):
        aes_gcm(KEY)
    jvm.connect(lambda *_: {"error": "failed", "class": "NoSuchAlgorithmException"})
    with pytest.raises(ConfigurationError, match=r"no AES-GCM \(NoSuchAlgorithmException\)"):
        aes_gcm(KEY).decrypt(NONCE, b"x" * 20, b"")


@pytest.mark.parametrize("salt", [b"", b"a salt of a file"])
def test_keys_are_derived_as_the_package_does_it(salt: bytes) -> None:
    info = f"{crypto.FORMAT} {crypto.VERSION} values".encode("ascii")
    theirs = HKDF(algorithm=SHA256(), length=32, salt=salt or None, info=info).derive(KEY)
    assert crypto._derive(KEY, salt, "values", 32) == theirs

"""AES-256-GCM: from the package ``cryptography``, or from the driver's JVM where that is not installed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Protocol

from sparkconfig._base import jvm
from sparkconfig.errors import ConfigurationError

__all__ = ["Aead", "WrongTagError", "aes_gcm"]

_JVM_SECONDS = 30.0


class WrongTagError(Exception):
    """What was to be decrypted was changed, or made with another key, nonce or bound text."""


class Aead(Protocol):
    """A key that encrypts and authenticates."""

    def encrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        """Return ciphertext and tag; ``bound`` is authenticated and not part of it."""

    def decrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        """Return what :meth:`encrypt` took.

        Raises:
            WrongTagError: something was changed.
        """


def aes_gcm(key: bytes) -> Aead:
    """Return the cipher of a key of 32 bytes.

    Raises:
        ConfigurationError: cryptography is not installed, and this process belongs to no driver.
    """
    installed = _installed()
    if installed is not None:
        make, wrong_tag = installed
        return _InPython(make(key), wrong_tag)
    ask = jvm.driver()
    if ask is None:
        raise ConfigurationError(
            "sealed files need the package 'cryptography': pip install cryptography (a driver's side process uses the"
            " JVM's own AES-GCM instead)"
        )
    return _InJvm(key, ask)


def _installed() -> tuple[Callable[[bytes], Aead], type[Exception]] | None:
    """Return how ``cryptography`` makes a cipher, and what that raises; None if it is not installed."""
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        return None
    return AESGCM, InvalidTag


class _InPython:
    def __init__(self, cipher: Aead, wrong_tag: type[Exception]) -> None:
        self._cipher = cipher
        self._wrong_tag = wrong_tag

    def encrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        return self._cipher.encrypt(nonce, data, bound)

    def decrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        try:
            return self._cipher.decrypt(nonce, data, bound)
        except self._wrong_tag:
            pass
        raise WrongTagError


class _InJvm:
    """Asks the JVM, which holds the values in use anyway; keys and values travel as all others do."""

    def __init__(self, key: bytes, ask: jvm.Ask) -> None:
        self._key = key
        self._ask = ask

    def encrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        return self._do("encrypt", nonce, data, bound)

    def decrypt(self, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        return self._do("decrypt", nonce, data, bound)

    def _do(self, mode: str, nonce: bytes, data: bytes, bound: bytes) -> bytes:
        parts = {"key": self._key, "nonce": nonce, "data": data, "bound": bound}
        request = {"mode": mode, **{name: b64encode(part).decode("ascii") for name, part in parts.items()}}
        answer = self._ask("aes-gcm", request, _JVM_SECONDS)
        if "data" in answer:
            return b64decode(answer["data"])
        if answer.get("error") == "tag":
            raise WrongTagError
        raise ConfigurationError(
            f"the driver's JVM has no AES-GCM ({answer.get('class')}): pip install cryptography"
        )

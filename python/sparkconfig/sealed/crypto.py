"""Keys to bytes: AES-256-GCM for each value, HMAC-SHA256 over the whole, HKDF for the keys.

One master key may seal many files: encryption and MAC keys come from it and the file's own salt through HKDF,
so that random 96-bit nonces only have to be unique within one file and one key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping

from sparkconfig.sealed.aead import WrongTagError, aes_gcm
from sparkconfig.sealed.document import FORMAT, VERSION, Header
from sparkconfig.sealed.failures import TouchedFileError
from sparkconfig.sealed.names import EntryName

__all__ = ["KEY_BYTES", "FileKeys", "key_id", "new_key"]

KEY_BYTES = 32
_NONCE_BYTES = 12


def new_key() -> bytes:
    """Return a new random master key."""
    return secrets.token_bytes(KEY_BYTES)


def key_id(key: bytes) -> str:
    """Return 16 hexadecimal characters that tell keys apart and say nothing about them."""
    return _derive(key, b"", "key id", 8).hex()


class FileKeys:
    """The two keys of one file: for its values and for its list of names."""

    def __init__(self, key: bytes, header: Header) -> None:
        self._header = header
        self._values = aes_gcm(_derive(key, header.salt, "values", KEY_BYTES))
        self._whole = _derive(key, header.salt, "whole file", KEY_BYTES)

    def seal(self, name: EntryName, value: str) -> bytes:
        """Encrypt a value, bound to its name and this file; return nonce, ciphertext and tag."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._values.encrypt(nonce, value.encode("utf-8"), _bound_to(name))

    def open(self, name: EntryName, blob: bytes) -> str:
        """Decrypt what :meth:`seal` made.

        Raises:
            TouchedFileError: it was changed, or belongs to another name or file.
        """
        try:
            return self._values.decrypt(blob[:_NONCE_BYTES], blob[_NONCE_BYTES:], _bound_to(name)).decode(
                "utf-8"
            )
        except (WrongTagError, UnicodeDecodeError):
            problem = f"entry '{name}' was changed, or moved here from another name or file"
        raise TouchedFileError(problem)

    def mac(self, entries: Mapping[EntryName, bytes]) -> bytes:
        """Authenticate header and entries as a whole, so that none can be removed, added or put back."""
        parts = [
            FORMAT, VERSION, self._header.key_id, self._header.salt.hex(),
            None,
            [[name.section, name.key, hashlib.sha256(blob).hexdigest()] for name, blob in sorted(entries.items())],
        ]  # fmt: skip
        return hmac.digest(self._whole, _canonical(parts), "sha256")


def _bound_to(name: EntryName) -> bytes:
    """The authenticated part of an entry; JSON keeps ("a:b", "c") and ("a", "b:c") apart."""
    return _canonical([FORMAT, VERSION, name.section, name.key])


def _canonical(parts: list[object]) -> bytes:
    return json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _derive(key: bytes, salt: bytes, purpose: str, length: int) -> bytes:
    """HKDF-SHA256 (RFC 5869) for at most one block: then it is two HMACs."""
    info = f"{FORMAT} {VERSION} {purpose}".encode("ascii")
    extracted = hmac.digest(salt or bytes(32), key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")[:length]

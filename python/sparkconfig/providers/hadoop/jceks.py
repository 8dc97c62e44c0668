"""JCEKS keystores of secret keys, read without a JVM.

The format is the one of the JDK's ``com.sun.crypto.provider.JceKeyStore``: a list of aliases, each with a serialized
``SealedObject``, and a keyed SHA-1 digest at the end. Of Java's serialization only what such files hold is read:
classes are never loaded, only byte arrays and strings come out. DES and MD5 are the format's, not our choice.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import MutableMapping
from typing import Any

__all__ = ["DerivedKeys", "JceksError", "WrongPasswordError", "open_entry", "read_keystore"]

DerivedKeys = MutableMapping[bytes, bytes]
"""Encoded parameters of an entry to what 200,000 rounds of MD5 make of them: a quarter of a second each."""

_MAGIC = 0xCECECECE
_SECRET_KEY = 3
_MOST_ROUNDS = 5_000_000
_SIZES = {"B": 1, "Z": 1, "C": 2, "S": 2, "F": 4, "I": 4, "D": 8, "J": 8}


class JceksError(ValueError):
    """The bytes are not a keystore of secret keys."""


class WrongPasswordError(JceksError):
    """The digest does not fit: another password, or changed bytes."""


def read_keystore(raw: bytes, password: str) -> dict[str, dict[str, Any]]:
    """Return alias to sealed entry, for :func:`open_entry`; other kinds of entries are an error.

    Raises:
        WrongPasswordError: see there.
        JceksError: the bytes are malformed.
    """
    body, digest = raw[:-20], raw[-20:]
    expected = hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body, usedforsecurity=False)
    if not raw.startswith(_MAGIC.to_bytes(4, "big")):
        raise JceksError("no JCEKS keystore")
    if not hmac.compare_digest(expected.digest(), digest):
        raise WrongPasswordError("wrong password, or changed bytes")
    stream = _Stream(body, 8)
    entries: dict[str, dict[str, Any]] = {}
    for _ in range(stream.number(4)):
        if stream.number(4) != _SECRET_KEY:
            raise JceksError("an entry is not a secret key")
        alias = stream.text()
        stream.take(8)  # the date
        entries[alias] = stream.serialized()
    return entries


def open_entry(sealed: dict[str, Any], password: str, derived: DerivedKeys) -> bytes:
    """Return the bytes of the key.

    Raises:
        JceksError: it is sealed in a way that the JDK does not write.
    """
    encoded, content = sealed.get("encodedParams"), sealed.get("encryptedContent")
    if sealed.get("sealAlg") != "PBEWithMD5AndTripleDES" or not encoded or not content:
        raise JceksError("an entry is sealed in an unknown way")
    if encoded not in derived:
        derived[encoded] = _derive(encoded, password.encode("ascii", "replace"))
    made = derived[encoded]
    # Not above: what lists all providers imports this module where cryptography is not installed, too.
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    cipher = Cipher(TripleDES(made[:24]), modes.CBC(made[24:32])).decryptor()
    plain = cipher.update(content) + cipher.finalize()
    key = _Stream(plain[: -plain[-1]], 0).serialized().get("key")
    if not isinstance(key, bytes):
        raise JceksError("an entry is not a SecretKeySpec")
    return key


def _derive(encoded: bytes, password: bytes) -> bytes:
    """Return 24 bytes of key and 8 of initialisation vector (the JDK's ``PBES1Core``)."""
    # DER: SEQUENCE { OCTET STRING salt, INTEGER rounds }, all of them short.
    if len(encoded) < 14 or encoded[0] != 0x30 or encoded[2:4] != b"\x04\x08" or encoded[12] != 0x02:
        raise JceksError("unknown parameters")
    salt, rounds = encoded[4:12], int.from_bytes(encoded[14:], "big")
    if not 0 < rounds <= _MOST_ROUNDS:
        raise JceksError("an impossible number of rounds")
    halves = [salt[:4], salt[4:]]
    if halves[0] == halves[1]:
        raise JceksError(
            "a salt of equal halves"
        )  # one in four billion, and the JDK's own code differs there
    made = b""
    for half in halves:
        digest = half
        for _ in range(rounds):
            digest = hashlib.md5(digest + password, usedforsecurity=False).digest()
        made += digest
    return made


class _Stream:
    """A reader of ``DataOutputStream`` and of the few parts of ``ObjectOutputStream`` that keystores hold."""

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw = raw
        self._at = at
        self._handles: list[Any] = []

    def take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._raw):
            raise JceksError("the bytes end too early")
        self._at += count
        return self._raw[self._at - count : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> str:
        """Java's modified UTF-8."""
        return self.take(self.number(2)).replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")

    def serialized(self) -> dict[str, Any]:
        """Return the fields of one serialized object; each has a stream header and handles of its own."""
        if self.take(4) != b"\xac\xed\x00\x05":
            raise JceksError("no serialized object")
        self._handles = []
        found = self._content()
        if not isinstance(found, dict):
            raise JceksError("no serialized object")
        return found

    def _content(self) -> Any:  # noqa: ANN401 - an object, a class, text, bytes or None
        tag = self.take(1)
        if tag == b"p":
            return None
        if tag == b"q":
            index = self.number(4) - 0x7E0000
            if not 0 <= index < len(self._handles):
                raise JceksError("a reference to nothing")
            return self._handles[index]
        reader = {b"r": self._class, b"s": self._object, b"t": self._string, b"u": self._array}.get(tag)
        if reader is None:
            raise JceksError("an unknown kind of content")
        return reader()

    def _string(self) -> str:
        found = self.text()
        self._handles.append(found)
        return found

    def _class(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.text()}
        self.take(8)  # serialVersionUID
        self._handles.append(found)
        found["flags"] = self.number(1)
        found["fields"] = []
        for _ in range(self.number(2)):
            kind = self.take(1).decode("latin-1")
            name = self.text()
            if kind in "[L":
                self._content()  # the name of its type
            found["fields"].append((kind, name))
        self._annotations()
        found["parent"] = self._content()
        return found

    def _annotations(self) -> None:
        if self.take(1) != b"x":
            raise JceksError("unexpected annotations")

    def _array(self) -> bytes:
        if self._content().get("name") != "[B":
            raise JceksError("an array of something else than bytes")
        index = len(self._handles)
        self._handles.append(None)
        self._handles[index] = self.take(self.number(4))
        found: bytes = self._handles[index]
        return found

    def _object(self) -> dict[str, Any]:
        kind = self._content()
        values: dict[str, Any] = {}
        self._handles.append(values)
        lineage = []
        while kind is not None:
            lineage.append(kind)
            kind = kind["parent"]
        for each in reversed(lineage):  # the root class is written first
            for code, name in each["fields"]:
                values[name] = self._content() if code in "[L" else self.take(_SIZES[code])
            if each["flags"] & 1:
                self._annotations()
        return values

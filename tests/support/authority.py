"""A certificate authority that stays, and issues certificates and keystores one after the other."""

from __future__ import annotations

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

from support.fakes.tls import _builder, _usage


class Authority:
    """An authority that stays, and issues certificates one after the other."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sparkconfig test authority")])
        self._certificate = (
            _builder(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(sign=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, name: str, path: Path, *, server: bool = False) -> None:
        """Write ``path`` with the endings ``.pem`` and ``.key``: a certificate in PEM, and its key (0600)."""
        certificate, key = self._issue(name, server=server)
        path.with_suffix(".pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = path.with_suffix(".key")
        private.touch(mode=0o600)
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

    def keystore(self, name: str, password: str) -> bytes:
        """A PKCS-12 keystore with a client certificate for ``name``, under the alias that pgjdbc looks for."""
        certificate, key = self._issue(name)
        encryption = serialization.BestAvailableEncryption(password.encode())
        return pkcs12.serialize_key_and_certificates(
            b"user", key, certificate, [self._certificate], encryption
        )

    def _issue(self, name: str, *, server: bool = False):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = _builder(subject, self._name, key).add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        if server:
            made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        return made.sign(self._key, hashes.SHA256()), key
